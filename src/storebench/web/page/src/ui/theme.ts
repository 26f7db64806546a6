import { useEffect, useState } from "react";

export interface Theme {
  /** The approximate background colour: the page around a chart has its own. */
  ground: string;
  text: string;
  grid: string;
  /** The colours of distinguished names, in order. */
  colours: string[];
}

/**
 * Okabe and Ito's colours, which colour-blind people can distinguish, without black and yellow, which are hardly visible in a theme. Further
 * colours follow for studies with many stores.
 */
export const LIGHT: Theme = {
  ground: "#ffffff",
  text: "#27272a",
  grid: "#d4d4d8",
  colours: [
    ...["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#8C8C8C"],
    ...["#7B4FA3", "#8A6D1B", "#2F6F62", "#A3344E", "#3D4FA8"],
  ],
};
/** The same hues, light enough for a dark background. */
export const DARK: Theme = {
  ground: "#18181b",
  text: "#e4e4e7",
  grid: "#52525b",
  colours: [
    ...["#4D9FE6", "#F2B233", "#2BBF93", "#F27D3D", "#E39AC2", "#9BD4F7", "#B4B4B4"],
    ...["#B48CDB", "#CDB25C", "#7FC4B4", "#E8798F", "#8E9CF0"],
  ],
};

/** Return the colour at an index; the colours repeat if there are too few. */
export function colourOf(theme: Theme, place: number): string {
  return theme.colours[place % theme.colours.length] as string;
}

/** The shares of another colour that make the shades of a colour: lighter shades first. */
const SHADES: ["ground" | "text", number][] = [
  ["ground", 0],
  ["ground", 0.35],
  ["text", 0.35],
  ["ground", 0.55],
  ["text", 0.55],
  ["ground", 0.2],
];

/** Return the colour at an index in a shade. An index beyond the theme's colours has a shade of an earlier colour. */
export function paint(theme: Theme, place: number, shade = 0): string {
  const round = Math.floor(place / theme.colours.length);
  const [other, share] = SHADES[(shade + round) % SHADES.length] as ["ground" | "text", number];
  return share ? mixed(colourOf(theme, place), theme[other], share) : colourOf(theme, place);
}

/** Mix a colour with a share of another colour. */
function mixed(colour: string, other: string, share: number): string {
  const parts = [colour, other].map((text) => text.match(/[\da-f]{2}/gi) ?? []);
  const [channels, others] = parts.map((part) => part.map((text) => Number.parseInt(text, 16)));
  const mixture = channels?.map((part, at) => Math.round((1 - share) * part + share * (others?.[at] ?? 0)));
  return `#${mixture?.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/** Mix a colour with the background: 40 % colour, 60 % background. */
export const pale = (theme: Theme, colour: string): string => mixed(colour, theme.ground, 0.6);

function isDark(): boolean {
  const root = document.documentElement;
  if (root.classList.contains("dark") || root.dataset.theme === "dark") return true;
  if (root.classList.contains("light") || root.dataset.theme === "light") return false;
  return window.matchMedia?.("(prefers-color-scheme: dark)").matches ?? false;
}

/** Return the charts' colours for Airflow's current theme. */
export function useTheme(): Theme {
  const [dark, setDark] = useState(isDark);
  useEffect(() => {
    const look = () => setDark(isDark());
    const observer = new MutationObserver(look);
    observer.observe(document.documentElement, {
      attributes: true,
      attributeFilter: ["class", "data-theme"],
    });
    const media = window.matchMedia?.("(prefers-color-scheme: dark)");
    media?.addEventListener("change", look);
    return () => {
      observer.disconnect();
      media?.removeEventListener("change", look);
    };
  }, []);
  return dark ? DARK : LIGHT;
}

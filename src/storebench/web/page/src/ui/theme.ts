import { useEffect, useState } from "react";

export interface Theme {
  /** The approximate background colour: the page around a chart has its own. */
  ground: string;
  text: string;
  grid: string;
  /** The colours of distinguished names, in order. */
  colours: string[];
}

/** Okabe and Ito's colours, which colour-blind people can distinguish, without black and yellow, which are hardly visible in a theme. */
export const LIGHT: Theme = {
  ground: "#ffffff",
  text: "#27272a",
  grid: "#d4d4d8",
  colours: ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#8C8C8C"],
};
/** The same hues, light enough for a dark background. */
export const DARK: Theme = {
  ground: "#18181b",
  text: "#e4e4e7",
  grid: "#52525b",
  colours: ["#4D9FE6", "#F2B233", "#2BBF93", "#F27D3D", "#E39AC2", "#9BD4F7", "#B4B4B4"],
};

/** Return the colour at an index; the colours repeat if there are too few. */
export function colourOf(theme: Theme, place: number): string {
  return theme.colours[place % theme.colours.length] as string;
}

/** Mix a colour with the background: 40 % colour, 60 % background. */
export function pale(theme: Theme, colour: string): string {
  const parts = [colour, theme.ground].map((text) => text.match(/[\da-f]{2}/gi) ?? []);
  const [channels, ground] = parts.map((part) => part.map((text) => Number.parseInt(text, 16)));
  const mixed = channels?.map((part, at) => Math.round(0.4 * part + 0.6 * (ground?.[at] ?? 0)));
  return `#${mixed?.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

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

import { useEffect, useState } from "react";
import type { Theme } from "./charts";

export const LIGHT: Theme = { text: "#27272a", grid: "#d4d4d8" };
const DARK: Theme = { text: "#e4e4e7", grid: "#52525b" };

function isDark(): boolean {
  const root = document.documentElement;
  if (root.classList.contains("dark") || root.dataset.theme === "dark") return true;
  if (root.classList.contains("light") || root.dataset.theme === "light") return false;
  return window.matchMedia?.("(prefers-color-scheme: dark)").matches ?? false;
}

/** The charts' colours, as Airflow's own theme is now. */
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

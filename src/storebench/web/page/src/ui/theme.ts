import { useEffect, useState } from "react";
import { DARK, LIGHT, type Theme } from "../charts/frame";

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

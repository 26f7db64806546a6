import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

// The page in Airflow uses Airflow's React; a report, which has no Airflow, bundles its own.
const SHARED: Record<string, string> = {
  react: "React",
  "react-dom": "ReactDOM",
  "react/jsx-runtime": "ReactJSXRuntime",
  "react-router-dom": "ReactRouterDOM",
};
/** Replaces imports of the shared modules by Airflow's modules. */
const OF_AIRFLOW: Plugin = {
  name: "of-airflow",
  enforce: "pre",
  resolveId: (id) => (id in SHARED ? `\0${id}` : null),
  async load(id) {
    const shared = id.startsWith("\0") ? SHARED[id.slice(1)] : undefined;
    if (!shared) return null;
    const names = Object.keys(await import(id.slice(1))).filter((name) => /^\w+$/.test(name));
    const own = names.filter((name) => name !== "default");
    return own.map((name) => `export const ${name} = globalThis.${shared}.${name};`).join("\n");
  },
};
/** A report is one file. The page is split: its first rows need only a small script, and other chunks have a hash of their content in the name. */
const REPORT = {
  lib: {
    entry: "src/report.tsx",
    formats: ["iife" as const],
    name: "StorebenchReport",
    fileName: () => "report.js",
  },
};
const PAGE = {
  lib: { entry: "src/page.tsx", formats: ["es" as const], fileName: () => "page.js" },
  rolldownOptions: {
    treeshake: { propertyReadSideEffects: false as const },
    output: { chunkFileNames: "[name]-[hash].js", minify: true },
  },
};

export default defineConfig(({ mode, command }) => {
  const report = mode === "report";
  return {
    define: { "process.env.NODE_ENV": JSON.stringify(mode === "test" ? "test" : "production") },
    plugins: report || command !== "build" ? [] : [OF_AIRFLOW],
    build: { outDir: "static", emptyOutDir: !report, ...(report ? REPORT : PAGE) },
    test: { environment: "jsdom", setupFiles: ["tests/setup.ts"] },
  };
});

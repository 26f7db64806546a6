import { defineConfig } from "vitest/config";

// Airflow's page shares its React; a report, which has no Airflow around it, brings its own.
const SHARED = {
  react: "React",
  "react-dom": "ReactDOM",
  "react/jsx-runtime": "ReactJSXRuntime",
  "react-router-dom": "ReactRouterDOM",
};

export default defineConfig(({ mode }) => {
  const report = mode === "report";
  return {
    define: { "process.env.NODE_ENV": JSON.stringify(mode === "test" ? "test" : "production") },
    build: {
      outDir: "static",
      emptyOutDir: !report,
      lib: {
        entry: report ? "src/report.tsx" : "src/page.tsx",
        formats: ["iife"],
        name: report ? "StorebenchReport" : "StorebenchPage",
        fileName: () => (report ? "report.js" : "page.js"),
      },
      rollupOptions: report ? {} : { external: Object.keys(SHARED), output: { globals: SHARED } },
    },
    test: { environment: "jsdom", setupFiles: ["tests/setup.ts"] },
  };
});

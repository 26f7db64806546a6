import { begin } from "./api";
import { Results } from "./Results";
import { defaultRun, loadRuns, runsKey } from "./Runs";
import { loadRun, runKey } from "./RunView";
import styles from "./styles.css?inline";

const element = document.createElement("style");
element.textContent = styles;
document.head.append(element);

/** Ask for what is seen first, before Airflow shows the page. */
async function hurry(): Promise<void> {
  const asked = new URLSearchParams(location.search);
  const dag = /\/dags\/([^/]+)\//.exec(location.pathname)?.[1];
  const runs = await begin(runsKey(dag), loadRuns(dag));
  const run = asked.get("run") ?? defaultRun(runs);
  const elsewhere = (asked.get("view") ?? "run") !== "run" || location.pathname.includes("/runs/");
  if (run && !elsewhere) begin(runKey(run), loadRun(run));
}
hurry().catch(() => {}); // the page asks again, and says what is wrong

// Airflow looks for a component by the name that the plugin gives it.
Object.assign(globalThis, { Results });

import { begin } from "./api";
import { whereabouts, whereaboutsKey } from "./OfRun";
import { Results } from "./Results";
import { defaultRun, loadRuns, runsKey } from "./Runs";
import { loadRun, runKey } from "./RunView";
import styles from "./styles.css?inline";

const element = document.createElement("style");
element.textContent = styles;
document.head.append(element);

/** Ask for what is seen first, before Airflow shows the page. What does not need another answer does not wait for it. */
async function hurry(): Promise<void> {
  const asked = new URLSearchParams(location.search);
  const dag = /\/dags\/([^/]+)\//.exec(location.pathname)?.[1];
  const runs = begin(runsKey(dag), loadRuns(dag));
  if ((asked.get("view") ?? "run") !== "run" || location.pathname.includes("/runs/")) return;
  const named = asked.get("run");
  if (named) {
    const live = begin(runKey(named), loadRun(named));
    const elsewhere = () => whereabouts(named, new AbortController().signal);
    begin(
      whereaboutsKey(named),
      live.then(({ run }) => run, elsewhere),
    );
    return;
  }
  const found = await runs;
  const newest = defaultRun(found);
  const told = found.items.find(({ id }) => id === newest);
  if (newest) begin(runKey(newest), loadRun(newest, undefined, undefined, told));
}
hurry().catch(() => {}); // the page asks again, and says what is wrong

// Airflow looks for a component by the name that the plugin gives it.
Object.assign(globalThis, { Results });

import { begin } from "./api";
import { whereabouts, whereaboutsKey } from "./OfRun";
import { Results } from "./Results";
import { beginNewest, defaultRun, loadRuns, runsKey } from "./Runs";
import { loadRun, runKey } from "./RunView";
import styles from "./styles.css?inline";

const element = document.createElement("style");
element.textContent = styles;
document.head.append(element);

/** Ask for what is seen first, before Airflow shows the page: done when that is there. What does not need another answer does not wait for it; the list of runs comes last. */
async function hurry(): Promise<void> {
  const asked = new URLSearchParams(location.search);
  const dag = /\/dags\/([^/]+)\//.exec(location.pathname)?.[1];
  const list = () => loadRuns(dag);
  const named = asked.get("run");
  if ((asked.get("view") ?? "run") !== "run" || location.pathname.includes("/runs/")) {
    await begin(runsKey(dag), list());
  } else if (named) {
    const live = begin(runKey(named), loadRun(named));
    const elsewhere = () => whereabouts(named, new AbortController().signal);
    begin(
      whereaboutsKey(named),
      live.then(({ run }) => run, elsewhere),
    );
    begin(runsKey(dag), live.then(list, list));
    await live;
  } else if (dag) {
    const found = await begin(runsKey(dag), list());
    const newest = defaultRun(found);
    const told = found.items.find(({ id }) => id === newest);
    if (newest) await begin(runKey(newest), loadRun(newest, undefined, undefined, told));
  } else {
    const live = beginNewest().then((run) =>
      begin(runKey(run.id), loadRun(run.id, undefined, undefined, run)),
    );
    begin(runsKey(dag), live.then(list, list));
    await live;
  }
}

/** How long the page lets Airflow's progress bar stay for the first answers, in ms: with them it need not be drawn twice. */
const PATIENCE_MS = 300;
const patience = new Promise<void>((done) => {
  setTimeout(done, PATIENCE_MS);
});
// where an answer fails, the page asks again, and says what is wrong
await Promise.race([hurry().catch(() => {}), patience]);

// Airflow looks for a component by the name that the plugin gives it.
Object.assign(globalThis, { Results });
// React would keep Airflow's progress bar for 300 ms, though the page is there. Airflow's router, which takes this for a step back to where it
// is, draws what is there now.
dispatchEvent(new PopStateEvent("popstate", { state: history.state }));

import { begin } from "./api";
import { whereabouts, whereaboutsKey } from "./OfRun";
import { Results } from "./Results";
import { beginNewest, defaultRun, loadRuns, runsKey } from "./Runs";
import { loadRun, runKey } from "./RunView";
import styles from "./styles.css?inline";

const element = document.createElement("style");
element.textContent = styles;
document.head.append(element);

/** Ask for what is seen first, before Airflow shows the page. What does not need another answer does not wait for it; the list of runs comes last. */
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
    await begin(runsKey(dag), live.then(list, list));
  } else if (dag) {
    const found = await begin(runsKey(dag), list());
    const newest = defaultRun(found);
    const told = found.items.find(({ id }) => id === newest);
    if (newest) await begin(runKey(newest), loadRun(newest, undefined, undefined, told));
  } else {
    const live = beginNewest().then((run) =>
      begin(runKey(run.id), loadRun(run.id, undefined, undefined, run)),
    );
    await begin(runsKey(dag), live.then(list, list));
  }
}

/**
 * How long the page lets Airflow wait for the first answers, in ms. React shows nothing in the place of Airflow's progress bar before that was
 * there for 300 ms: what has come until then is there with the first picture, and does not need another one.
 */
const TOGETHER_MS = 200;
const patience = new Promise<void>((done) => {
  setTimeout(done, TOGETHER_MS);
});
// where an answer fails, the page asks again, and says what is wrong
await Promise.race([hurry().catch(() => {}), patience]);

// Airflow looks for a component by the name that the plugin gives it.
Object.assign(globalThis, { Results });

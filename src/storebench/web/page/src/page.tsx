import { begin } from "./api/loading";
import type { Runs } from "./api/types";
import { studyIn, viewIn } from "./model/navigation";
import { Results } from "./Results";
import styles from "./styles.css?inline";
import { beginOverview } from "./views/overview/load";
import { whereabouts, whereaboutsKey } from "./views/run/OfRun";
import { beginNewest, defaultRun, loadRuns, runsKey } from "./views/run/Runs";
import { loadRun, runKey } from "./views/run/RunView";

const element = document.createElement("style");
element.textContent = styles;
document.head.append(element);

/** Request the data of the first view before Airflow renders the page, and wait for it. Independent requests run in parallel; the list of runs comes last. */
async function hurry(): Promise<void> {
  const asked = new URLSearchParams(location.search);
  const path = decodeURI(location.pathname);
  const dag = /\/dags\/([^/]+)\//.exec(path)?.[1];
  const listed = dag ?? asked.get("study") ?? undefined;
  const list = () => loadRuns(listed);
  const ofRun = path.includes("/runs/");
  const named = asked.get("run");
  const view = viewIn(asked, ofRun || named !== null);
  if (view === "overview") {
    const runs = begin(runsKey(listed), list());
    const chosen = dag ?? studyIn(asked, view, { named: named ?? undefined, newest: undefined, runs: [] });
    const study = chosen ?? studyOf(await runs);
    if (study) await Promise.all([runs, beginOverview(study)]);
  } else if (view !== "run" || ofRun) {
    await begin(runsKey(listed), list());
  } else if (named) {
    const live = begin(runKey(named), loadRun(named));
    const elsewhere = () => whereabouts(named, new AbortController().signal);
    begin(
      whereaboutsKey(named),
      live.then(({ run }) => run, elsewhere),
    );
    begin(runsKey(listed), live.then(list, list));
    await live;
  } else if (listed) {
    const runs = await begin(runsKey(listed), list());
    const newest = defaultRun(runs);
    const run = runs.items.find(({ id }) => id === newest);
    if (newest) await begin(runKey(newest), loadRun(newest, undefined, undefined, run));
  } else {
    const live = beginNewest().then((run) =>
      begin(runKey(run.id), loadRun(run.id, undefined, undefined, run)),
    );
    begin(runsKey(listed), live.then(list, list));
    await live;
  }
}

/** Return the study of the run that is shown by default. */
const studyOf = (runs: Runs) => runs.items.find(({ id }) => id === defaultRun(runs))?.study;

/** The maximum time in ms that Airflow's progress bar stays while the first answers load, so that the page is not rendered twice. */
const PATIENCE_MS = 300;
const patience = new Promise<void>((resolve) => {
  setTimeout(resolve, PATIENCE_MS);
});
// if a request fails, the page repeats it, and reports the problem
await Promise.race([hurry().catch(() => {}), patience]);

// Airflow finds the component by the name in the plugin.
Object.assign(globalThis, { Results });
// React would keep Airflow's progress bar for 300 ms after the page has loaded. For Airflow's router, this event is a navigation to the
// current address: it renders the page at once.
dispatchEvent(new PopStateEvent("popstate", { state: history.state }));

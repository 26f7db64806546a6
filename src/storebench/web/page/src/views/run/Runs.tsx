import { get } from "../../api/api";
import { begin, useLoaded } from "../../api/loading";
import type { Run, Runs } from "../../api/types";
import { isOfDataset, valueText } from "../../model/cells";
import { duration, localMoment } from "../../model/format";
import { StateBadge } from "../../ui/Badge";

const MOST = 100;

export const runsKey = (dag?: string) => `runs ${dag}`;

export function loadRuns(dag?: string, signal?: AbortSignal, tag?: string): Promise<Runs> {
  return get("/api/runs", { limit: MOST, dag, tag: tag ? [tag] : undefined }, signal);
}

/** Load the newest runs, of one DAG or of all DAGs. */
export function useRuns(dag?: string) {
  return useLoaded((signal) => loadRuns(dag, signal), runsKey(dag), 15_000);
}

/** Return the run that is shown by default: the run "latest", or if all runs were refused the newest run. */
export const defaultRun = ({
  items,
  latest,
}: Pick<Runs, "items"> & { latest?: Runs["latest"] }): string | undefined => latest ?? items[0]?.id;

const NEWEST = "newest run";

/** Begin to load the run that is shown by default. */
export const beginNewest = () => begin(NEWEST, loadNewest());

const loadNewest = (signal?: AbortSignal) => get("/api/run", { run: "latest" }, signal);

/** Load the default run if it is `wanted`: it loads sooner than the list of runs. */
export function useNewest(wanted: boolean): Run | undefined {
  const load = async (signal: AbortSignal) => (wanted ? loadNewest(signal) : undefined);
  return useLoaded(load, wanted ? NEWEST : "").data;
}

/** A run as a list has it, without parameters. */
export type Listed = Omit<Run, "params">;

/** Describe a run in short: its study, its local start, its content, and its state. */
export const runName = (run: Listed): string => [...runParts(run), run.state].join(" · ");

/** Return the parts of a run's name without its state: study, start, content, and tags. */
export function runParts(run: Listed): string[] {
  const what = whatOf(run) ? `${madeAs(run)}${whatOf(run)}` : "";
  const rows = run.rows === null ? "" : `${valueText(run.rows)} rows`;
  const content = [what, rows].filter(Boolean).join("; ");
  return [run.study, localMoment(run.started_at), content, tagsText(run)].filter(Boolean);
}

/** Describe a run's tags; empty without tags. */
const tagsText = ({ tags }: Listed) => (tags.length ? `tags ${tags.join(", ")}` : "");

/** Describe the kind of a run by its name: a turn, or a cell of a backfill. */
function madeAs({ airflow_run_id }: Listed): string {
  const turn = /^turns__.*__0*([0-9]+)([AB])$/.exec(airflow_run_id);
  if (turn) return `turn ${turn[1]} of ${turn[2]}: `;
  return /^(backfill|cell)__/.test(airflow_run_id) ? "backfill: " : "";
}

/** Describe a run's stores or single cell; empty before the run is planned. */
export function whatOf(run: Listed): string {
  if (!run.cell_key) return run.stores.join(", ");
  // a key consists of the study, the cell's own parts, and the dataset
  const [, ...parts] = run.cell_key.split("/");
  const places = parts.filter((part) => !isOfDataset(part.split("=")[0] ?? ""));
  return `one cell, ${places.join(" ")}`;
}

/** Describe a run's dataset; empty if not known yet. */
function datasetOf(run: Listed): string[] {
  return run.rows === null ? [] : [`rows ${valueText(run.rows)}, seed ${run.seed}`];
}

/** Count a run's operations by outcome. The newest try of each operation counts. */
export function counts(run: Listed): string {
  return [
    `${run.verified} verified${run.disturbed ? `, of these ${run.disturbed} disturbed` : ""}`,
    ...(run.failed ? [`${run.failed} failed`] : []),
    ...(run.not_run ? [`${run.not_run} not run`] : []),
  ].join(", ");
}

/** Return the default run to compare a run with: the newest earlier run that is likely to share cells with it. */
export function earlier(runs: Run[], id: string): Run | undefined {
  const run = runs.find((listed) => listed.id === id);
  return runs.find(
    (earlier) =>
      run &&
      earlier.started_at < run.started_at &&
      earlier.verified > 0 &&
      (earlier.state === "success" || earlier.state === "failed") &&
      earlier.study === run.study &&
      earlier.rows === run.rows &&
      earlier.seed === run.seed &&
      earlier.stores.some((store) => run.stores.includes(store)),
  );
}

/** Return the number of completed operations, without operations that were not run. */
export const ended = (run: Run) => run.verified + run.failed;

/** Return a run's working time in seconds, without the time between an end and a restart. */
export function took(run: Listed): number {
  const until = run.finished_at ? Date.parse(run.finished_at) : Date.now();
  return (until - Date.parse(run.started_at)) / 1000 - run.rested_s;
}

/** Count runs by state. */
export function runStates(runs: Run[]): string {
  const states = [...new Set(runs.map(({ state }) => state))];
  return states.map((state) => `${runs.filter((run) => run.state === state).length} ${state}`).join(", ");
}

/** Show a run's state in one line. */
export function RunLine({ run, label }: { run: Run; label?: string }) {
  if (run.state === "refused")
    return (
      <div className="sb-state sb-problem">
        {label ? <strong>{label}</strong> : null} <strong>This run was refused before any work.</strong>{" "}
        {run.reason}
      </div>
    );
  return (
    <p className="sb-line">
      {label ? <strong>{label}</strong> : null}
      <StateBadge state={run.state} /> {run.study}: {ended(run)} of {run.planned} operations,{" "}
      {[
        counts(run),
        ...datasetOf(run),
        duration(took(run)),
        `method ${run.method_version}, code ${run.code_version}`,
        tagsText(run),
      ]
        .filter(Boolean)
        .join(" · ")}
    </p>
  );
}

import { address, get, useLoaded } from "./api";
import { datasetText, duration, moment } from "./format";
import type { Page, Run } from "./types";

const MOST = 100;

export const runsKey = (dag?: string) => `runs ${dag}`;

export function loadRuns(dag?: string, signal?: AbortSignal): Promise<Page<Run>> {
  return get<Page<Run>>(address("runs", { limit: MOST, dag }), signal);
}

/** The newest runs, of one DAG or of all. */
export function useRuns(dag?: string) {
  return useLoaded((signal) => loadRuns(dag, signal), runsKey(dag), 15_000);
}

/** A menu of the newest runs. */
export function RunMenu({
  label,
  chosen,
  runs,
  onChoose,
}: {
  label: string;
  chosen: string | undefined;
  runs: Run[];
  onChoose: (id: string) => void;
}) {
  const known = runs.some((run) => run.id === chosen);
  return (
    <label className="sb-field">
      {label}
      <select value={chosen ?? ""} onChange={(event) => onChoose(event.target.value)}>
        {chosen && !known ? <option value={chosen}>{chosen}</option> : null}
        {chosen ? null : <option value="">choose a run</option>}
        {runs.map((run) => (
          <option key={run.id} value={run.id}>
            {runLabel(run)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** What a run measured: its stores, or its one cell, and the dataset's rows. */
export function runLabel(run: Run): string {
  const parts = [
    `${moment(run.started_at)} UTC`,
    `${backfilled(run) ? "backfill: " : ""}${whatOf(run)}`,
    ...(run.rows === null ? [] : [`${run.rows.toLocaleString("en")} rows`]),
    run.state,
    ...(run.state === "refused" ? [] : [counts(run)]),
  ];
  return parts.join(" · ");
}

/** Airflow names the runs of a backfill so, and the Backfill view its own. */
const backfilled = (run: Run) => /^(backfill|cell)__/.test(run.airflow_run_id);

function whatOf(run: Run): string {
  // a key is a study, what tells its cells apart, and the dataset
  if (run.cell_key) return `one cell, ${run.cell_key.split("/").slice(1, -2).join(" ")}`;
  return run.stores.join(", ") || run.study;
}

/** What came of a run's operations; of each that was tried again, the newest try counts. */
function counts(run: Run): string {
  return [
    `${run.verified} verified${run.disturbed ? `, of these ${run.disturbed} disturbed` : ""}`,
    ...(run.failed ? [`${run.failed} failed`] : []),
    ...(run.not_run ? [`${run.not_run} not run`] : []),
  ].join(", ");
}

/** A run's state in a line. */
export function RunLine({ run, label }: { run: Run; label?: string }) {
  const until = run.finished_at ? Date.parse(run.finished_at) : Date.now();
  const done = run.verified + run.failed + run.not_run;
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
      <span className={`sb-badge sb-${run.state}`}>{run.state}</span> {done} of {run.planned} operations,{" "}
      {counts(run)} ·{" "}
      {run.rows === null || run.seed === null ? "" : `${datasetText({ rows: run.rows, seed: run.seed })} · `}
      {duration((until - Date.parse(run.started_at)) / 1000)} · method {run.method_version}, code{" "}
      {run.code_version}
    </p>
  );
}

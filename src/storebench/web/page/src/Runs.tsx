import { address, get, useLoaded } from "./api";
import { duration, moment } from "./format";
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

export function runLabel(run: Run): string {
  const bad = run.failed + run.not_run;
  return `${moment(run.started_at)} UTC · ${run.study} · ${run.state} · ${verified(run)}${bad ? `, ${bad} not` : ""}`;
}

function verified(run: Run): string {
  return `${run.verified} verified${run.disturbed ? `, of these ${run.disturbed} disturbed` : ""}`;
}

/** A run's state in a line. */
export function RunLine({ run, label }: { run: Run; label?: string }) {
  const until = run.finished_at ? Date.parse(run.finished_at) : Date.now();
  const done = run.verified + run.failed + run.not_run;
  return (
    <p className="sb-line">
      {label ? <strong>{label}</strong> : null}
      <span className={`sb-badge sb-${run.state}`}>{run.state}</span> {done} of {run.planned} operations,{" "}
      {verified(run)}
      {run.failed + run.not_run ? `, ${run.failed + run.not_run} not` : ""} ·{" "}
      {duration((until - Date.parse(run.started_at)) / 1000)} · method {run.method_version}, code{" "}
      {run.code_version}
    </p>
  );
}

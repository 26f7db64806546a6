import { type ReactNode, useState } from "react";
import { type ActiveRun, activeRuns, runLink, runsLink, stateOf } from "../../api/airflow";
import { get, Problem } from "../../api/api";
import { useLoaded } from "../../api/loading";
import type { Run } from "../../api/types";
import { copyText } from "../../ui/clipboard";
import { textOf, textsOf } from "../../ui/Parameters";
import { ScrollFrame } from "../../ui/ScrollTable";
import { Ready } from "../../ui/States";
import { StopButton } from "./RunActions";
import { RunLine } from "./Runs";

const EVERY_MS = 5000;

interface Shown {
  /** The name of the run's side among several runs. */
  label?: string;
  children: (run: Run) => ReactNode;
}

/**
 * Show a view of a run, or why there is none: the run is queued, about to begin, ended too early, or was refused. A run that is not in the
 * list of the newest runs is requested by itself: an older run, a run without a plan yet, or any run before the list has loaded.
 */
export function OfRun({ run, runs, ...shown }: Shown & { run: string; runs: Run[] }) {
  const known = runs.find(({ id }) => id === run);
  const loaded = useLoaded<Run | Waits>(
    async (signal) => known ?? whereabouts(run, signal),
    whereaboutsKey(run),
    known ? undefined : EVERY_MS,
  );
  return (
    <Ready of={known ? { data: known } : loaded}>
      {(answer) =>
        "id" in answer ? <Known run={answer} {...shown} /> : <Waiting {...answer} label={shown.label} />
      }
    </Ready>
  );
}

function Known({ run, label, children }: Shown & { run: Run }) {
  return run.state === "refused" ? <Refused run={run} label={label} /> : children(run);
}

/** Airflow's state of a run without results. */
interface Waits {
  dagId: string;
  runId: string;
  state: string;
  /** The DAG's runs that come before the run. */
  before: ActiveRun[];
}

export const whereaboutsKey = (name: string) => `whereabouts ${name}`;

/** Return a run, or Airflow's state of a run without results yet. */
export async function whereabouts(name: string, signal: AbortSignal): Promise<Run | Waits> {
  try {
    return await get("/api/run", { run: name }, signal);
  } catch (problem) {
    const [dagId, ...parts] = name.split("/");
    const runId = parts.join("/");
    if (!(problem instanceof Problem) || problem.status !== 404 || !dagId || !runId) throw problem;
    const state = await stateOf(dagId, runId, signal);
    if (state === null) throw problem;
    return { dagId, runId, state, before: state === "queued" ? await before(dagId, runId, signal) : [] };
  }
}

async function before(dagId: string, runId: string, signal: AbortSignal): Promise<ActiveRun[]> {
  const active = await activeRuns(dagId, signal);
  const since = active.find((run) => run.dag_run_id === runId)?.queued_at ?? "";
  return active.filter(
    (run) => run.dag_run_id !== runId && (run.state === "running" || (run.queued_at ?? "") < since),
  );
}

/** Explain why a run has no results yet, and what the run waits for. */
function Waiting({ dagId, runId, state, before, label }: Waits & { label: string | undefined }) {
  const which = label ? <strong>{label} </strong> : null;
  if (state === "queued")
    return (
      <>
        <p className="sb-state" role="status">
          {which}
          <strong>
            {before.length ? "Queued behind " : "Queued."}
            {before.map(({ dag_run_id, state }, place) => (
              <span key={dag_run_id}>
                {place ? ", " : ""}
                <a href={runLink(dagId, dag_run_id)}>{dag_run_id}</a> ({state})
              </span>
            ))}
          </strong>{" "}
          Runs of a DAG execute one after the other. {before.length ? "" : "This run is next. "}If the DAG is
          paused, the run waits until you unpause the DAG.
        </p>
        <StopButton dagId={dagId} runId={runId} />
      </>
    );
  if (state === "running")
    return (
      <p className="sb-state" role="status">
        {which}
        <strong>The run has begun.</strong> Its cells appear here as soon as it is planned.
      </p>
    );
  return (
    <p className="sb-state sb-problem">
      {which}
      <strong>The run ended in Airflow before it was planned</strong> ({state}): Airflow's log of the plan has
      the reason.
    </p>
  );
}

/** Show why a run was refused, and how to start a corrected run. */
function Refused({ run, label }: { run: Run; label: string | undefined }) {
  return (
    <>
      <RunLine run={run} label={label} />
      <SendAgain run={run} />
    </>
  );
}

/** Link to the forms with a run's values. Airflow's own form takes values only from a run's page, not from an address. */
function SendAgain({ run }: { run: Run }) {
  const [said, setSaid] = useState("");
  const params = JSON.stringify(run.params, null, 2);
  const here = new URLSearchParams({
    view: "start",
    dag: run.dag_id,
    conf: textOf(textsOf(run.params)),
  });
  const copy = () =>
    copyText(params).then(
      () => setSaid("copied"),
      (problem: Error) => setSaid(problem.message),
    );
  return (
    <>
      <p>
        To start the run again, open <a href={`${location.pathname}?${here}`}>Start with these values</a>, and
        correct the refused values. Or open{" "}
        <a href={runLink(run.dag_id, run.airflow_run_id)}>the run in Airflow</a>, and choose{" "}
        <strong>Trigger</strong>, then <strong>Trigger again with this config</strong>: Airflow's form opens
        with the same values. If Airflow no longer has the run, open{" "}
        <a href={runsLink(run.dag_id)}>the form of the DAG</a>, and paste the parameters under{" "}
        <strong>Advanced Options</strong>. To start the run with the same parameters, use{" "}
        <code>storebench replay {run.id} --trigger</code>.
      </p>
      <p className="sb-line">
        Its parameters
        <button type="button" onClick={copy}>
          copy
        </button>
        <span aria-live="polite">{said}</span>
      </p>
      <ScrollFrame label={`The parameters of ${run.airflow_run_id}`}>
        <pre className="sb-params">{params}</pre>
      </ScrollFrame>
    </>
  );
}

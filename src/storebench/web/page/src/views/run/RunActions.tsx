import { useState } from "react";
import { Link } from "react-router-dom";
import { type Conf, requestOf, startCell, startRun, stopRun } from "../../api/airflow";
import { Problem } from "../../api/api";
import type { Run } from "../../api/types";
import { NoPermission } from "../start/Dags";

/** The result of an action: the name of a started run, or the problem. */
interface Sent {
  started?: string;
  stopped?: boolean;
  problem?: Problem;
}

const problemOf = (error: unknown) => (error instanceof Problem ? error : new Problem(0, String(error)));

/** Start a run again with the same parameters. `missing`: without the repeats that are already verified. Returns the new run's name. */
export async function startAgain(run: Run, missing: boolean): Promise<string> {
  const request = await requestOf(run.dag_id, run.airflow_run_id);
  const conf = request?.conf ?? recorded(run.params);
  const key = request?.partition_key;
  // a run of a single cell skips verified repeats unless its parameters say otherwise
  const skips = missing ? { skip_done: true } : key || conf.skip_done ? { skip_done: false } : {};
  return key
    ? startCell(run.dag_id, key, { ...conf, ...skips })
    : startRun(run.dag_id, { ...conf, ...skips });
}

/** Return the recorded parameters without absent values, which keep their defaults. */
const recorded = (params: Conf): Conf =>
  Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null));

/** Show buttons that stop a run that goes on, repeat an ended run, or measure the missing operations of an ended run. */
export function RunActions({ run, missing }: { run: Run; missing: number }) {
  const [sent, setSent] = useState<Sent>();
  const [busy, setBusy] = useState(false);
  const start = async (onlyMissing: boolean) => {
    setBusy(true);
    setSent(
      await startAgain(run, onlyMissing).then(
        (started) => ({ started }),
        (error) => ({ problem: problemOf(error) }),
      ),
    );
    setBusy(false);
  };
  if (run.state === "running") return <StopButton dagId={run.dag_id} runId={run.airflow_run_id} />;
  return (
    <>
      <div className="sb-line">
        {missing ? (
          <button type="button" className="sb-start" disabled={busy} onClick={() => start(true)}>
            Measure what is missing ({missing})
          </button>
        ) : null}
        <button type="button" disabled={busy} onClick={() => start(false)}>
          Repeat
        </button>
      </div>
      {sent ? <Outcome dagId={run.dag_id} {...sent} /> : null}
    </>
  );
}

/** Show a button that stops a run, after a confirmation. */
export function StopButton({ dagId, runId }: { dagId: string; runId: string }) {
  const [asking, setAsking] = useState(false);
  const [sent, setSent] = useState<Sent>();
  const stop = async () => {
    setAsking(false);
    setSent(
      await stopRun(dagId, runId).then(
        () => ({ stopped: true }),
        (error) => ({ problem: problemOf(error) }),
      ),
    );
  };
  return (
    <>
      <div className="sb-line">
        {asking ? (
          <>
            <span>Stop this run? Its finished operations stay.</span>
            <button type="button" className="sb-stop" onClick={stop}>
              Stop the run
            </button>
            <button type="button" onClick={() => setAsking(false)}>
              Go on
            </button>
          </>
        ) : (
          <button type="button" className="sb-stop" disabled={sent?.stopped} onClick={() => setAsking(true)}>
            Stop
          </button>
        )}
      </div>
      {sent ? <Outcome dagId={dagId} {...sent} /> : null}
    </>
  );
}

function Outcome({ dagId, started, stopped, problem }: Sent & { dagId: string }) {
  if (problem?.status === 403) return <NoPermission />;
  if (problem)
    return (
      <p className="sb-state sb-problem" role="alert">
        <strong>Airflow refused.</strong> {problem.message}
      </p>
    );
  if (stopped)
    return (
      <p className="sb-state" role="status">
        <strong>The run is stopped.</strong> Airflow ends its tasks.
      </p>
    );
  const there = new URLSearchParams({ view: "run", run: `${dagId}/${started}` });
  return (
    <p className="sb-state" role="status">
      <strong>A run is started.</strong> <Link to={`?${there}`}>Follow the run</Link>
    </p>
  );
}

import type { Task } from "../api/airflow";
import type { Attempt, Turn } from "../api/types";
import { type Soundness, soundness } from "./format";

export type State = Exclude<Soundness, "superseded"> | "running" | "queued" | "excluded";

/** Why an operation cannot run, by the state of an operation that it depends on. */
const NOTHING_TO_WORK_ON: Partial<Record<State, string>> = {
  failed: "an operation that it depends on has failed",
  stopped: "an operation that it depends on was stopped",
  "not run": "an operation that it depends on was not run",
};

export interface Square {
  state: State;
  /** The reason why the operation failed, was not run or was disturbed, or the phase of a running operation. */
  detail: string | null;
  attempt: Attempt | null;
}

/**
 * Return the outcome of a turn's operation, from its attempt, or without an attempt from its task in Airflow. `over`: the run has ended;
 * `needed`: the outcomes of the operations that it depends on.
 */
export function square(
  turn: Turn,
  operation: string,
  attempt: Attempt | undefined,
  task: Task | undefined,
  over: boolean,
  needed: Square[] = [],
): Square {
  const busy = task?.state === "running";
  if (attempt && !busy) {
    const state = soundness({ ...attempt, superseded: false }) as State;
    if (state === "failed") return { state, detail: `${attempt.error_kind}: ${attempt.error}`, attempt };
    return { state, detail: attempt.error ?? attempt.disturbed, attempt };
  }
  if (turn.skipped !== null) return { state: "excluded", detail: turn.skipped, attempt: null };
  if (!turn.operations.includes(operation))
    return { state: "excluded", detail: "not an operation of this cell", attempt: null };
  if (busy) return { state: "running", detail: null, attempt: null };
  // its task fails at once if an operation that it depends on has no data for it
  const why = needed.map((square) => NOTHING_TO_WORK_ON[square.state]).find((reason) => reason !== undefined);
  if (why && (task || over)) return { state: "not run", detail: why, attempt: null };
  if (task?.state === "failed" && task.start_date === null)
    return { state: "not run", detail: "its task was ended before it began", attempt: null };
  if (task?.state === "failed")
    return { state: "failed", detail: "its task has failed: Airflow's log says why", attempt: null };
  if (task?.state === "upstream_failed")
    return { state: "not run", detail: "an earlier task has failed", attempt: null };
  if (over) return { state: "not run", detail: "the run ended without it", attempt: null };
  return { state: "queued", detail: null, attempt: null };
}

/**
 * Estimate the remaining seconds from the mean of the completed operations. The run's expected duration counts like half of its
 * operations, because the first operations may be untypical. Null without an expected duration and without a completed operation.
 */
export function secondsLeft(
  ended: number,
  planned: number,
  elapsed_s: number,
  expected_s: number | null,
): number | null {
  if (planned <= ended) return null;
  const before = expected_s === null ? 0 : planned / 2;
  if (ended + before === 0) return null;
  return ((elapsed_s + (expected_s ?? 0) / 2) / (ended + before)) * (planned - ended);
}

import type { Task } from "./airflow";
import { type Soundness, soundness } from "./format";
import type { Attempt, Turn } from "./types";

export type State = Exclude<Soundness, "superseded"> | "running" | "queued" | "left out";

/** Why an operation has nothing to work on, by the state of one that it needs. */
const NOTHING_TO_WORK_ON: Partial<Record<State, string>> = {
  failed: "an operation that it needs has failed",
  stopped: "an operation that it needs was stopped",
  "not run": "an operation that it needs was not run",
};

export interface Square {
  state: State;
  /** The reason of a failure or why it was not run, what disturbed an attempt, or the phase of what runs. */
  detail: string | null;
  attempt: Attempt | null;
}

/**
 * What became of a turn's operation: its attempt where there is one, else what Airflow says of its task. `over`: the run has ended;
 * `needed`: what became of the operations of its cell that it needs.
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
  if (turn.skipped !== null) return { state: "left out", detail: turn.skipped, attempt: null };
  if (!turn.operations.includes(operation))
    return { state: "left out", detail: "not an operation of this store", attempt: null };
  if (busy) return { state: "running", detail: null, attempt: null };
  // its task fails at once where there is nothing to work on
  const why = needed.map((one) => NOTHING_TO_WORK_ON[one.state]).find((one) => one !== undefined);
  if (why && (task || over)) return { state: "not run", detail: why, attempt: null };
  if (task?.state === "failed" && task.start_date === null)
    return { state: "not run", detail: "its task was ended before it began", attempt: null };
  if (task?.state === "failed")
    return { state: "failed", detail: "its task has failed: Airflow's log says why", attempt: null };
  if (task?.state === "upstream_failed")
    return { state: "not run", detail: "a task before it has failed", attempt: null };
  if (over) return { state: "not run", detail: "the run ended without it", attempt: null };
  return { state: "queued", detail: null, attempt: null };
}

/**
 * Seconds to go: what is left takes as long as what was done did. What was expected of the whole run counts like half of its
 * operations: the first ones may take much longer than others, or less. Null where nothing is expected and none has ended yet.
 */
export function secondsLeft(
  done: number,
  planned: number,
  elapsed_s: number,
  expected_s: number | null,
): number | null {
  if (planned <= done) return null;
  const before = expected_s === null ? 0 : planned / 2;
  if (done + before === 0) return null;
  return ((elapsed_s + (expected_s ?? 0) / 2) / (done + before)) * (planned - done);
}

import type { Task } from "./airflow";
import { type Soundness, soundness } from "./format";
import type { Attempt, Operation, Turn } from "./types";

export type State = Exclude<Soundness, "not run"> | "running" | "queued" | "left out";

export interface Square {
  state: State;
  /** The reason of a failure, what disturbed an attempt, or the phase of what runs. */
  detail: string | null;
  attempt: Attempt | null;
}

/** What became of a turn's operation: its attempt where there is one, else what Airflow says of its task. `over`: the run has ended. */
export function square(
  turn: Turn,
  operation: Operation,
  attempt: Attempt | undefined,
  task: Task | undefined,
  over: boolean,
): Square {
  const busy = task?.state === "running";
  if (attempt && !busy) {
    const state = soundness(attempt);
    if (state === "failed" || state === "not run")
      return { state: "failed", detail: `${attempt.error_kind}: ${attempt.error}`, attempt };
    return { state, detail: attempt.disturbed, attempt };
  }
  if (turn.skipped !== null) return { state: "left out", detail: turn.skipped, attempt: null };
  if (!turn.operations.includes(operation))
    return { state: "left out", detail: "not an operation of this store", attempt: null };
  if (busy) return { state: "running", detail: null, attempt: null };
  if (task?.state === "failed" || task?.state === "upstream_failed")
    return { state: "failed", detail: "its task has failed: Airflow's log says why", attempt: null };
  if (over) return { state: "left out", detail: "the run ended without it", attempt: null };
  return { state: "queued", detail: null, attempt: null };
}

/** Seconds to go: what is left takes as long as what was done did. Null before the first operation has ended. */
export function secondsLeft(done: number, planned: number, elapsed_s: number): number | null {
  if (done <= 0 || planned <= done) return null;
  return (elapsed_s / done) * (planned - done);
}

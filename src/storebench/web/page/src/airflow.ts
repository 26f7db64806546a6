import { airflowAddress, get, Problem } from "./api";
import type { Operation, Turn } from "./types";

/** What Airflow says of a task: its own API, with the permissions of whoever looks. */
export interface Task {
  task_id: string;
  map_index: number;
  state: string | null;
  try_number: number;
}

interface Logged {
  content: ({ event?: string } | string)[] | string;
}

const run = (dagId: string, runId: string) =>
  `dags/${encodeURIComponent(dagId)}/dagRuns/${encodeURIComponent(runId)}`;

/** Whether a run that was never seen to end has ended in Airflow: it was marked so by hand, or deleted. */
export async function isOver(dagId: string, runId: string, signal?: AbortSignal): Promise<boolean> {
  try {
    const { state } = await get<{ state: string }>(airflowAddress(run(dagId, runId)), signal);
    return state === "success" || state === "failed";
  } catch (problem) {
    return problem instanceof Problem && problem.status === 404;
  }
}

/** What a task that has no row yet can be told by. The others of a large run are not asked for: Airflow is busy measuring. */
const STATES = ["running", "failed", "upstream_failed"];

/** The tasks of a run that are at work or have failed, by their name and map index. */
export async function tasksOf(
  dagId: string,
  runId: string,
  signal?: AbortSignal,
): Promise<Map<string, Task>> {
  const query = STATES.map((state) => `state=${state}`).join("&");
  const found = new Map<string, Task>();
  for (let offset = 0; ; offset += 100) {
    const address = `${airflowAddress(`${run(dagId, runId)}/taskInstances`, { limit: 100, offset })}&${query}`;
    const page = await get<{ task_instances: Task[]; total_entries: number }>(address, signal);
    for (const task of page.task_instances) found.set(`${task.task_id} ${task.map_index}`, task);
    if (offset + 100 >= page.total_entries) return found;
  }
}

/** In which phase the pod of a running task is: its log says when each begins. Null where it says nothing yet. */
export async function phaseOf(
  dagId: string,
  runId: string,
  task: Task,
  signal?: AbortSignal,
): Promise<string | null> {
  const path = `${run(dagId, runId)}/taskInstances/${encodeURIComponent(task.task_id)}/logs/${task.try_number}`;
  const log = await get<Logged>(
    airflowAddress(path, { map_index: task.map_index, full_content: true }),
    signal,
  );
  return lastPhase(typeof log.content === "string" ? log.content.split("\n") : log.content);
}

export function lastPhase(lines: ({ event?: string } | string)[]): string | null {
  for (const line of [...lines].reverse()) {
    const found = /phase: ([a-z_]+)/.exec(typeof line === "string" ? line : (line.event ?? ""));
    if (found?.[1]) return found[1];
  }
  return null;
}

/** Where a turn's task is in Airflow's own pages. */
export function taskLink(dagId: string, runId: string, operation: Operation, turn: Turn): string {
  const path = `dags/${encodeURIComponent(dagId)}/runs/${encodeURIComponent(runId)}/tasks/${turn.task_group}.${operation}/mapped/${turn.map_index}`;
  return new URL(path, document.baseURI).href;
}

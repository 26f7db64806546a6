import { airflowAddress, get, Problem, post } from "./api";
import type { Attempt, Turn } from "./types";

/** What Airflow says of a task: its own API, with the permissions of whoever looks. */
export interface Task {
  task_id: string;
  map_index: number;
  state: string | null;
  try_number: number;
  /** Null of one that never began: it may have failed all the same. */
  start_date: string | null;
}

interface Logged {
  content: ({ event?: string } | string)[] | string;
  continuation_token?: string | null;
}

/** A study's DAG. */
export interface Dag {
  dag_id: string;
  is_paused: boolean;
}

/** A run that waits or goes on. One of a single cell of the grid has the key of its partition. */
export interface ActiveRun {
  dag_run_id: string;
  partition_key: string | null;
  state: string;
  queued_at?: string | null;
  conf: Record<string, unknown> | null;
}

/** The parameters of a run that are not to be the defaults. */
export type Conf = Record<string, unknown>;

const runs = (dagId: string) => `dags/${encodeURIComponent(dagId)}/dagRuns`;
const run = (dagId: string, runId: string) => `${runs(dagId)}/${encodeURIComponent(runId)}`;

/** What is in these states of a list that Airflow's API gives in pages. */
async function inStates<T>(path: string, list: string, states: string[], signal?: AbortSignal): Promise<T[]> {
  const query = states.map((state) => `state=${state}`).join("&");
  const found: T[] = [];
  for (let offset = 0; ; offset += 100) {
    const address = `${airflowAddress(path, { limit: 100, offset })}&${query}`;
    const page = await get<Record<string, unknown>>(address, signal);
    found.push(...(page[list] as T[]));
    if (offset + 100 >= (page.total_entries as number)) return found;
  }
}

/** The DAGs of studies, which have a tag in common. */
export async function studies(signal?: AbortSignal): Promise<Dag[]> {
  return (await get<{ dags: Dag[] }>(airflowAddress("dags", { tags: "storebench", limit: 100 }), signal))
    .dags;
}

/** The runs of a DAG that wait or go on. */
export function activeRuns(dagId: string, signal?: AbortSignal): Promise<ActiveRun[]> {
  return inStates(runs(dagId), "dag_runs", ["queued", "running"], signal);
}

/**
 * Start a run of one cell of a study's grid, by the key of its partition, with these parameters.
 *
 * Not a backfill: that takes one range of dates, and Airflow has one of a DAG at a time. The run's name says which cell it is, as a
 * backfill's does (storebench.results.queries knows it by its beginning).
 */
export async function startCell(dagId: string, key: string, conf: Conf): Promise<void> {
  const dag_run_id = `cell__${key.replaceAll(/[^\w.-]+/g, "_")}__${new Date().toISOString()}`;
  await post(airflowAddress(runs(dagId)), { dag_run_id, logical_date: null, partition_key: key, conf });
}

/** Start a run with these parameters, as Airflow's own form does; its name there, which Airflow gives where nobody else has. */
export async function startRun(dagId: string, conf: Conf, dag_run_id?: string): Promise<string> {
  const body = { ...(dag_run_id ? { dag_run_id } : {}), logical_date: null, conf };
  return (await post<{ dag_run_id: string }>(airflowAddress(runs(dagId)), body)).dag_run_id;
}

/** The state of a run; null where Airflow does not know it. */
export async function stateOf(dagId: string, runId: string, signal?: AbortSignal): Promise<string | null> {
  try {
    return (await get<{ state: string }>(airflowAddress(run(dagId, runId)), signal)).state;
  } catch (problem) {
    if (problem instanceof Problem && problem.status === 404) return null;
    throw problem;
  }
}

/** What a task that has no attempt yet can be told by. The others of a large run are not asked for: Airflow is busy measuring. */
const STATES = ["running", "failed", "upstream_failed"];

/** The tasks of a run that are at work or have failed, by their name and map index. */
export async function tasksOf(
  dagId: string,
  runId: string,
  signal?: AbortSignal,
): Promise<Map<string, Task>> {
  const path = `${run(dagId, runId)}/taskInstances`;
  const found = await inStates<Task>(path, "task_instances", STATES, signal);
  return new Map(found.map((task) => [`${task.task_id} ${task.map_index}`, task]));
}

/** What the log of a running task has said up to a position. */
export interface Heard {
  /** The phase that the log named last; null where it named none yet. */
  phase: string | null;
  try_number: number;
  /** Where Airflow's API goes on reading; null: at the beginning. */
  token: string | null;
}

/**
 * Return the phase of a running task's pod, by its log: each phase writes a line when it begins.
 *
 * `before`: what the log said when it was last read. Airflow then sends only the lines that are new. A log that cannot be read leaves the
 * phase as it was, and the next call reads from the beginning: Airflow refuses a position that it gave before a change of its key.
 */
export async function phaseOf(
  dagId: string,
  runId: string,
  task: Task,
  before?: Heard,
  signal?: AbortSignal,
): Promise<Heard> {
  const { map_index, try_number } = task;
  const path = `${run(dagId, runId)}/taskInstances/${encodeURIComponent(task.task_id)}/logs/${try_number}`;
  const known = before?.try_number === try_number ? before : undefined;
  const from = known?.token ? { token: known.token } : { full_content: true };
  try {
    const { content, continuation_token } = await get<Logged>(
      airflowAddress(path, { map_index, ...from }),
      signal,
    );
    const said = lastPhase(typeof content === "string" ? content.split("\n") : content);
    return { phase: said ?? known?.phase ?? null, try_number, token: continuation_token ?? null };
  } catch (problem) {
    if (signal?.aborted) throw problem;
    return { phase: known?.phase ?? null, try_number, token: null };
  }
}

export function lastPhase(lines: ({ event?: string } | string)[]): string | null {
  for (const line of [...lines].reverse()) {
    const found = /phase: ([a-z_]+)/.exec(typeof line === "string" ? line : (line.event ?? ""));
    if (found?.[1]) return found[1];
  }
  return null;
}

/** Where a DAG is in Airflow's own pages, and its form. */
export function dagLink(dagId: string): string {
  return new URL(`dags/${encodeURIComponent(dagId)}`, document.baseURI).href;
}

/** Where its runs are. */
export function runsLink(dagId: string): string {
  return `${dagLink(dagId)}/runs`;
}

/** Where a run is there. */
export function runLink(dagId: string, runId: string): string {
  return `${runsLink(dagId)}/${encodeURIComponent(runId)}`;
}

/** Where a turn's task is there. */
export function taskLink(dagId: string, runId: string, operation: string, turn: Turn): string {
  return `${runLink(dagId, runId)}/tasks/${turn.task_group}.${operation}/mapped/${turn.map_index}`;
}

/** Where an attempt's log is there, among these turns of its run; null of one that no task has tried. */
export function logLink(attempt: Attempt, turns: Turn[]): string | null {
  const turn = turns.find(
    ({ cell_key, repeat }) => cell_key === attempt.cell_key && repeat === attempt.repeat,
  );
  if (!turn || turn.map_index === null || attempt.try_number === 0) return null;
  const dagId = attempt.run_id.slice(0, -attempt.run.length - 1);
  return `${taskLink(dagId, attempt.run, attempt.operation, turn)}?try_number=${attempt.try_number}`;
}

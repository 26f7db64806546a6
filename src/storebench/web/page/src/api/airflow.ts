import { Problem, send } from "./api";
import type { Attempt, Turn } from "./types";

/** A task in Airflow's own API, which answers with the user's permissions. */
export interface Task {
  task_id: string;
  map_index: number;
  state: string | null;
  try_number: number;
  /** Null for a task that never began, even if it failed. */
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

/** A queued or running run. A run of a single cell of the grid has its partition's key. */
export interface ActiveRun {
  dag_run_id: string;
  partition_key: string | null;
  state: string;
  queued_at?: string | null;
  conf: Record<string, unknown> | null;
}

/** The parameters of a run that differ from their defaults. */
export type Conf = Record<string, unknown>;

const runs = (dagId: string) => `dags/${encodeURIComponent(dagId)}/dagRuns`;
const run = (dagId: string, runId: string) => `${runs(dagId)}/${encodeURIComponent(runId)}`;

/** Ask Airflow's own API. A list in `query` becomes several parameters of the same name. */
async function ask<T>(
  path: string,
  query: Record<string, string | number | boolean | string[]> = {},
  init: RequestInit = {},
): Promise<T> {
  const url = new URL(`api/v2/${path}`, document.baseURI); // Airflow's base URL may have a path
  for (const [name, value] of Object.entries(query))
    for (const item of Array.isArray(value) ? value : [value]) url.searchParams.append(name, String(item));
  const headers = { accept: "application/json", ...init.headers };
  const response = await send(new Request(url, { credentials: "same-origin", ...init, headers }));
  return (await response.json()) as T;
}

/** Send JSON to Airflow's own API, and return the answer. */
function write<T>(method: "POST" | "PATCH", path: string, body: unknown): Promise<T> {
  const headers = { "content-type": "application/json" };
  return ask<T>(path, {}, { method, headers, body: JSON.stringify(body) });
}

/** Return all items in these states of a paged list of Airflow's API. */
async function inStates<T>(path: string, list: string, states: string[], signal?: AbortSignal): Promise<T[]> {
  const items: T[] = [];
  for (let offset = 0; ; offset += 100) {
    const query = { limit: 100, offset, state: states };
    const page = await ask<Record<string, unknown>>(path, query, { signal });
    items.push(...(page[list] as T[]));
    if (offset + 100 >= (page.total_entries as number)) return items;
  }
}

/** Return the DAGs of studies, which share two tags. */
export async function studies(signal?: AbortSignal): Promise<Dag[]> {
  const query = { tags: ["storebench", "study"], tags_match_mode: "all", limit: 100 };
  return (await ask<{ dags: Dag[] }>("dags", query, { signal })).dags;
}

/** Return the queued and running runs of a DAG. */
export function activeRuns(dagId: string, signal?: AbortSignal): Promise<ActiveRun[]> {
  return inStates(runs(dagId), "dag_runs", ["queued", "running"], signal);
}

/**
 * Start a run of one cell of a study's grid, by the key of its partition, with these parameters. Return the run's name.
 *
 * A backfill would not do: it takes one range of dates, and Airflow runs one backfill of a DAG at a time. The run's name tells the cell, as
 * in a backfill (storebench.results.database.queries recognizes such names by their beginning).
 */
export async function startCell(dagId: string, key: string, conf: Conf): Promise<string> {
  const dag_run_id = `cell__${key.replaceAll(/[^\w.-]+/g, "_")}__${new Date().toISOString()}`;
  await write("POST", runs(dagId), { dag_run_id, logical_date: null, partition_key: key, conf });
  return dag_run_id;
}

/** Start a run with these parameters, as Airflow's own form does, and return the run's name. Without a name, Airflow chooses one. */
export async function startRun(dagId: string, conf: Conf, dag_run_id?: string): Promise<string> {
  const body = { ...(dag_run_id ? { dag_run_id } : {}), logical_date: null, conf };
  return (await write<{ dag_run_id: string }>("POST", runs(dagId), body)).dag_run_id;
}

/** Stop a run: Airflow ends the tasks of a run that is marked as failed. */
export async function stopRun(dagId: string, runId: string): Promise<void> {
  await write("PATCH", run(dagId, runId), { state: "failed" });
}

/** The request that started a run. A run of a single cell of the grid has its partition's key. */
export interface RunRequest {
  conf: Conf;
  partition_key: string | null;
}

/** Return the request that started a run, or null if Airflow does not know the run. */
export async function requestOf(dagId: string, runId: string): Promise<RunRequest | null> {
  try {
    const { conf, partition_key } = await ask<ActiveRun>(run(dagId, runId));
    return { conf: conf ?? {}, partition_key: partition_key ?? null };
  } catch (problem) {
    if (problem instanceof Problem && problem.status === 404) return null;
    throw problem;
  }
}

/** Return the state of a run, or null if Airflow does not know the run. */
export async function stateOf(dagId: string, runId: string, signal?: AbortSignal): Promise<string | null> {
  try {
    return (await ask<{ state: string }>(run(dagId, runId), {}, { signal })).state;
  } catch (problem) {
    if (problem instanceof Problem && problem.status === 404) return null;
    throw problem;
  }
}

/** The states of tasks without an attempt. Other tasks of a large run are not requested, to spare Airflow work during measurements. */
const STATES = ["running", "failed", "upstream_failed"];

/** Return the running and failed tasks of a run, by name and map index. */
export async function tasksOf(
  dagId: string,
  runId: string,
  signal?: AbortSignal,
): Promise<Map<string, Task>> {
  const path = `${run(dagId, runId)}/taskInstances`;
  const tasks = await inStates<Task>(path, "task_instances", STATES, signal);
  return new Map(tasks.map((task) => [`${task.task_id} ${task.map_index}`, task]));
}

/** The result of reading a running task's log up to a position. */
export interface Heard {
  /** The last phase in the log; null if the log has none yet. */
  phase: string | null;
  try_number: number;
  /** The position where Airflow's API continues reading; null: at the beginning. */
  token: string | null;
}

/**
 * Return the phase of a running task's pod, by its log: each phase writes a line when it begins.
 *
 * `before` is the result of the last reading: with it, Airflow sends only new lines. If the log cannot be read, the phase stays, and the
 * next call reads from the beginning: Airflow refuses a position that was signed with an older key.
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
  try {
    const query = { map_index, ...(known?.token ? { token: known.token } : { full_content: true }) };
    const { content, continuation_token } = await ask<Logged>(path, query, { signal });
    const phase = lastPhase(typeof content === "string" ? content.split("\n") : content);
    return { phase: phase ?? known?.phase ?? null, try_number, token: continuation_token ?? null };
  } catch (problem) {
    if (signal?.aborted) throw problem;
    return { phase: known?.phase ?? null, try_number, token: null };
  }
}

export function lastPhase(lines: ({ event?: string } | string)[]): string | null {
  for (const line of [...lines].reverse()) {
    const phase = /phase: ([a-z_]+)/.exec(typeof line === "string" ? line : (line.event ?? ""))?.[1];
    if (phase) return phase;
  }
  return null;
}

/** Return the address of a DAG's page in Airflow, which has the DAG's form. */
export function dagLink(dagId: string): string {
  return new URL(`dags/${encodeURIComponent(dagId)}`, document.baseURI).href;
}

/** Return the address of the list of a DAG's runs in Airflow. */
export function runsLink(dagId: string): string {
  return `${dagLink(dagId)}/runs`;
}

/** Return the address of a run's page in Airflow. */
export function runLink(dagId: string, runId: string): string {
  return `${runsLink(dagId)}/${encodeURIComponent(runId)}`;
}

/** Return the address of the page of a turn's task in Airflow. */
export function taskLink(dagId: string, runId: string, operation: string, turn: Turn): string {
  return `${runLink(dagId, runId)}/tasks/${turn.task_group}.${operation}/mapped/${turn.map_index}`;
}

/** Return the address of an attempt's log in Airflow, or null without a task. `turns` are the turns of the attempt's run. */
export function logLink(attempt: Attempt, turns: Turn[]): string | null {
  const turn = turns.find(
    ({ cell_key, repeat }) => cell_key === attempt.cell_key && repeat === attempt.repeat,
  );
  if (!turn || turn.map_index === null || attempt.try_number === 0) return null;
  const dagId = attempt.run_id.slice(0, -attempt.run.length - 1);
  return `${taskLink(dagId, attempt.run, attempt.operation, turn)}?try_number=${attempt.try_number}`;
}

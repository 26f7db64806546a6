import type { Choice } from "../src/choice";
import type { Attempt, CellFigures, Run, Turn } from "../src/types";

export const CELL = {
  cell_key: "bulk_write_read/mongodb/reference/batch=10000/rows=2000/seed=7",
  store: "mongodb",
  client: "reference",
  batch_size: "10000",
  executors: null,
  rows: 2000,
  seed: 7,
};

export const ATTEMPT: Attempt = {
  ...CELL,
  attempt_id: "a",
  run_id: "bulk_write_read/one",
  run: "one",
  operation: "write",
  delivers: null,
  repeat: 1,
  try_number: 1,
  superseded: false,
  warm_up: false,
  arm: null,
  status: "verified",
  error_kind: null,
  error: null,
  disturbed: null,
  only_s: 1.5,
  rows_per_s: 2000 / 1.5,
  source_s: 0.5,
  barrier_s: 0,
  durability: "disk",
  durability_stated: "w=1, j=true",
  total_s: 3,
  figures_cover: "client",
  all_memory_working_set_peak_bytes: 200 * 2 ** 20,
  all_cpu_s: 1,
  client_cpu_share: 0.5,
  client_cores_usable: 1,
  client_bound: false,
  node_cpu_some_share: 0.1,
  node_memory_some_share: 0,
  node_memory_full_share: 0,
  node_io_some_share: 0,
  node_io_full_share: 0,
  node_steal_share: 0,
  node_others_cores: 0.2,
  server_name: "FerretDB",
  server_version: "v2.7.0",
  environment_hash: "0123456789abcdef",
  node: "node",
  recorded_at: "2026-11-22T12:00:00Z",
};

export const FAILED: Attempt = {
  ...ATTEMPT,
  attempt_id: "b",
  repeat: 2,
  status: "failed",
  error_kind: "oom_killed",
  error: "out of memory",
  only_s: null,
  rows_per_s: null,
  durability: null,
  durability_stated: null,
  total_s: null,
  figures_cover: null,
  all_memory_working_set_peak_bytes: null,
};

export const DISTURBED: Attempt = { ...ATTEMPT, attempt_id: "c", disturbed: "throttled in 3 periods" };

/** An attempt of a store whose engine is in the pod. */
export const ENGINE: Attempt = {
  ...ATTEMPT,
  cell_key: "bulk_write_read/delta-rs/tuned/batch=10000/rows=2000/seed=7",
  store: "delta-rs",
  client: "tuned",
  durability: "s3",
  durability_stated: "each commit is an acknowledged PUT",
  figures_cover: "engine",
  client_cpu_share: 1.7,
  client_cores_usable: null,
  client_bound: null,
};

export const RUN: Run = {
  id: ATTEMPT.run_id,
  study: "bulk_write_read",
  dag_id: "bulk_write_read",
  airflow_run_id: ATTEMPT.run,
  state: "success",
  reason: null,
  started_at: "2026-11-22T11:59:00Z",
  finished_at: "2026-11-22T12:01:00Z",
  method_version: 2,
  code_version: "0.1.0",
  order_seed: 1,
  params: {},
  stores: ["mongodb"],
  rows: 2000,
  seed: 7,
  cells: 1,
  cell_key: ATTEMPT.cell_key,
  expected_s: null,
  planned: 2,
  verified: 2,
  disturbed: 0,
  failed: 0,
  not_run: 0,
};

export const TURN: Turn = {
  ...CELL,
  task_group: "cell",
  map_index: 0,
  repeat: 1,
  warm_up: false,
  arm: null,
  skipped: null,
  operations: ["write", "read"],
};

export const FIGURES: CellFigures = {
  ...CELL,
  operation: "write",
  attempts: [ATTEMPT, FAILED],
  only_s: { n: 1, median: 1.5, low: null, high: null, coverage: null },
  rows_per_s: { n: 1, median: 2000 / 1.5, low: null, high: null, coverage: null },
  total_s: { n: 1, median: 3, low: null, high: null, coverage: null },
  memory_bytes: { n: 1, median: 200 * 2 ** 20, low: null, high: null, coverage: null },
};

/** What did not begin. */
export const NOT_RUN: Attempt = {
  ...FAILED,
  status: "not_run",
  error_kind: "not_run",
  error: "Its write failed: oom_killed",
};

/** A cell with one attempt, that counts or not. */
export function cellOf(attempt: Attempt): CellFigures {
  const { cell_key, store, client, batch_size, executors, rows, seed, operation } = attempt;
  const name = { cell_key, store, client, batch_size, executors, rows, seed, operation };
  return { ...name, attempts: [attempt], only_s: null, rows_per_s: null, total_s: null, memory_bytes: null };
}

/** A cell with one attempt that counts. */
export function measured(changes: Partial<Attempt>): CellFigures {
  const attempt = { ...ATTEMPT, ...changes };
  const spread = (value: number | null) =>
    value === null ? null : { n: 1, median: value, low: null, high: null, coverage: null };
  return {
    ...cellOf(attempt),
    only_s: spread(attempt.only_s),
    rows_per_s: spread(attempt.rows_per_s),
    total_s: spread(attempt.total_s),
    memory_bytes: spread(attempt.all_memory_working_set_peak_bytes),
  };
}

/** Nothing hidden, and whatever is asked for is forgotten. */
export const NO_CHOICE: Choice = { asked: new URLSearchParams(), choose: () => {} };

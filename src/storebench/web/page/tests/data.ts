import type { Attempt, CellFigures, Turn } from "../src/types";

export const CELL = {
  cell_key: "bulk_write_read/mongodb/reference/batch=10000/rows=2000/seed=7",
  store: "mongodb",
  client: "reference",
  batch_size: "10000",
  executors: null,
};

export const ATTEMPT: Attempt = {
  ...CELL,
  attempt_id: "a",
  run_id: "bulk_write_read/one",
  run: "one",
  operation: "write",
  repeat: 1,
  try_number: 1,
  warm_up: false,
  arm: null,
  status: "verified",
  error_kind: null,
  error: null,
  only_s: 1.5,
  source_s: 0.5,
  barrier_s: 0,
  total_s: 3,
  all_memory_working_set_peak_bytes: 200 * 2 ** 20,
  all_cpu_s: 1,
  client_cpu_share: 0.5,
  client_bound: false,
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
  total_s: null,
  all_memory_working_set_peak_bytes: null,
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
  total_s: { n: 1, median: 3, low: null, high: null, coverage: null },
  memory_bytes: { n: 1, median: 200 * 2 ** 20, low: null, high: null, coverage: null },
};

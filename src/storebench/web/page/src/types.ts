// What the page's API answers: storebench/web/models.py. Times are seconds, memory is bytes.
export type Operation = "write" | "read";
export type Status = "verified" | "failed" | "not_run";

export interface Page<T> {
  items: T[];
  offset: number;
  more: boolean;
}

export interface Run {
  id: string;
  study: string;
  dag_id: string;
  airflow_run_id: string;
  state: "running" | "success" | "failed" | "refused";
  reason: string | null;
  started_at: string;
  finished_at: string | null;
  method_version: number;
  code_version: string;
  order_seed: number | null;
  params: Record<string, unknown>;
  stores: string[];
  rows: number | null;
  seed: number | null;
  cells: number;
  cell_key: string | null;
  expected_s: number | null;
  planned: number;
  verified: number;
  disturbed: number;
  failed: number;
  not_run: number;
}

export interface CellName {
  cell_key: string;
  store: string;
  client: string;
  batch_size: string | null;
  executors: number | null;
  rows: number;
  seed: number;
}

export interface Turn extends CellName {
  task_group: string;
  map_index: number | null;
  repeat: number;
  warm_up: boolean;
  arm: "A" | "B" | null;
  skipped: string | null;
  operations: Operation[];
}

export interface Parameter {
  name: string;
  title: string;
  text: string;
  default: unknown;
  examples: unknown[];
}

export interface GridCell {
  key: string;
  date: string;
  state: string;
  operations: number;
  unknown: number;
  expected_s: number;
}

export interface Grid {
  cells: GridCell[];
  conf: Record<string, unknown>;
  may_start: boolean;
}

export interface Attempt extends CellName {
  attempt_id: string;
  run_id: string;
  run: string;
  operation: Operation;
  delivers: string | null;
  repeat: number;
  try_number: number;
  superseded: boolean;
  warm_up: boolean;
  arm: string | null;
  status: Status;
  error_kind: string | null;
  error: string | null;
  disturbed: string | null;
  only_s: number | null;
  rows_per_s: number | null;
  source_s: number | null;
  barrier_s: number | null;
  durability: "disk" | "memory" | "none" | "s3" | "unknown" | null;
  durability_stated: string | null;
  total_s: number | null;
  figures_cover: "client" | "engine" | null;
  all_memory_working_set_peak_bytes: number | null;
  all_cpu_s: number | null;
  client_cpu_share: number | null;
  client_cores_usable: number | null;
  client_bound: boolean | null;
  node_cpu_some_share: number | null;
  node_memory_some_share: number | null;
  node_memory_full_share: number | null;
  node_io_some_share: number | null;
  node_io_full_share: number | null;
  node_steal_share: number | null;
  node_others_cores: number | null;
  server_name: string | null;
  server_version: string | null;
  environment_hash: string | null;
  node: string | null;
  recorded_at: string;
}

export interface Spread {
  n: number;
  median: number;
  low: number | null;
  high: number | null;
  coverage: number | null;
}

export interface CellFigures extends CellName {
  operation: Operation;
  attempts: Attempt[];
  only_s: Spread | null;
  rows_per_s: Spread | null;
  total_s: Spread | null;
  memory_bytes: Spread | null;
}

export interface CellPhases extends CellName {
  operation: Operation;
  attempt: Attempt;
  phases: Record<string, number>;
}

export interface Price extends CellName {
  operation: Operation;
  figures_cover: "client" | "engine" | null;
  n: number;
  left_out: number;
  cpu_hours_per_gb: number | null;
  memory_gib_hours_per_gb: number | null;
  cost_per_gb: number | null;
}

export interface Compared extends CellName {
  operation: Operation;
  remarks: string[];
}

export const LABELS = ["faster", "slower", "the same", "cannot tell"] as const;

export interface Verdict extends Compared {
  label: (typeof LABELS)[number];
  reason: string | null;
  n_before: number;
  n_after: number;
  median_before_s: number;
  median_after_s: number;
  ratio: number;
  low: number | null;
  high: number | null;
  p_adjusted: number | null;
}

export interface Comparison {
  before: Run;
  after: Run;
  verdicts: Verdict[];
  without: (Compared & { reason: string })[];
  differences: string[];
  test: string;
  margin_percent: number;
  caution: string | null;
}

import { fireEvent } from "@testing-library/react";
import api from "../openapi.json";
import type {
  Attempt,
  CellFigures,
  Chart,
  DatasetRecord,
  Metric,
  Operation,
  Origin,
  Run,
  Spread,
  StoreRecord,
  Study,
  Turn,
} from "../src/api/types";
import type { Choice } from "../src/model/choice";
import { metricNamed } from "../src/model/study";

const metric = (name: string, title: string, unit: string, changes: Partial<Metric> = {}): Metric => ({
  name,
  title,
  unit,
  better: "lower",
  kind: "scalar",
  by_cover: false,
  merge: null,
  ...changes,
});

const COMMON: Metric[] = [
  metric("work_total_s", "total pod time without verification", "s"),
  metric("all_memory_working_set_peak_bytes", "memory", "bytes", { by_cover: true }),
  metric("all_cpu_s", "CPU time", "s", { by_cover: true }),
];

const axis = (name: string, numeric: boolean) => ({
  name,
  title: name.charAt(0).toUpperCase() + name.slice(1),
  description: `What ${name} means.`,
  numeric,
  pattern: ".+",
  hint: "a value",
  default: [],
  choices: [],
  grid: [],
  where: {},
  whole: null,
  of_copies: false,
  workload: false,
  implied: "",
});

const dataset = (name: string): DatasetRecord => ({
  name,
  version: 1,
  text: "",
  row_bytes: 1,
  max_rows: 1_000_000,
  axes: [],
  custom_file: null,
  divides: false,
});

const chart = (name: string, changes: Partial<Chart> = {}): Chart => ({
  metric: name,
  colour: "store",
  operations: [],
  panel: "operation",
  over: "",
  limit: "",
  since: "",
  beside: "",
  band: null,
  ...changes,
});

const store = (name: string, operations: string[], floor = false): StoreRecord => ({
  name,
  clients: ["reference"],
  operations,
  keeps_data: !floor,
  floor,
  server: null,
  product: null,
  elsewhere: [],
  filled_by: null,
  provisioned_servers_only: "",
  provisions: true,
  options: [],
});

const FIGURES_OF = ["only_s", "rows_per_s", "source_s"];

/** The study that Storebench grew from. */
export const BULK: Study = {
  name: "bulk_write_read",
  title: "Bulk write and read",
  description: "",
  method_version: 2,
  operations: [
    { name: "write", metrics: FIGURES_OF, needs: [], where: {} },
    { name: "read", metrics: FIGURES_OF, needs: ["write"], where: {} },
  ],
  metrics: [
    metric("only_s", "time in the store's client", "s"),
    metric("rows_per_s", "dataset rows a second", "rows/s", { better: "higher" }),
    metric("source_s", "reading and parsing the CSV", "s", { better: "neither" }),
  ],
  common: COMMON,
  axes: [axis("batch", false), axis("executors", true)],
  stores: [
    ...["mongodb", "elasticsearch", "delta-rs", "delta-spark"].map((name) => store(name, ["write", "read"])),
    store("null", ["write", "read"], true),
  ],
  charts: ["only_s", "rows_per_s", "work_total_s", "all_memory_working_set_peak_bytes"].map((name) =>
    chart(name, { colour: "batch" }),
  ),
  tables: [],
  params: [],
  dataset: dataset(""),
  rows: 1000,
};
export const [WRITE, READ] = BULK.operations as [Operation, Operation];

/** A study that differs from the bulk study in everything: higher is better, an axis has words, and a metric is no number. */
export const TOY: Study = {
  name: "toy",
  title: "Toy",
  description: "Three operations",
  method_version: 1,
  operations: [
    { name: "fill", metrics: ["sums_per_s"], needs: [], where: {} },
    { name: "sum", metrics: ["sums_per_s", "latency_s"], needs: ["fill"], where: {} },
    { name: "shrink", metrics: ["saved_bytes", "files"], needs: ["fill"], where: {} },
  ],
  metrics: [
    metric("sums_per_s", "sums a second", "sums/s", { better: "higher" }),
    metric("saved_bytes", "space saved", "bytes", { better: "higher" }),
    metric("files", "files", "", { better: "neither" }),
    metric("latency_s", "latency", "s", { kind: "histogram" }),
  ],
  common: COMMON,
  axes: [axis("codec", false), axis("level", false)],
  stores: [store("abacus", ["fill", "sum", "shrink"])],
  charts: [
    chart("sums_per_s", { colour: "codec", panel: "level" }),
    chart("latency_s"),
    chart("saved_bytes", { operations: ["shrink"] }),
    chart("files", { colour: "codec" }),
  ],
  tables: [],
  params: [],
  dataset: dataset("numbers"),
  rows: 1000,
};
export const [FILL, SUM, SHRINK] = TOY.operations as [Operation, Operation, Operation];

export const CELL = {
  cell_key: "bulk_write_read/mongodb/reference/batch=10000/rows=2000/seed=7",
  study: "bulk_write_read",
  store: "mongodb",
  client: "reference",
  axes: { batch: "10000" } as Record<string, string>,
  rows: 2000,
  seed: 7,
};

/** An attempt without any figure: with a new figure, the attempts of the tests stay complete. */
const UNMEASURED = Object.fromEntries(
  Object.keys(api.components.schemas.Attempt.properties).map((name) => [name, null]),
) as unknown as Attempt;

export const ATTEMPT: Attempt = {
  ...UNMEASURED,
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
  perhaps_disturbed: null,
  not_judged: null,
  metric: "only_s",
  value: 1.5,
  unit: "s",
  metrics: { only_s: 1.5, rows_per_s: 2000 / 1.5, source_s: 0.5 },
  durability: "disk",
  durability_stated: "w=1, j=true",
  total_s: 3,
  work_total_s: 2,
  start_skew_s: null,
  figures_cover: "client",
  all_memory_working_set_peak_bytes: 200 * 2 ** 20,
  all_cpu_s: 1,
  client_cpu_share: 0.5,
  client_cores_usable: 1,
  client_bound: false,
  service_cpu_share: null,
  service_cores_usable: null,
  service_bound: null,
  node_cpu_some_share: 0.1,
  node_memory_some_share: 0,
  node_memory_full_share: 0,
  node_io_some_share: 0,
  node_io_full_share: 0,
  node_steal_share: 0,
  node_others_cores: 0.2,
  node_strangers_cores: 0.2,
  server_name: "FerretDB",
  server_version: "v2.7.0",
  environment_hash: "0123456789abcdef",
  machine: { cpus: 2, cpu_model: "Example 9", memory_gib: 24 },
  parameters_hash: "p1",
  parameters: { pod_cpu: "500m", cpu_limit: false, pod_memory: "8Gi" },
  method_version: 2,
  code_version: "0.1.0",
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
  value: null,
  metrics: {},
  durability: null,
  durability_stated: null,
  total_s: null,
  work_total_s: null,
  figures_cover: null,
  all_memory_working_set_peak_bytes: null,
  all_cpu_s: null,
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

/** The figures of an attempt that is service-bound. */
export const SERVED = { service_cpu_share: 0.95, service_cores_usable: 1, service_bound: true };

/** An attempt that did not begin. */
export const NOT_RUN: Attempt = {
  ...FAILED,
  status: "not_run",
  error_kind: "not_run",
  error: "Its write failed: oom_killed",
};

/** Return an attempt of the toy study with this operation, figure and axes. */
export function toy(
  operation: string,
  value: number | null,
  axes: Record<string, string> = { codec: "none", level: "2" },
  changes: Partial<Attempt> = {},
): Attempt {
  const ranked = TOY.operations.find((one) => one.name === operation)?.metrics[0] ?? "";
  return {
    ...ATTEMPT,
    cell_key: `toy/abacus/hand/${Object.entries(axes).map((one) => one.join("="))}`,
    study: "toy",
    store: "abacus",
    client: "hand",
    axes,
    run_id: "toy/one",
    operation,
    metric: ranked,
    value,
    unit: metricNamed(TOY, ranked)?.unit ?? null,
    metrics: value === null ? {} : { [ranked]: value },
    ...changes,
  };
}

export const RUN: Run = {
  id: ATTEMPT.run_id,
  study: "bulk_write_read",
  dag_id: "bulk_write_read",
  airflow_run_id: ATTEMPT.run,
  state: "success",
  reason: null,
  started_at: "2026-11-22T11:59:00Z",
  finished_at: "2026-11-22T12:01:00Z",
  rested_s: 0,
  method_version: 2,
  code_version: "0.1.0",
  order_seed: 1,
  params: {},
  tags: [],
  stores: ["mongodb"],
  rows: 2000,
  seed: 7,
  cells: 1,
  cell_key: ATTEMPT.cell_key,
  expected_s: null,
  expected_most_s: null,
  planned: 2,
  verified: 2,
  disturbed: 0,
  failed: 0,
  not_run: 0,
  to_close: false,
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

/** Fields of a verdict: an unknown origin of the figures, and the units of both sides. */
export const NO_ORIGIN: Origin = { servers: [], durability: [], machines: [], code_versions: [], dates: [] };
export const ORIGINS = { origin_before: NO_ORIGIN, origin_after: NO_ORIGIN, cell_key_after: null };
export const UNITS = {
  ...{ better: "lower" as const, noise: null, p: null, why: null },
  ...{ units_before: 3, units_after: 3, units_needed: null },
};

export const spread = (median: number): Spread => ({
  n: 1,
  median,
  interval_low: null,
  interval_high: null,
  interval_coverage: null,
});

/** Return a cell with one attempt, whether it counts or not. */
export function cellOf(attempt: Attempt): CellFigures {
  const { cell_key, study, store, client, axes, rows, seed, operation } = attempt;
  return {
    ...{ cell_key, study, store, client, axes, rows, seed, operation },
    attempts: [attempt],
    figures: {},
    used: null,
  };
}

/** Return a cell with one counted attempt. */
export function measured(attempt: Attempt): CellFigures {
  const common = COMMON.map(({ name }) => [name, (attempt as Record<string, unknown>)[name]]);
  const found = [...Object.entries(attempt.metrics), ...common].filter(([, value]) => value !== null);
  return {
    ...cellOf(attempt),
    figures: Object.fromEntries(found.map(([name, value]) => [name, spread(value as number)])),
  };
}

export const FIGURES: CellFigures = { ...measured(ATTEMPT), attempts: [ATTEMPT, FAILED] };

/** A choice that hides nothing and ignores changes. */
export const NO_CHOICE: Choice = { asked: new URLSearchParams(), choose: () => {} };

/** Unfold the details, whose content is rendered only then. */
export function unfold(): void {
  for (const one of document.querySelectorAll("details")) {
    one.open = true;
    fireEvent(one, new Event("toggle"));
  }
}

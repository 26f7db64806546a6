import {
  batchLabel,
  batchText,
  byBatch,
  datasetSuffix,
  digits,
  mebibytes,
  rate,
  remark,
  type Soundness,
  seconds,
  soundness,
} from "./format";
import type { Attempt, CellFigures, CellName, CellPhases, Compared, Operation, Price, Spread } from "./types";

type Cover = Attempt["figures_cover"];

/** One of the study's figures, and how charts name and write it. */
export interface Metric {
  name: "only_s" | "rows_per_s" | "total_s" | "memory_bytes" | "cost_per_gb";
  /** Only of cells whose figures are of this: a client's memory and an engine's are not alike. */
  cover?: Cover;
  title: string;
  axis: string;
  scale: number;
  better: "lower" | "higher";
  /** A figure in its own unit, before `scale`. */
  text: (value: number) => string;
  /** An attempt's own figure; without it the chart has none but the cells'. */
  of?: (attempt: Attempt) => number | null;
}

const SECONDS = { axis: "seconds", scale: 1, better: "lower", text: seconds } as const;
const MEMORY = {
  name: "memory_bytes",
  scale: 2 ** 20,
  better: "lower",
  text: mebibytes,
  of: (attempt: Attempt) => attempt.all_memory_working_set_peak_bytes,
} as const;

export const METRICS: Metric[] = [
  { ...SECONDS, name: "only_s", title: "time in the store's client", of: (attempt) => attempt.only_s },
  {
    name: "rows_per_s",
    title: "dataset rows a second",
    axis: "dataset rows a second, in the store's client",
    scale: 1,
    better: "higher",
    text: rate,
    of: (attempt) => attempt.rows_per_s,
  },
  { ...SECONDS, name: "total_s", title: "total pod time", of: (attempt) => attempt.total_s },
  {
    ...MEMORY,
    cover: "client",
    title: "memory of the client (its server is not in it)",
    axis: "MiB, peak working set of the client",
  },
  {
    ...MEMORY,
    cover: "engine",
    title: "memory of the engine and its executors",
    axis: "MiB, peak working set, with executors",
  },
  {
    ...MEMORY,
    cover: null,
    title: "memory, not recorded whether of a client or an engine",
    axis: "MiB, peak working set, with executors",
  },
];

const COST_OF: [Cover, string][] = [
  ["client", "cost of the client (its server is not in it)"],
  ["engine", "cost of the engine and its executors"],
  [null, "cost, not recorded whether of a client or an engine"],
];

/** What a verified GB cost, in this currency. */
export function costMetrics(currency: string): Metric[] {
  return COST_OF.map(([cover, title]) => ({
    name: "cost_per_gb",
    cover,
    title,
    axis: `${currency} for each GB (10⁹ bytes) of CSV`,
    scale: 1,
    better: "lower",
    text: (value) => `${digits(value, 3)} ${currency}`,
  }));
}

/** A cell's figures with what it cost. */
export type Figures = CellFigures & { cost_per_gb?: Spread | null };

/** The cells with their prices. */
export function priced(cells: CellFigures[], prices: Price[]): Figures[] {
  const key = (one: CellName & { operation: Operation }) => `${one.cell_key}\n${one.operation}`;
  const found = new Map(prices.map((price) => [key(price), price]));
  return cells.map((cell) => {
    const price = found.get(key(cell));
    if (!price || price.cost_per_gb === null) return { ...cell, cost_per_gb: null };
    const spread = { n: price.n, median: price.cost_per_gb, low: null, high: null, coverage: null };
    return { ...cell, cost_per_gb: spread };
  });
}

export function chartTitle(operation: Operation, metric: Metric): string {
  const only = metric.name === "only_s" ? `${operation}-only time` : `${operation}: ${metric.title}`;
  return only.charAt(0).toUpperCase() + only.slice(1);
}

/** Store and client, and its executors: what has a line of its own. */
function series(cell: CellName): string {
  const executors = cell.executors === null ? "" : `, ${cell.executors} exec.`;
  return `${cell.store} ${cell.client}${executors}`;
}

/** An attempt in a chart. */
export interface Dot {
  repeat: number;
  value: number | null;
  state: Soundness;
  remark: string;
}

/** A cell in a chart: its median in the chart's unit, null where no attempt counts, and its attempts. */
export interface Bar {
  cell: Figures;
  spread: Spread | null;
  dots: Dot[];
}

/** What stands beside one name. */
export interface Line {
  name: string;
  bars: Bar[];
}

export interface ChartData {
  lines: Line[];
  /** In what else the cells differ. */
  note: string | null;
}

/** What a cell's figures are of. An attempt that came to no figure does not say it: others of its store do. */
function coverOf(cell: CellFigures, cells: CellFigures[]): Cover {
  const alike = [cell, ...cells.filter((other) => other.store === cell.store)];
  return alike.flatMap((one) => one.attempts).find((attempt) => attempt.figures_cover)?.figures_cover ?? null;
}

/** Which of these writes were promised another durability than others, or which of these reads deliver something else; null where all are alike. */
export function mixed(operation: Operation, attempts: Attempt[]): string | null {
  const kindOf = (one: Attempt) => (operation === "write" ? one.durability : one.delivers);
  const known = attempts.filter(kindOf);
  const kinds = [...new Set(known.map(kindOf))];
  if (kinds.length < 2) return null;
  // a store whose clients are all alike needs only its own name
  const name = (one: Attempt) =>
    known.some((other) => other.store === one.store && kindOf(other) !== kindOf(one))
      ? `${one.store} ${one.client}`
      : one.store;
  const parts = kinds.map((kind) => {
    const names = new Set(known.filter((one) => kindOf(one) === kind).map(name));
    return `${kind} (${[...names].join(", ")})`;
  });
  const what = operation === "write" ? "Writes differ in durability" : "Reads deliver different things";
  return `${what}: ${parts.join(", ")}.`;
}

/** What one chart has of these cells, in their order. `shown` leaves out what is hidden. */
export function chartData(
  cells: Figures[],
  operation: Operation,
  metric: Metric,
  shown: (cell: CellName) => boolean = () => true,
): ChartData {
  const suffix = datasetSuffix(cells);
  const chosen = cells.filter(
    (cell) =>
      cell.operation === operation &&
      (metric.cover === undefined || coverOf(cell, cells) === metric.cover) &&
      shown(cell),
  );
  const found = new Map<string, Bar[]>();
  for (const cell of chosen) {
    const name = series(cell) + suffix(cell);
    found.set(name, [...(found.get(name) ?? []), barOf(cell, metric)]);
  }
  const bySize = (one: Bar, other: Bar) => byBatch(one.cell.batch_size, other.cell.batch_size);
  const note = mixed(
    operation,
    chosen.flatMap((cell) => cell.attempts),
  );
  return { lines: [...found].map(([name, bars]) => ({ name, bars: bars.sort(bySize) })), note };
}

function barOf(cell: Figures, metric: Metric): Bar {
  const scaled = (value: number | null | undefined) => (value == null ? null : value / metric.scale);
  const spread = cell[metric.name];
  const { of } = metric;
  return {
    cell,
    spread: spread
      ? {
          ...spread,
          median: spread.median / metric.scale,
          low: scaled(spread.low),
          high: scaled(spread.high),
        }
      : null,
    dots: of
      ? cell.attempts.map((attempt) => ({
          repeat: attempt.repeat,
          value: scaled(of(attempt)),
          state: soundness(attempt),
          remark: remark(attempt),
        }))
      : [],
  };
}

/** What names a cell in what is taken away: the run and the dataset, too. */
export function named(cell: CellName, run: string) {
  const { store, client, executors, batch_size, rows, seed } = cell;
  return { store, client, executors, batch_size, rows, seed, run };
}

/** A chart's figures, as they are taken away. */
export function chartRows(data: ChartData, metric: Metric): Record<string, unknown>[] {
  return data.lines
    .flatMap((line) => line.bars)
    .flatMap(({ cell, spread }) =>
      spread ? [{ ...named(cell, cell.attempts[0]?.run_id ?? ""), ...spread, unit: metric.axis }] : [],
    );
}

/** The batch sizes of these cells, by size. */
export function batchesOf(cells: CellName[]): (string | null)[] {
  return [...new Set(cells.map((cell) => cell.batch_size))].sort(byBatch);
}

/** The name of a bar's colour. */
export const batchOf = (bar: Bar) => batchLabel(bar.cell.batch_size);

/** What marks a name whose attempt is not sound. */
export const SIGNS: Record<Soundness, string> = {
  verified: "✓",
  "client-bound": "▲",
  disturbed: "◆",
  failed: "✕",
  stopped: "■",
  "not run": "○",
  superseded: "↺",
};

/** A cell's name in a chart, short. */
function chartLabel(cell: CellName): string {
  return `${series(cell)}, ${batchText(cell.batch_size)}`;
}

/** The same, with the mark of what is not sound. */
export function phasesLabel(cell: CellPhases, suffix = ""): string {
  const state = soundness(cell.attempt);
  return `${state === "verified" ? "" : `${SIGNS[state]} `}${chartLabel(cell)}${suffix}`;
}

/** What was compared, and that it was not sound where it was not. */
export function comparedLabel(one: Compared, suffix = ""): string {
  return `${one.remarks.length ? "▲ " : ""}${one.operation} ${chartLabel(one)}${suffix}`;
}

/** An attempt; without a figure it is drawn `at` 0. */
export interface HistoryRow {
  recorded_at: string;
  recorded: string;
  seconds: number | null;
  at: number;
  environment: string;
  state: string;
  remark: string;
  run: string;
}

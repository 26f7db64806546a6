import { batchLabel, batchText, byBatch, remark, type Soundness, soundness } from "./format";
import type { Attempt, CellFigures, CellName, CellPhases, Compared, Operation, Spread } from "./types";

type Cover = Attempt["figures_cover"];

/** One of the study's figures, and how charts name it. */
export interface Metric {
  name: "only_s" | "total_s" | "memory_bytes";
  /** Only of cells whose figures are of this: a client's memory and an engine's are not alike. */
  cover?: Cover;
  title: string;
  axis: string;
  scale: number;
}

export const METRICS: Metric[] = [
  { name: "only_s", title: "time in the store's client", axis: "seconds", scale: 1 },
  { name: "total_s", title: "total pod time", axis: "seconds", scale: 1 },
  {
    name: "memory_bytes",
    cover: "client",
    title: "memory of the client (its server is not in it)",
    axis: "MiB, peak working set of the client",
    scale: 2 ** 20,
  },
  {
    name: "memory_bytes",
    cover: "engine",
    title: "memory of the engine and its executors",
    axis: "MiB, peak working set, with executors",
    scale: 2 ** 20,
  },
  {
    name: "memory_bytes",
    cover: null,
    title: "memory, not recorded whether of a client or an engine",
    axis: "MiB, peak working set, with executors",
    scale: 2 ** 20,
  },
];

export function chartTitle(operation: Operation, metric: Metric): string {
  const only = metric.name === "only_s" ? `${operation}-only time` : `${operation}: ${metric.title}`;
  return only.charAt(0).toUpperCase() + only.slice(1);
}

/** Store and client, and its executors: what has a line of its own. */
function series(cell: CellName): string {
  const executors = cell.executors === null ? "" : `, ${cell.executors} exec.`;
  return `${cell.store} ${cell.client}${executors}`;
}

export interface ChartData {
  /** Their labels, by size. */
  batches: string[];
  medians: Record<string, unknown>[];
  dots: Record<string, unknown>[];
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

/** The rows of one chart: a median for each cell with attempts that count, a mark for each attempt, at 0 if it has no figure. */
export function chartData(cells: CellFigures[], operation: Operation, metric: Metric): ChartData {
  const chosen = cells.filter(
    (cell) =>
      cell.operation === operation && (metric.cover === undefined || coverOf(cell, cells) === metric.cover),
  );
  const name = (cell: CellFigures) => ({ series: series(cell), batch: batchLabel(cell.batch_size) });
  const medians = chosen.flatMap((cell) => {
    const spread: Spread | null = cell[metric.name];
    if (!spread) return [];
    return [
      {
        ...name(cell),
        n: spread.n,
        median: spread.median / metric.scale,
        low: spread.low === null ? null : spread.low / metric.scale,
        high: spread.high === null ? null : spread.high / metric.scale,
        coverage: spread.coverage,
      },
    ];
  });
  const dots = chosen.flatMap((cell) =>
    cell.attempts.map((attempt) => {
      const value =
        metric.name === "memory_bytes" ? attempt.all_memory_working_set_peak_bytes : attempt[metric.name];
      return {
        ...name(cell),
        repeat: attempt.repeat,
        value: value === null ? null : value / metric.scale,
        at: (value ?? 0) / metric.scale,
        state: soundness(attempt),
        remark: remark(attempt),
      };
    }),
  );
  const sizes = [...new Set(chosen.map((cell) => cell.batch_size))].sort(byBatch);
  const note = mixed(
    operation,
    chosen.flatMap((cell) => cell.attempts),
  );
  return { batches: sizes.map(batchLabel), medians, dots, note };
}

const SIGNS: Record<Soundness, string> = {
  verified: "",
  "client-bound": "▲ ",
  disturbed: "◆ ",
  failed: "✕ ",
  "not run": "✕ ",
};

/** A cell's name in a chart, short. */
function chartLabel(cell: CellName): string {
  return `${series(cell)}, ${batchText(cell.batch_size)}`;
}

/** The same, with the mark of what is not sound. */
export function phasesLabel(cell: CellPhases): string {
  return `${SIGNS[soundness(cell.attempt)]}${chartLabel(cell)}`;
}

/** What was compared, and that it was not sound where it was not. */
export function comparedLabel(one: Compared): string {
  return `${one.remarks.length ? "▲ " : ""}${one.operation} ${chartLabel(one)}`;
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

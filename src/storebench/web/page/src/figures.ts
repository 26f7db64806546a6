import { batchLabel, batchText, byBatch, remark, soundness } from "./format";
import type { CellFigures, CellName, CellPhases, Compared, Operation, Spread } from "./types";

/** One of the study's figures, and how charts name it. */
export interface Metric {
  name: "only_s" | "total_s" | "memory_bytes";
  title: string;
  axis: string;
  scale: number;
}

export const METRICS: Metric[] = [
  { name: "only_s", title: "time in the store's client", axis: "seconds", scale: 1 },
  { name: "total_s", title: "total pod time", axis: "seconds", scale: 1 },
  {
    name: "memory_bytes",
    title: "memory",
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
}

/** The rows of one chart: a median for each cell with verified attempts, a mark for each attempt, at 0 if it has no figure. */
export function chartData(cells: CellFigures[], operation: Operation, metric: Metric): ChartData {
  const chosen = cells.filter((cell) => cell.operation === operation);
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
  return { batches: sizes.map(batchLabel), medians, dots };
}

/** A cell's name in a chart, short. */
function chartLabel(cell: CellName): string {
  return `${series(cell)}, ${batchText(cell.batch_size)}`;
}

/** The same, with the mark of what is not sound. */
export function phasesLabel(cell: CellPhases): string {
  const mark = { verified: "", "client-bound": "▲ ", failed: "✕ ", "not run": "✕ " }[soundness(cell.attempt)];
  return `${mark}${chartLabel(cell)}`;
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

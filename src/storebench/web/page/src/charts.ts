import type { TopLevelSpec } from "vega-lite";
import { batchLabel, byBatch, cellLabel, remark } from "./format";
import type { CellFigures, CellPhases, Operation, Spread } from "./types";

/** Okabe and Ito's colours, which colour-blind people can tell apart; black and yellow, which a theme would swallow, left out. */
export const COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#8C8C8C"];
/** In their order, from the pod's creation to its end; the operation stands out. */
export const PHASES: Record<string, string> = {
  queued: "#B9C4CC",
  scheduled: "#8FA3B0",
  image_pulled: "#6B8494",
  container_started: "#4A6475",
  interpreter_and_imports: "#A88BC2",
  connect: "#7B5BA6",
  prepare: "#CC79A7",
  source: "#56B4E9",
  operation: "#D55E00",
  barrier: "#E69F00",
  verify: "#009E73",
  teardown: "#8C8C8C",
};

export interface Theme {
  text: string;
  grid: string;
}

export interface Metric {
  name: "only_s" | "total_s" | "memory_bytes";
  title: string;
  axis: string;
  scale: number;
}

export const METRICS: Metric[] = [
  { name: "only_s", title: "time in the store's client", axis: "seconds", scale: 1 },
  { name: "total_s", title: "total time of the pod", axis: "seconds", scale: 1 },
  {
    name: "memory_bytes",
    title: "memory (peak working set, executors included)",
    axis: "MiB",
    scale: 2 ** 20,
  },
];

export function chartTitle(operation: Operation, metric: Metric): string {
  const only = metric.name === "only_s" ? `${operation}-only time` : `${operation}: ${metric.title}`;
  return only.charAt(0).toUpperCase() + only.slice(1);
}

/** Store and client, and its executors: what has a colour. */
export function series(cell: CellFigures | CellPhases): string {
  const executors = cell.executors === null ? "" : `, ${cell.executors} exec.`;
  return `${cell.store} ${cell.client}${executors}`;
}

export interface ChartData {
  /** Their labels, by size. */
  batches: string[];
  medians: Record<string, unknown>[];
  dots: Record<string, unknown>[];
}

/** The rows of one chart: a median for each cell with verified attempts, a dot for each attempt that has the figure. */
export function chartData(cells: CellFigures[], operation: Operation, metric: Metric): ChartData {
  const chosen = cells.filter((cell) => cell.operation === operation);
  const medians = chosen.flatMap((cell) => {
    const spread: Spread | null = cell[metric.name];
    if (!spread) return [];
    return [
      {
        series: series(cell),
        batch: batchLabel(cell.batch_size),
        n: spread.n,
        median: spread.median / metric.scale,
        low: spread.low === null ? null : spread.low / metric.scale,
        high: spread.high === null ? null : spread.high / metric.scale,
      },
    ];
  });
  const dots = chosen.flatMap((cell) =>
    cell.attempts.flatMap((attempt) => {
      const value =
        metric.name === "memory_bytes" ? attempt.all_memory_working_set_peak_bytes : attempt[metric.name];
      if (value === null) return [];
      return [
        {
          series: series(cell),
          batch: batchLabel(cell.batch_size),
          repeat: attempt.repeat,
          value: value / metric.scale,
          state: remark(attempt).split(":")[0],
          remark: remark(attempt),
        },
      ];
    }),
  );
  const sizes = [...new Set(chosen.map((cell) => cell.batch_size))].sort(byBatch);
  return { batches: sizes.map(batchLabel), medians, dots };
}

function config(theme: Theme) {
  return {
    background: "transparent",
    view: { stroke: "transparent" },
    font: "system-ui, sans-serif",
    axis: {
      labelColor: theme.text,
      titleColor: theme.text,
      gridColor: theme.grid,
      domainColor: theme.grid,
      tickColor: theme.grid,
      labelFontSize: 12,
      titleFontSize: 12,
      titleFontWeight: "normal" as const,
      labelLimit: 260,
    },
    legend: {
      labelColor: theme.text,
      titleColor: theme.text,
      labelFontSize: 12,
      labelLimit: 260,
      symbolLimit: 40,
    },
    header: { labelColor: theme.text, titleColor: theme.text },
  };
}

/** Batch sizes along the foot, a colour for each store and client; bars are medians, lines their intervals, dots attempts. */
export function medianSpec(
  data: ChartData,
  metric: Metric,
  description: string,
  width: number,
  theme: Theme,
): TopLevelSpec {
  const batches = data.batches;
  const names = [...new Set(data.dots.map((row) => row.series as string))];
  const x = {
    field: "batch",
    type: "nominal" as const,
    sort: batches,
    title: "batch, rows",
    axis: { labelAngle: 0 },
  };
  const xOffset = { field: "series", sort: names };
  const colour = {
    field: "series",
    type: "nominal" as const,
    title: null,
    sort: names,
    scale: { domain: names, range: COLOURS },
  };
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    description,
    width,
    height: 240,
    config: config(theme),
    layer: [
      {
        data: { values: data.medians },
        mark: { type: "bar", opacity: 0.6 },
        encoding: {
          x,
          xOffset,
          y: { field: "median", type: "quantitative", title: metric.axis },
          color: { ...colour, legend: { orient: "bottom", columns: Math.max(1, Math.floor(width / 210)) } },
          tooltip: [
            { field: "series", title: "store" },
            { field: "batch" },
            { field: "n", title: "verified attempts" },
            { field: "median", format: ",.4~r", title: `median, ${metric.axis}` },
            { field: "low", format: ",.4~r", title: "95 % from" },
            { field: "high", format: ",.4~r", title: "to" },
          ],
        },
      },
      {
        data: { values: data.medians.filter((row) => row.low !== null) },
        mark: { type: "rule", strokeWidth: 2, color: theme.text },
        encoding: { x, xOffset, y: { field: "low", type: "quantitative" }, y2: { field: "high" } },
      },
      {
        data: { values: data.dots },
        mark: { type: "point", size: 36, strokeWidth: 1.5, color: theme.text },
        encoding: {
          x,
          xOffset,
          y: { field: "value", type: "quantitative" },
          shape: {
            field: "state",
            title: null,
            scale: {
              domain: ["verified", "client-bound", "failed"],
              range: ["circle", "triangle-up", "cross"],
            },
            legend: { orient: "top" },
          },
          tooltip: [
            { field: "series", title: "store" },
            { field: "batch" },
            { field: "repeat" },
            { field: "value", format: ",.4~r", title: metric.axis },
            { field: "remark" },
          ],
        },
      },
    ],
  };
}

/** A bar for each cell, made of the phases of its typical attempt. */
export function phasesSpec(
  cells: CellPhases[],
  description: string,
  width: number,
  theme: Theme,
): TopLevelSpec {
  const names = Object.keys(PHASES);
  const values = cells.flatMap((cell) =>
    Object.entries(cell.phases).map(([phase, value]) => ({
      cell: cellLabel(cell),
      phase,
      position: names.indexOf(phase),
      seconds: value,
    })),
  );
  const used = names.filter((name) => values.some((row) => row.phase === name && row.seconds > 0));
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    description,
    width,
    height: { step: 24 },
    config: config(theme),
    data: { values },
    mark: { type: "bar" },
    encoding: {
      y: { field: "cell", type: "nominal", title: null, sort: null },
      x: { field: "seconds", type: "quantitative", title: "seconds" },
      color: {
        field: "phase",
        type: "nominal",
        title: null,
        scale: { domain: used, range: used.map((name) => PHASES[name] as string) },
        legend: { orient: "bottom", columns: width < 420 ? 2 : 4 },
      },
      order: { field: "position" },
      tooltip: [{ field: "cell" }, { field: "phase" }, { field: "seconds", format: ",.4~r" }],
    },
  };
}

/** One cell's attempts, oldest first; a colour for each environment. */
export function historySpec(
  rows: { recorded_at: string; seconds: number; environment: string; remark: string; run: string }[],
  description: string,
  width: number,
  theme: Theme,
): TopLevelSpec {
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    description,
    width,
    height: 280,
    config: config(theme),
    data: { values: rows },
    mark: { type: "point", filled: true, size: 60 },
    encoding: {
      x: { field: "recorded_at", type: "temporal", title: "recorded" },
      y: { field: "seconds", type: "quantitative", title: "seconds", scale: { zero: true } },
      color: {
        field: "environment",
        type: "nominal",
        title: "environment",
        scale: { range: COLOURS },
        legend: { orient: "bottom" },
      },
      shape: { field: "remark", type: "nominal", title: null, legend: { orient: "top" } },
      tooltip: [
        { field: "recorded_at", type: "temporal", format: "%Y-%m-%d %H:%M" },
        { field: "seconds", format: ",.4~r" },
        { field: "run" },
        { field: "environment" },
        { field: "remark" },
      ],
    },
  };
}

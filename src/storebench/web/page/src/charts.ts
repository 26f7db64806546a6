import type { TopLevelSpec } from "vega-lite";
import { type ChartData, comparedLabel, type HistoryRow, type Metric, phasesLabel } from "./figures";
import { remark, type Soundness } from "./format";
import { type CellPhases, LABELS, type Verdict } from "./types";

/** Okabe and Ito's colours, which colour-blind people can tell apart; black and yellow, which a theme would swallow, left out. */
const COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#8C8C8C"];
/** In their order, from the pod's creation to its end; the operation stands out. */
const PHASES: Record<string, string> = {
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
/** What is between the named ones, and whatever a later version may name. */
const OTHER = "#DDDDDD";

export interface Theme {
  text: string;
  grid: string;
}

/** How an attempt is marked, in every chart. */
const MARKS: Record<Soundness, string> = {
  verified: "circle",
  "client-bound": "triangle-up",
  disturbed: "M0,-1.1L1.1,0L0,1.1L-1.1,0Z", // a diamond, as large as the others: Vega's own is small
  failed: "cross",
  "not run": "cross",
};

/** What all charts share; their width is that of the whole picture, labels included. */
function frame(description: string, width: number, theme: Theme) {
  // font and size are those of styles.css, too
  const words = { labelColor: theme.text, titleColor: theme.text, labelFontSize: 12, titleFontSize: 12 };
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    description,
    width,
    autosize: { type: "fit-x" as const, contains: "padding" as const },
    padding: 8,
    config: {
      mark: { aria: false }, // what is around it says what it shows, and has its figures as a table
      background: "transparent",
      view: { stroke: "transparent" },
      font: "Helvetica, Arial, sans-serif",
      axis: {
        ...words,
        gridColor: theme.grid,
        domainColor: theme.grid,
        tickColor: theme.grid,
        titleFontWeight: "normal" as const,
        labelLimit: width / 2,
      },
      axisQuantitative: { tickCount: Math.ceil(width / 100) },
      legend: {
        ...words,
        titleFontWeight: "normal" as const,
        labelLimit: width,
      },
    },
  };
}

/** Marks for the states that there are: a legend of others would be a riddle. */
function shape(rows: { state: string }[], theme: Theme) {
  const states = (Object.keys(MARKS) as Soundness[]).filter((state) =>
    rows.some((row) => row.state === state),
  );
  return {
    field: "state",
    type: "nominal" as const,
    title: null,
    scale: { domain: states, range: states.map((state) => MARKS[state]) },
    legend: { orient: "bottom" as const, direction: "horizontal" as const, symbolStrokeColor: theme.text },
  };
}

/** Below it names stand above their bars, not beside them. */
const NARROW = 520;
const NAME_HEIGHT = 18;

/** An axis of `count` names, in their order; each has a band of that many pixels, and all of them `height`. */
function lines(field: string, count: number, band: number, width: number) {
  const name = { field, type: "nominal" as const, title: null, sort: null };
  if (width >= NARROW)
    return { height: count * (band + 6), y: { ...name, scale: { paddingInner: 6 / (band + 6) } } };
  const step = band + NAME_HEIGHT;
  return {
    height: count * step - NAME_HEIGHT,
    y: {
      ...name,
      scale: { paddingInner: NAME_HEIGHT / step, paddingOuter: 0 },
      axis: {
        labelAlign: "left" as const,
        labelOffset: -(band + NAME_HEIGHT) / 2,
        labelPadding: 0,
        labelLimit: width - 16,
        ticks: false,
        domain: false,
      },
    },
  };
}

const quantity = (field: string, title: string) => ({ field, type: "quantitative" as const, title });
const figure = (field: string, title?: string) => ({ field, format: ",.4~r", ...(title ? { title } : {}) });

/** A line for each store and client, in it a bar for each batch size; bars are medians, rules their intervals, marks attempts. */
export function medianSpec(
  data: ChartData,
  metric: Metric,
  description: string,
  width: number,
  theme: Theme,
): TopLevelSpec {
  const names = [...new Set(data.dots.map((row) => row.series as string))];
  const { height, y: line } = lines("series", names.length, 15 * data.batches.length, width);
  const y = { ...line, sort: names };
  const yOffset = { field: "batch", sort: data.batches };
  return {
    ...frame(description, width, theme),
    height,
    layer: [
      {
        data: { values: data.medians },
        mark: { type: "bar", opacity: 0.7 },
        encoding: {
          y,
          yOffset,
          x: quantity("median", metric.axis),
          color: {
            field: "batch",
            type: "nominal",
            title: "batch, rows",
            sort: data.batches,
            scale: { domain: data.batches, range: COLOURS },
            legend: { orient: "top", columns: width < NARROW ? 2 : 6 },
          },
          tooltip: [
            { field: "series", title: "store" },
            { field: "batch" },
            { field: "n", title: "attempts in the median" },
            figure("median", `median, ${metric.axis}`),
            figure("low", "interval from"),
            figure("high", "to"),
            { field: "coverage", title: "its coverage", format: ".1%" },
          ],
        },
      },
      {
        data: { values: data.medians.filter((row) => row.low !== null) },
        mark: { type: "rule", strokeWidth: 2, color: theme.text },
        encoding: { y, yOffset, x: quantity("low", metric.axis), x2: { field: "high" } },
      },
      {
        data: { values: data.dots },
        mark: { type: "point", size: 30, strokeWidth: 1.5, color: theme.text },
        encoding: {
          y,
          yOffset,
          x: quantity("at", metric.axis),
          shape: shape(data.dots as { state: string }[], theme),
          tooltip: [
            { field: "series", title: "store" },
            { field: "batch" },
            { field: "repeat" },
            figure("value", metric.axis),
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
  const order = [...new Set([...Object.keys(PHASES), ...cells.flatMap((cell) => Object.keys(cell.phases))])];
  const values = cells.flatMap((cell) =>
    Object.entries(cell.phases).map(([phase, value]) => ({
      cell: phasesLabel(cell),
      phase,
      position: order.indexOf(phase),
      seconds: value,
      remark: remark(cell.attempt),
    })),
  );
  const { height, y } = lines("cell", cells.length, 18, width);
  const used = order.filter((name) => values.some((row) => row.phase === name && row.seconds > 0));
  return {
    ...frame(description, width, theme),
    height,
    data: { values },
    mark: { type: "bar" },
    encoding: {
      // those without any phase have a line, too
      y: { ...y, scale: { ...y.scale, domain: cells.map(phasesLabel) } },
      x: quantity("seconds", "seconds"),
      color: {
        field: "phase",
        type: "nominal",
        title: null,
        scale: { domain: used, range: used.map((name) => PHASES[name] ?? OTHER) },
        legend: {
          orient: "bottom",
          columns: width < NARROW ? 1 : 4,
          labelExpr: "replace(datum.label, /_/g, ' ')",
        },
      },
      order: { field: "position" },
      tooltip: [{ field: "cell" }, { field: "phase" }, figure("seconds"), { field: "remark" }],
    },
  };
}

/** One cell's attempts, oldest first; a colour for each environment. */
export function historySpec(
  rows: HistoryRow[],
  description: string,
  width: number,
  theme: Theme,
): TopLevelSpec {
  return {
    ...frame(description, width, theme),
    height: 280,
    data: { values: rows },
    mark: { type: "point", size: 60, strokeWidth: 2 },
    encoding: {
      x: {
        field: "recorded_at",
        type: "temporal",
        title: "recorded, UTC",
        scale: { type: "utc" },
        axis: { format: "%d %b %H:%M", tickCount: Math.ceil(width / 140), labelOverlap: true },
      },
      y: { ...quantity("at", "seconds"), scale: { zero: true }, axis: { tickCount: 6 } },
      color: {
        field: "environment",
        type: "nominal",
        title: "environment",
        scale: { range: COLOURS },
        legend: { orient: "top", columns: width < NARROW ? 2 : 6 },
      },
      shape: shape(rows, theme),
      tooltip: [
        { field: "recorded", title: "recorded, UTC" },
        figure("seconds"),
        { field: "run" },
        { field: "environment" },
        { field: "remark" },
      ],
    },
  };
}

/** A point for each cell that both runs have, B / A, with its interval; 1 is alike. */
export function ratiosSpec(
  verdicts: Verdict[],
  marginPercent: number,
  description: string,
  width: number,
  theme: Theme,
): TopLevelSpec {
  const values = verdicts.map((verdict) => ({ ...verdict, cell: comparedLabel(verdict) }));
  const margin = marginPercent / 100;
  const { height, y } = lines("cell", values.length, 18, width);
  const band = { low: 1 / (1 + margin), high: 1 + margin };
  // an interval of few repeats may be so wide that nothing else could be seen
  const domain = [
    Math.min(band.low, ...values.map((row) => Math.max(row.low ?? row.ratio, row.ratio / 2))),
    Math.max(band.high, ...values.map((row) => Math.min(row.high ?? row.ratio, row.ratio * 2))),
  ];
  const ratio = (field: string) => ({ ...quantity(field, "B / A"), scale: { zero: false, domain } });
  const color = {
    field: "label",
    type: "nominal" as const,
    title: "B is",
    scale: { domain: [...LABELS], range: ["#0072B2", "#D55E00", "#009E73", "#8C8C8C"] },
    legend: { orient: "top" as const, columns: width < NARROW ? 2 : 4 },
  };
  return {
    ...frame(description, width, theme),
    height,
    layer: [
      {
        data: { values: [band] },
        mark: { type: "rect", color: theme.grid, opacity: 0.4 },
        encoding: { x: ratio("low"), x2: { field: "high" } },
      },
      {
        data: { values: values.filter((row) => row.low !== null) },
        mark: { type: "rule", strokeWidth: 2, clip: true },
        encoding: { y, x: ratio("low"), x2: { field: "high" }, color },
      },
      {
        data: { values },
        mark: { type: "point", filled: true, size: 60, opacity: 1 },
        encoding: {
          y,
          x: ratio("ratio"),
          color,
          shape: {
            field: "label",
            type: "nominal",
            title: "B is",
            scale: { domain: [...LABELS], range: ["triangle-left", "triangle-right", "square", "circle"] },
          },
          tooltip: [
            { field: "cell" },
            figure("ratio", "B / A"),
            figure("low", "95 % from"),
            figure("high", "to"),
            { field: "label", title: "B is" },
            { field: "reason", title: "why" },
          ],
        },
      },
    ],
  };
}

/** A table as a picture: for those who save one. */
export function tableSpec(rows: Record<string, string>[], theme: Theme): TopLevelSpec {
  const headings = Object.keys(rows[0] ?? {});
  const lines = rows.map((row) => Object.values(row));
  const table = [headings, ...lines];
  const widths = headings.map((_, n) => 16 + 7 * Math.max(...table.map((line) => (line[n] ?? "").length)));
  const starts = widths.map((_, n) => widths.slice(0, n).reduce((sum, width) => sum + width, 8));
  const values = table.flatMap((line, row) => line.map((text, n) => ({ text, x: starts[n], y: row })));
  const width = widths.reduce((sum, one) => sum + one, 8);
  return {
    ...frame("", width, theme),
    autosize: "pad",
    height: 20 * table.length,
    data: { values },
    mark: {
      type: "text",
      align: "left",
      fontSize: 12,
      color: theme.text,
      fontWeight: { expr: "datum.y ? 'normal' : 'bold'" },
    },
    encoding: {
      x: { field: "x", type: "quantitative", axis: null, scale: { domain: [0, width] } },
      y: {
        field: "y",
        type: "quantitative",
        axis: null,
        scale: { domain: [table.length - 0.5, -0.5], nice: false },
      },
      text: { field: "text" },
    },
  };
}

import type { TopLevelSpec } from "vega-lite";
import type { Scale } from "./choice";
import { batchOf, type ChartData, type Metric } from "./figures";
import { batchLabel, datasetText, digits } from "./format";
import { colourOf, figure, frame, NAME_HEIGHT, NARROW, quantity, shape, type Theme } from "./frame";

/** What a chart of medians shows beside its data. */
export interface Shown {
  metric: Metric;
  scale: Scale;
  /** Of all cells, also of those that are hidden: each keeps its colour. */
  batches: (string | null)[];
  description: string;
}

const BAR = 16;
const GAP = 10;
/** About the width of a letter, pixels. */
const LETTER = 6.8;

/** How figures become places on the axis. */
interface Axis {
  title: string;
  type: "linear" | "log";
  /** Where a bar begins; null where no place is honest, and a dot is drawn. */
  zero: number | null;
  place: (value: number) => number;
  text: (value: number) => string;
}

/** The least, or where more is better the greatest, of those that are more than 0. */
function bestOf(values: number[], metric: Metric): number {
  const positive = values.filter((value) => value > 0);
  return metric.better === "lower" ? Math.min(...positive) : Math.max(...positive);
}

function axisOf({ metric, scale }: Shown, medians: number[]): Axis {
  const own = (value: number) => metric.text(value * metric.scale);
  const place = (value: number) => value;
  if (scale === "linear") return { title: metric.axis, type: "linear", zero: 0, place, text: own };
  if (scale === "logarithmic")
    return { title: `${metric.axis}, logarithmic`, type: "log", zero: null, place, text: own };
  const best = bestOf(medians, metric);
  const times = (value: number) => (metric.better === "lower" ? value / best : best / value);
  return {
    title: `times ${metric.better === "lower" ? "" : "below "}the best one shown, logarithmic`,
    type: "log",
    zero: 1,
    place: times,
    text: (value) => (value === best ? `best: ${own(value)}` : `${digits(times(value), 3)} ×`),
  };
}

/** A line for each store and client, in it a bar for each of its batch sizes; bars are medians, rules their intervals, marks attempts. */
export function medianSpec(
  data: ChartData,
  shown: Shown,
  width: number,
  theme: Theme,
  picture: boolean,
): TopLevelSpec {
  const { metric, batches, description } = shown;
  const medians = data.lines.flatMap((line) =>
    line.bars.flatMap((bar) => (bar.spread ? [bar.spread.median] : [])),
  );
  const axis = axisOf(shown, medians);
  const values = data.lines.flatMap((line) =>
    line.bars.flatMap((bar) => [
      ...(bar.spread ? [bar.spread.median, bar.spread.low, bar.spread.high] : []),
      ...bar.dots.map((dot) => dot.value),
    ]),
  );
  const places = values.flatMap((value) => (value && value > 0 ? [axis.place(value)] : []));
  const texts = medians.map(axis.text);
  const { domain, floor } = extent(axis, places, room(data, texts, width));
  // what has no figure, or none that the scale has a place for, is at its beginning
  const at = (value: number | null) => (value !== null && value > 0 ? axis.place(value) : floor);

  const names: Record<number, string> = {};
  const bars: Record<string, unknown>[] = [];
  const dots: (Record<string, unknown> & { state: string })[] = [];
  let top = 0;
  for (const line of data.lines) {
    const height = BAR * line.bars.length;
    if (width < NARROW) top += NAME_HEIGHT;
    names[width < NARROW ? top - NAME_HEIGHT / 2 : top + height / 2] = line.name;
    for (const bar of line.bars) {
      const { spread } = bar;
      const cell = { store: line.name, batch: batchOf(bar), dataset: datasetText(bar.cell) };
      const placed = bar.dots.map((dot) => ({ ...cell, ...dot, at: at(dot.value), middle: top + BAR / 2 }));
      dots.push(...placed);
      if (spread)
        bars.push({
          ...cell,
          ...spread,
          from: axis.zero ?? floor,
          to: at(spread.median),
          interval_from: spread.low === null ? null : at(spread.low),
          interval_to: at(spread.high),
          text: axis.text(spread.median),
          // beside all that is drawn of it
          text_at: Math.max(at(spread.median), at(spread.high), ...placed.map((dot) => dot.at)),
          top: top + 1,
          middle: top + BAR / 2,
          bottom: top + BAR - 1,
        });
      top += BAR;
    }
    top += GAP;
  }
  const height = Math.max(BAR, top - GAP);

  const x = (field: string) => ({
    ...quantity(field, axis.title),
    scale: { type: axis.type, domain, nice: false },
    axis: { format: ",.3~r", labelOverlap: "greedy" as const, labelSeparation: 10 },
  });
  const y = (field: string) => ({
    field,
    type: "quantitative" as const,
    title: null,
    scale: { domain: [0, height], reverse: true, nice: false, zero: false },
    axis: {
      values: Object.keys(names).map(Number),
      tickCount: Object.keys(names).length, // or Vega leaves some of them out
      labelExpr: `${JSON.stringify(names)}[datum.value]`,
      grid: false,
      ticks: false,
      domain: false,
      labelOverlap: false,
      ...(width < NARROW
        ? { labelAlign: "left" as const, labelPadding: 0, labelLimit: width - 16 }
        : { labelPadding: 6 }),
    },
  });
  const color = {
    field: "batch",
    type: "nominal" as const,
    title: "batch size",
    scale: { domain: batches.map(batchLabel), range: batches.map((_, place) => colourOf(theme, place)) },
    legend: picture
      ? { orient: "top" as const, columns: 6, values: [...new Set(bars.map((row) => row.batch))] }
      : null,
  };
  const tooltip = [
    { field: "store" },
    { field: "batch", title: "batch size" },
    { field: "dataset" },
    figure("median", `median, ${metric.axis}`),
    { field: "n", title: "attempts in the median" },
    figure("low", "interval from"),
    figure("high", "to"),
    { field: "coverage", title: "its coverage", format: ".1%" },
  ];
  return {
    ...frame(description, width, theme),
    height,
    layer: [
      axis.zero === null
        ? {
            data: { values: bars },
            mark: { type: "point", filled: true, size: 160, opacity: 1 },
            encoding: { x: x("to"), y: y("middle"), color, tooltip },
          }
        : {
            data: { values: bars },
            mark: { type: "rect", opacity: 0.8 },
            encoding: {
              x: x("from"),
              x2: { field: "to" },
              y: y("top"),
              y2: { field: "bottom" },
              color,
              tooltip,
            },
          },
      {
        data: { values: bars.filter((row) => row.interval_from !== null) },
        mark: { type: "rule", strokeWidth: 2, color: theme.text },
        encoding: { x: x("interval_from"), x2: { field: "interval_to" }, y: y("middle") },
      },
      {
        data: { values: dots },
        // within a dot, so that its colour can be seen
        mark: {
          type: "point",
          size: axis.zero === null ? 14 : 30,
          strokeWidth: axis.zero === null ? 1 : 1.5,
          color: theme.text,
        },
        encoding: {
          x: x("at"),
          y: y("middle"),
          shape: shape(dots, theme),
          tooltip: [
            { field: "store" },
            { field: "batch", title: "batch size" },
            { field: "dataset" },
            { field: "repeat" },
            figure("value", metric.axis),
            { field: "remark", title: "state" },
          ],
        },
      },
      {
        data: { values: bars },
        mark: { type: "text", align: "left", dx: 8, fontSize: 12, color: theme.text },
        encoding: { x: x("text_at"), y: y("middle"), text: { field: "text", type: "nominal" } },
      },
    ],
  };
}

/** By how much an axis must be longer than its figures, so that texts have room behind them. */
function room(data: ChartData, texts: string[], width: number): number {
  const longest = (lines: string[]) => LETTER * Math.max(0, ...lines.map((line) => line.length));
  const names = width < NARROW ? 0 : Math.min(width / 2, longest(data.lines.map((line) => line.name)));
  const plot = Math.max(80, width - names - 30);
  return plot / (plot - Math.min(0.6 * plot, longest(texts) + 16));
}

/** From where to where the axis goes. */
function extent(axis: Axis, places: number[], stretch: number): { domain: number[]; floor: number } {
  const most = Math.max(0, ...places);
  if (axis.type === "linear") return { domain: [0, most * stretch || 1], floor: 0 };
  const least = Math.min(axis.zero ?? Number.POSITIVE_INFINITY, ...places);
  const floor = Number.isFinite(least) ? (axis.zero === null ? least / 1.5 : least) : 1;
  return { domain: [floor, floor * Math.max(1.2, most / floor) ** stretch], floor };
}

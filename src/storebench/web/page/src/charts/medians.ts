import type { TopLevelSpec } from "vega-lite";
import { cellLabel, datasetText, type Places, titleOf } from "../model/cells";
import { nameOf, type Scale, valueLabel } from "../model/choice";
import { type Bar, barsOf, type ChartData, type Figure, type Line, mediansOf, runOf } from "../model/figures";
import { linkTargetOf } from "../model/lead";
import { digits } from "../model/units";
import { colourOf, type Theme } from "../ui/theme";
import { figure as exact, frame, NAME_HEIGHT, NARROW, quantity, shape, tens } from "./frame";

/** The settings of a chart of medians. */
export interface Shown {
  study: Places;
  figure: Figure;
  scale: Scale;
  /** The name that the colours distinguish: store, client, operation, or an axis. */
  colour: string;
  /** The values that have a colour each, including the values of hidden cells, so that each keeps its colour. */
  values: string[];
  description: string;
}

const BAR = 16;
const GAP = 10;
/** About the width of a letter, pixels. */
const LETTER = 6.8;

/** The mapping of figures to positions on the axis. */
interface Axis {
  title: string;
  type: "linear" | "log";
  /** The position where a bar begins; null on an axis without a meaningful zero, where dots are drawn. */
  zero: number | null;
  place: (value: number) => number;
  text: (value: number) => string;
}

/** The addition to the name of a floor's line. */
const LIMIT = "only the client";

/** Return the best positive value: the smallest, or if higher is better the largest. */
function bestOf(values: number[], { better }: Figure): number {
  const positive = values.filter((value) => value > 0);
  return better === "lower" ? Math.min(...positive) : Math.max(...positive);
}

/** Return the axis. `medians` are the compared medians; `all` also includes the floors' medians. */
function axisOf({ figure, scale }: Shown, medians: number[], all: number[]): Axis {
  const measured = (value: number) => value * figure.unit.scale;
  const { text } = figure.unit.compared(all.map(measured));
  const measuredText = (value: number) => text(measured(value));
  const place = (value: number) => value;
  if (scale === "linear") return { title: figure.axis, type: "linear", zero: 0, place, text: measuredText };
  if (scale === "logarithmic")
    return { title: `${figure.axis}, logarithmic`, type: "log", zero: null, place, text: measuredText };
  const best = bestOf(medians, figure);
  const times = (value: number) => (figure.better === "lower" ? value / best : best / value);
  return {
    title: `times ${figure.better === "lower" ? "" : "below "}the best one shown, logarithmic`,
    type: "log",
    zero: 1,
    place: times,
    text: (value) => (value === best ? `best: ${measuredText(value)}` : `${digits(times(value), 3)} ×`),
  };
}

/** Draw a line for each name, with a bar for each colour: bars are medians, rules are intervals, marks are attempts. Panels are stacked. */
export function medianSpec(
  data: ChartData,
  shown: Shown,
  width: number,
  theme: Theme,
  picture: boolean,
): TopLevelSpec {
  const { study, figure, colour, values, description } = shown;
  const medians = mediansOf(data);
  const all = [...medians, ...mediansOf(data, true)];
  const axis = axisOf(shown, medians, all);
  const drawn = barsOf(data).flatMap(({ spread, dots }) => [
    ...(spread ? [spread.median, spread.interval_low, spread.interval_high] : []),
    ...dots.map((dot) => dot.value),
  ]);
  const hasPlace = (value: number | null): value is number =>
    value !== null && (axis.type === "linear" || value > 0);
  const texts = all.map(axis.text);
  const { domain, floor } = extent(axis, drawn.filter(hasPlace).map(axis.place), room(data, texts, width));
  // a value that is absent, or not on the scale, is drawn at the axis's beginning
  const at = (value: number | null) => (hasPlace(value) ? axis.place(value) : floor);

  const { names, headings, places, limits, height } = arranged(data, width);
  const bars: (Record<string, unknown> & { limit: boolean })[] = [];
  const dots: (Record<string, unknown> & { state: string })[] = [];
  for (const [bar, top] of places) {
    const { cell, spread } = bar;
    const about = {
      cell: cellLabel(study, cell),
      dataset: datasetText(study, cell),
      colour: valueLabel(nameOf(cell, colour)),
    };
    const placed = bar.dots.map((dot) => ({
      ...about,
      ...dot,
      target: linkTargetOf({ ...cell, ...dot }),
      at: at(dot.value),
      middle: top + BAR / 2,
    }));
    dots.push(...placed);
    if (spread)
      bars.push({
        ...about,
        ...spread,
        target: linkTargetOf({ ...cell, ...runOf(cell) }),
        limit: limits.has(bar),
        from: axis.zero ?? floor,
        to: at(spread.median),
        interval_from: spread.interval_low === null ? null : at(spread.interval_low),
        interval_to: at(spread.interval_high),
        text: axis.text(spread.median),
        // to the right of all marks of the bar
        text_at: Math.max(floor, at(spread.median), at(spread.interval_high), ...placed.map((dot) => dot.at)),
        top: top + 1,
        middle: top + BAR / 2,
        bottom: top + BAR - 1,
        above: limits.get(bar) ?? null,
      });
  }

  const x = (field: string) => ({
    ...quantity(field, axis.title),
    scale: { type: axis.type, domain, nice: false },
    axis: {
      format: ",.3~r",
      labelOverlap: "greedy" as const,
      labelSeparation: 10,
      ...(axis.type === "log" ? tens(domain) : {}),
    },
  });
  const y = (field: string) => ({
    field,
    type: "quantitative" as const,
    title: null,
    scale: { domain: [0, height], reverse: true, nice: false, zero: false },
    axis: {
      values: Object.keys(names).map(Number),
      tickCount: Object.keys(names).length, // or Vega omits labels
      labelExpr: `${JSON.stringify(names)}[datum.value]`,
      labelFontWeight: {
        condition: {
          test: `indexof(${JSON.stringify(headings)}, datum.value) >= 0`,
          value: "bold" as const,
        },
        value: "normal" as const,
      },
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
    field: "colour",
    type: "nominal" as const,
    title: titleOf(study, colour),
    scale: { domain: values.map(valueLabel), range: values.map((_, place) => colourOf(theme, place)) },
    legend: picture
      ? { orient: "top" as const, columns: 6, values: [...new Set(bars.map((bar) => bar.colour))] }
      : null,
  };
  const compared = bars.filter((bar) => !bar.limit);
  const tooltip = [
    { field: "cell" },
    { field: "dataset" },
    exact("median", `median, ${figure.axis}`),
    { field: "n", title: "attempts in the median" },
    exact("interval_low", "interval from"),
    exact("interval_high", "to"),
    { field: "interval_coverage", title: "its coverage", format: ".1%" },
  ];
  return {
    ...frame(description, width, theme),
    height,
    layer: [
      axis.zero === null
        ? {
            data: { values: compared },
            mark: { type: "point", filled: true, size: 160, opacity: 1 },
            encoding: { x: x("to"), y: y("middle"), color, tooltip },
          }
        : {
            data: { values: compared },
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
        // a floor's line crosses all lines of its panel, down to its own line
        data: { values: bars.filter((bar) => bar.limit) },
        mark: { type: "rule", strokeWidth: 2, strokeDash: [6, 4] },
        encoding: { x: x("to"), y: y("above"), y2: { field: "bottom" }, color, tooltip },
      },
      {
        data: { values: bars.filter((bar) => bar.interval_from !== null) },
        mark: { type: "rule", strokeWidth: 2, color: theme.text },
        encoding: { x: x("interval_from"), x2: { field: "interval_to" }, y: y("middle") },
      },
      {
        data: { values: dots },
        // small marks within a dot, so that the dot's colour stays visible
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
            { field: "cell" },
            { field: "dataset" },
            { field: "repeat" },
            exact("value", figure.axis),
            { field: "remark", title: "state" },
          ],
        },
      },
      {
        data: { values: bars },
        mark: { type: "text", align: "left", dx: 8, fontSize: 12, color: theme.text },
        encoding: { x: x("text_at"), y: y("middle"), text: { field: "text", type: "nominal" } },
      },
      ...(headings.length
        ? [
            {
              data: { values: headings.map((middle) => ({ above: middle - NAME_HEIGHT / 2 })) },
              mark: { type: "rule" as const, color: theme.grid, strokeWidth: 1 },
              encoding: { y: y("above") },
            },
          ]
        : []),
    ],
  };
}

/** Compute the vertical positions of names, panels' names and bars, from the top. */
function arranged(data: ChartData, width: number) {
  const names: Record<number, string> = {};
  const headings: number[] = [];
  const places: [Bar, number][] = [];
  /** The top of each floor's panel. */
  const limits = new Map<Bar, number>();
  let top = 0;
  for (const panel of data.panels) {
    const begin = top;
    if (panel.name) {
      headings.push(top + NAME_HEIGHT / 2);
      names[top + NAME_HEIGHT / 2] = panel.name;
      top += NAME_HEIGHT + GAP / 2;
    }
    for (const line of panel.lines) {
      const height = BAR * line.bars.length;
      if (width < NARROW) top += NAME_HEIGHT;
      names[width < NARROW ? top - NAME_HEIGHT / 2 : top + height / 2] = lineName(line);
      for (const bar of line.bars) {
        if (line.limit) limits.set(bar, begin);
        places.push([bar, top]);
        top += BAR;
      }
      top += GAP;
    }
  }
  return { names, headings, places, limits, height: Math.max(BAR, top - GAP) };
}

const lineName = ({ name, limit }: Line) => (limit ? `${name} (${LIMIT})` : name);

/** Return the factor by which an axis must exceed its figures, so that texts have room after the bars. */
function room(data: ChartData, texts: string[], width: number): number {
  const longest = (some: string[]) => LETTER * Math.max(0, ...some.map((text) => text.length));
  const named = data.panels.flatMap((panel) => [panel.name, ...panel.lines.map(lineName)]);
  const names = width < NARROW ? 0 : Math.min(width / 2, longest(named));
  const plot = Math.max(80, width - names - 30);
  return plot / (plot - Math.min(0.6 * plot, longest(texts) + 16));
}

/** Return the axis's domain, and the position of values that are not on the scale. */
function extent(axis: Axis, places: number[], stretch: number): { domain: number[]; floor: number } {
  const most = Math.max(0, ...places);
  if (axis.type === "linear") {
    const least = Math.min(0, ...places);
    return { domain: [least, least + (most - least) * stretch || 1], floor: 0 };
  }
  const least = Math.min(axis.zero ?? Number.POSITIVE_INFINITY, ...places);
  const floor = Number.isFinite(least) ? (axis.zero === null ? least / 1.5 : least) : 1;
  return { domain: [floor, floor * Math.max(1.2, most / floor) ** stretch], floor };
}

import type { TopLevelSpec } from "vega-lite";
import { cellLabel, datasetText, type Places } from "../model/cells";
import { nameOf, type Scale } from "../model/choice";
import { type Bar, barsOf, type ChartData, type Figure, mediansIn, runOf } from "../model/figures";
import { linkTargetOf } from "../model/lead";
import { axisTexts, compared, digits, figureIn } from "../model/units";
import type { Theme } from "../ui/theme";
import { arranged, LETTER } from "./arranged";
import { frame, labelled, niceTicks, quantity, shape, tens, ticked } from "./frame";

/** The settings of a chart of medians. */
export interface Shown {
  study: Places;
  figure: Figure;
  scale: Scale;
  /** The name that the colours distinguish: store, client, operation, or an axis. */
  colour: string;
  /** Returns the colour of a value of this name. */
  paint: (theme: Theme, value: string) => string;
  description: string;
}

/** The addition to the name of a floor. */
export const FLOOR = "floor";

/** The mapping of a panel's figures to positions on the axis. */
interface Axis {
  type: "linear" | "log";
  /** The position where a bar begins; null on an axis without a meaningful zero, where dots are drawn. */
  zero: number | null;
  place: (value: number) => number;
  text: (value: number) => string;
}

/** Return the best positive value: the smallest, or if higher is better the largest. */
function bestOf(values: number[], { better }: Pick<Figure, "better">): number {
  const positive = values.filter((value) => value > 0);
  return better === "lower" ? Math.min(...positive) : Math.max(...positive);
}

/** Return the axis of a panel. `all` are the medians of the chart, which share a unit. */
function axisOf({ figure, scale }: Shown, bars: Bar[], all: number[]): Axis {
  const { text } = compared(figure.unit, all);
  const same = { place: (value: number) => value, text };
  if (scale === "linear") return { type: "linear", zero: 0, ...same };
  if (scale === "logarithmic") return { type: "log", zero: null, ...same };
  const best = bestOf(mediansIn(bars), figure);
  const times = (value: number) => (figure.better === "lower" ? value / best : best / value);
  return {
    type: "log",
    zero: 1,
    place: times,
    text: (value) => (value === best ? `best: ${text(value)}` : `${digits(times(value), 3)} ×`),
  };
}

/** Return the ticks of the axis, their texts, and its title, which names the unit and a logarithmic scale. */
function ticksOf({ figure, scale }: Shown, domain: [number, number], width: number) {
  const [least, most] = domain;
  const count = Math.max(2, Math.floor(width / 110));
  if (scale === "best") {
    const what = figure.better === "lower" ? "relative to the best" : "times below the best";
    const values = tens(domain).values ?? [least, most];
    return { values, tick: (value: number) => `${digits(value, 3)} ×`, title: `${what}, logarithmic` };
  }
  const log = scale === "logarithmic";
  const values = log ? (tens(domain).values ?? [least, most]) : niceTicks(domain, count);
  const { unit, tick } = axisTexts(figure.unit, values);
  const title = [
    [unit, figure.addition].filter(Boolean).join(", ") || figure.title,
    log ? "logarithmic" : "",
  ];
  return { values, tick, title: title.filter(Boolean).join(", ") };
}

/** A bar with the axis of its panel. */
interface Placed {
  bar: Bar;
  axis: Axis;
  best: boolean;
}

/** Draw a bar for each cell, with its name and its median: bars are medians, rules are intervals, marks are attempts. Panels are stacked. */
export function medianSpec(data: ChartData, shown: Shown, width: number, theme: Theme): TopLevelSpec {
  const { study, figure, colour, paint, description, scale } = shown;
  const all = [false, true].flatMap((limit) => mediansIn(barsOf(data), limit));
  const panels = data.panels.map(({ name, bars }) => {
    const axis = axisOf(shown, bars, all);
    const best = bestOf(mediansIn(bars), figure);
    const placed = bars.map((bar): { bar: Placed; name: string } => ({
      bar: { bar, axis, best: figure.better !== "neither" && !bar.limit && bar.spread?.median === best },
      name: bar.limit ? `${bar.name} (${FLOOR})` : bar.name,
    }));
    return { name, bars: placed };
  });
  const layout = arranged(panels, width);
  const isLog = scale !== "linear";
  const zero = { linear: 0, best: 1, logarithmic: null }[scale];
  const hasPlace = (value: number | null): value is number => value !== null && (!isLog || value > 0);
  const drawn = layout.places.flatMap(({ bar: { bar, axis } }) =>
    [bar.spread?.median ?? null, bar.spread?.interval_low ?? null, bar.spread?.interval_high ?? null]
      .concat(bar.dots.map((dot) => dot.value))
      .filter(hasPlace)
      .map(axis.place),
  );
  const texts = layout.places.flatMap(({ bar: { bar, axis } }) =>
    bar.spread ? [axis.text(bar.spread.median)] : [],
  );
  const { domain, floor } = extent(isLog, zero, drawn, room(texts, layout.plot));
  // a value that is absent, or not on the scale, is drawn at the axis's beginning
  const at = (axis: Axis, value: number | null) => (hasPlace(value) ? axis.place(value) : floor);

  const bars: (Record<string, unknown> & { limit: boolean })[] = [];
  const dots: (Record<string, unknown> & { state: string })[] = [];
  const floors: Record<string, unknown>[] = [];
  for (const { bar: placed, top, bottom, bands } of layout.places) {
    const { bar, axis, best } = placed;
    const { cell, spread, limit } = bar;
    const middle = (top + bottom) / 2;
    const about = {
      cell: cellLabel(study, cell),
      dataset: datasetText(study, cell),
      paint: paint(theme, nameOf(cell, colour)),
    };
    const marks = bar.dots.map((dot) => ({
      ...about,
      ...dot,
      said: figureIn(figure.unit, dot.value),
      target: linkTargetOf({ ...cell, ...dot }),
      at: at(axis, dot.value),
      middle,
    }));
    // the mark of a single verified attempt would only repeat its bar
    dots.push(...marks.filter((mark) => marks.length > 1 || mark.state !== "verified"));
    if (!spread) continue;
    const exact = (value: number | null) => (value === null ? null : figureIn(figure.unit, value));
    const said = {
      ...about,
      median: exact(spread.median),
      n: spread.n,
      interval_low: exact(spread.interval_low),
      interval_high: exact(spread.interval_high),
      interval_coverage: spread.interval_coverage,
      target: linkTargetOf({ ...cell, ...runOf(cell) }),
      to: at(axis, spread.median),
    };
    if (limit) floors.push(...bands.map((band) => ({ ...said, ...band })));
    bars.push({
      ...said,
      limit,
      best,
      single: spread.n === 1,
      origin: zero ?? floor,
      interval_from: spread.interval_low === null ? null : at(axis, spread.interval_low),
      interval_to: at(axis, spread.interval_high),
      text: axis.text(spread.median),
      // to the right of all marks of the bar
      text_at: Math.max(floor, said.to, at(axis, spread.interval_high), ...marks.map((mark) => mark.at)),
      top: top + 1,
      middle,
      bottom: bottom - 1,
    });
  }

  const ticks = ticksOf(shown, domain, layout.plot);
  const x = (field: string) => ({
    ...quantity(field, ticks.title),
    scale: { type: isLog ? ("log" as const) : ("linear" as const), domain, nice: false },
    axis: {
      ...ticked(ticks.values, ticks.tick),
      labelOverlap: "greedy" as const,
      labelSeparation: 10,
      grid: false, // the lines are drawn by the bars, so that none crosses a name
    },
  });
  const y = (field: string) => ({
    field,
    type: "quantitative" as const,
    title: null,
    scale: { domain: [0, layout.height], reverse: true, nice: false, zero: false },
    axis: layout.beside
      ? {
          values: layout.names.map(({ middle }) => middle),
          tickCount: layout.names.length, // or Vega omits labels
          labelExpr: labelled(layout.names.map(({ middle, text }) => [middle, text])),
          grid: false,
          ticks: false,
          domain: false,
          labelOverlap: false,
          labelLimit: width,
          labelPadding: 6,
        }
      : null,
  });
  const painted = { field: "paint", type: "nominal" as const, scale: null };
  const tooltip = [
    { field: "cell" },
    { field: "dataset" },
    { field: "median" },
    { field: "n", title: "attempts in the median" },
    { field: "interval_low", title: "interval from" },
    { field: "interval_high", title: "to" },
    { field: "interval_coverage", title: "its coverage", format: ".1%" },
  ];
  const hollow = {
    fill: painted,
    stroke: painted,
    fillOpacity: { condition: { test: "datum.single", value: 0.001 }, value: zero === null ? 1 : 0.8 },
  };
  const lines = ticks.values.flatMap((tick) => layout.bands.map((band) => ({ tick, ...band })));
  const written = { type: "text" as const, align: "left" as const, fontSize: 12, color: theme.text };
  const compares = bars.filter((bar) => !bar.limit);
  return {
    ...frame(description, width, theme),
    height: layout.height,
    layer: [
      {
        data: { values: lines },
        mark: { type: "rule", color: theme.grid, strokeWidth: 1 },
        encoding: { x: x("tick"), y: y("above"), y2: { field: "below" } },
      },
      zero === null
        ? {
            data: { values: compares },
            mark: { type: "point", size: 150, strokeWidth: 2 },
            encoding: { x: x("to"), y: y("middle"), ...hollow, tooltip },
          }
        : {
            data: { values: compares },
            mark: { type: "rect", strokeWidth: 1.5 },
            encoding: {
              x: x("origin"),
              x2: { field: "to" },
              y: y("top"),
              y2: { field: "bottom" },
              ...hollow,
              tooltip,
            },
          },
      {
        // a floor's line crosses the bars of its panel
        data: { values: floors },
        mark: { type: "rule", strokeWidth: 2, strokeDash: [6, 4] },
        encoding: { x: x("to"), y: y("above"), y2: { field: "below" }, stroke: painted, tooltip },
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
          size: zero === null ? 14 : 30,
          strokeWidth: zero === null ? 1 : 1.5,
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
            { field: "said", title: figure.title },
            { field: "remark", title: "state" },
          ],
        },
      },
      {
        data: { values: bars },
        mark: { ...written, dx: 8, fontWeight: { expr: "datum.best ? 'bold' : 'normal'" } },
        encoding: { x: x("text_at"), y: y("middle"), text: { field: "text", type: "nominal" } },
      },
      ...(layout.texts.length
        ? [
            {
              data: { values: layout.texts },
              mark: {
                ...written,
                baseline: "middle" as const,
                lineBreak: "\n",
                dx: layout.beside ? 0 : 2,
                fontWeight: { expr: "datum.heading ? 'bold' : 'normal'" },
              },
              encoding: {
                x: { value: 0 },
                y: y("middle"),
                text: { field: "text", type: "nominal" as const },
              },
            },
          ]
        : []),
    ],
  };
}

/** Return the factor by which an axis must exceed its figures, so that texts have room after the bars. */
function room(texts: string[], plot: number): number {
  const longest = LETTER * Math.max(0, ...texts.map((text) => text.length));
  return plot / (plot - Math.min(0.6 * plot, longest + 16));
}

/** Return the axis's domain, and the position of values that are not on the scale. */
function extent(
  isLog: boolean,
  zero: number | null,
  places: number[],
  stretch: number,
): { domain: [number, number]; floor: number } {
  const most = Math.max(0, ...places);
  if (!isLog) {
    const least = Math.min(0, ...places);
    return { domain: [least, least + (most - least) * stretch || 1], floor: 0 };
  }
  const least = Math.min(zero ?? Number.POSITIVE_INFINITY, ...places);
  const floor = Number.isFinite(least) ? (zero === null ? least / 1.5 : least) : 1;
  return { domain: [floor, floor * Math.max(1.2, most / floor) ** stretch], floor };
}

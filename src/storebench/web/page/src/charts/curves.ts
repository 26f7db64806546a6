import type { TopLevelSpec } from "vega-lite";
import type { Attempt, CellArtifacts, Metric, Operation, Study } from "../api/types";
import { cellLabel, columns, datasetText, differing, labelled, namesOf, placesText } from "../model/cells";
import { nameOf, type Scale, valueLabel } from "../model/choice";
import { type Layout, panelled } from "../model/figures";
import { linkTargetOf } from "../model/lead";
import { originColumns, originOf } from "../model/provenance";
import { axisTexts, figureIn } from "../model/units";
import type { Theme } from "../ui/theme";
import { type Bands, bandColumns, bandLabels, bandLayers, type Layer } from "./bands";
import { coloured, frame, niceTicks, quantity, tens, ticked } from "./frame";

/** A cell's distribution, as pairs of percentile and value, or its series, as pairs of x and value. x is mostly seconds since the operation began. */
export interface Curve {
  cell: CellArtifacts;
  /** Distinguishes the curve from others of its colour; empty if that is not needed. */
  name: string;
  points: [number, number][];
}

/** The curves of a chart's panel; a single panel has no name. */
export interface CurvePanel {
  name: string;
  curves: Curve[];
}

/** A limit of the metric, of the run's parameters: a line across the chart. */
export interface Limit {
  title: string;
  /** In the metric's unit. */
  value: number;
}

/** The settings of a chart of curves. */
export interface CurvesShown {
  metric: Metric;
  /** The series on the x-axis; without it, the x-axis shows time or percentiles. */
  over?: Metric;
  scale: Scale;
  colour: string;
  /** Returns the colour of a value of the name `colour`. */
  paint: (theme: Theme, value: string) => string;
  limits: Limit[];
  /** The seconds until the measurement begins, and the title of this figure: the time before is shaded. */
  since?: { title: string; seconds: number[] };
  /** A series of the same moments, drawn against a second axis. */
  beside?: Metric;
  /** The stretches of time that are shaded. */
  bands?: Bands;
  description: string;
}

/** Return the points of a histogram or series of a cell. With `over`, pair the values of both series at the same moments, ascending by `over`. */
function pointsOf(cell: CellArtifacts, { name, kind }: Metric, over?: Metric): [number, number][] {
  const points = (kind === "histogram" ? cell.percentiles : cell.series)[name] ?? [];
  if (!over) return points;
  const along = new Map(cell.series[over.name]);
  return points
    .flatMap(([at, value]) => {
      const x = along.get(at);
      return x === undefined ? [] : [[x, value] as [number, number]];
    })
    .sort(([x], [other]) => x - other);
}

/** Return whether any of the cells has points of this metric for any of the operations. */
export const hasCurves = (cells: CellArtifacts[], metric: Metric, operations: Operation[], over?: Metric) =>
  operations.some(({ name }) =>
    cells.some((cell) => cell.operation === name && pointsOf(cell, metric, over).length > 0),
  );

/** Return the curves of these cells by panel, in the cells' order. */
export function curvePanels(
  study: Study,
  cells: CellArtifacts[],
  operations: Operation[],
  metric: Metric,
  { colour, panel }: Layout,
  over?: Metric,
): CurvePanel[] {
  const of = new Set(operations.map(({ name }) => name));
  const chosen = cells
    .filter((cell) => of.has(cell.operation) && pointsOf(cell, metric, over).length > 0)
    .map((cell) => labelled(study, cell, cell.servers));
  const properties = ["store", "client", "operation", ...namesOf(study, cells)];
  const names = differing(chosen, properties).filter((name) => name !== colour && name !== panel);
  return panelled(chosen, panel).map(([name, some]) => ({
    name,
    curves: some.map((cell) => ({
      cell,
      name: placesText(cell, names),
      points: pointsOf(cell, metric, over),
    })),
  }));
}

/** Place percentiles on the x-axis: each further nine takes the same length. 100 % is at twice the position of the last percentile. */
function placed(points: [number, number][]): [number, number, number][] {
  const last = Math.max(
    0,
    ...points.map(([percentile]) => percentile).filter((percentile) => percentile < 100),
  );
  const nines = (percentile: number) => 100 / (100 - percentile);
  return points.map(([percentile, value]) => [
    percentile < 100 ? nines(percentile) : 2 * nines(last),
    percentile,
    value,
  ]);
}

/** The largest ratio of a limit to the largest value at which the limit is drawn: a line far above would flatten the curves. */
const NEAR = 4;

/** Return the limits that a chart draws, and the limits that are too far from the curves. */
export function limitsNear(limits: Limit[], values: number[]): [Limit[], Limit[]] {
  const most = Math.max(0, ...values);
  const near = limits.filter(({ value }) => value <= NEAR * most);
  return [near, limits.filter((limit) => !near.includes(limit))];
}

/** Draw a line for each curve. The mouse on a curve makes the others pale. */
export function curveSpec(
  study: Study,
  curves: Curve[],
  shown: CurvesShown,
  width: number,
  theme: Theme,
  picture: boolean,
): TopLevelSpec {
  const { metric, over, scale, colour, paint, since, beside, bands, description } = shown;
  const [isLog, isShare] = [scale === "logarithmic", metric.kind === "histogram"];
  const alongText = (where: number) =>
    over ? figureIn(over.unit, where) : `${Number(where.toPrecision(6))}${isShare ? " %" : " s"}`;
  const about = ({ cell, name }: Curve, key: number) => ({
    key,
    name,
    cell: cellLabel(study, cell),
    dataset: datasetText(study, cell),
    value: valueLabel(nameOf(cell, colour)),
    paint: paint(theme, nameOf(cell, colour)),
    target: linkTargetOf(cell),
  });
  const values = curves.flatMap((curve, key) => {
    const of = about(curve, key);
    const all = isShare ? placed(curve.points) : curve.points.map(([x, value]) => [x, x, value] as const);
    return all
      .filter(([, , value]) => !isLog || value > 0)
      .map(([x, where, value], order) => ({
        ...of,
        x,
        order,
        along: alongText(where),
        at: value,
        text: figureIn(metric.unit, value),
      }));
  });
  const second = beside
    ? curves.flatMap((curve, key) =>
        pointsOf(curve.cell, beside).map(([x, value]) => ({ ...about(curve, key), x, second: value })),
      )
    : [];
  const [limits] = limitsNear(
    shown.limits,
    values.map((point) => point.at),
  );
  const figures = [...values.map((point) => point.at), ...limits.map(({ value }) => value)];
  const [lowest, highest] = [Math.min(...figures), Math.max(...figures)];
  const domain: [number, number] = isLog
    ? [lowest / 1.1, highest * 1.1]
    : [Math.min(0, lowest), highest * 1.05 || 1];
  const ticks = isLog ? (tens(domain).values ?? domain) : niceTicks(domain, 5);
  const { unit, tick } = axisTexts(metric.unit, ticks);
  const most = Math.max(isShare ? 10 : 0, ...values.map((point) => point.x));
  const nines = Array.from({ length: Math.floor(Math.log10(Math.max(10, most))) }, (_, n) => 10 ** (n + 1));
  const alongTicks = over ? niceTicks([0, most || 1], Math.ceil(width / 110)) : [];
  const along = over ? axisTexts(over.unit, alongTicks) : undefined;
  const names = [...new Set(curves.map((curve) => curve.name))];
  const painted = [...new Map(values.map((point) => [point.value, point.paint]))];
  const x = (field: string) =>
    isShare
      ? {
          ...quantity(field, "percentile"),
          scale: { type: "log" as const, domain: [1, most], nice: false },
          axis: { values: [1, 2, ...nines], labelExpr: "format(100 - 100 / datum.value, '.8~r') + ' %'" },
        }
      : {
          ...quantity(
            field,
            over ? [over.title, along?.unit].filter(Boolean).join(", ") : "seconds since the operation began",
          ),
          ...(along && over
            ? {
                axis: ticked(alongTicks, along.tick),
              }
            : {}),
        };
  const y = (field: string) => ({
    ...quantity(field, [unit || metric.title, isLog ? "logarithmic" : ""].filter(Boolean).join(", ")),
    scale: { type: isLog ? ("log" as const) : ("linear" as const), domain, nice: false },
    axis: ticked(ticks, tick),
  });
  const color = coloured("value", null, painted, picture);
  // the opacity of a curve while the mouse is on another curve
  const opacity = { condition: { param: "pointed", value: 1 }, value: 0.15 };
  const line = { detail: { field: "key" }, order: { field: "order" } };
  const text = { type: "text" as const, fontSize: 12, color: theme.text };
  const begin = since
    ? [...new Set(since.seconds)].filter((seconds) => seconds > 0 && !over && !isShare)
    : [];
  const dashed = names.length > 1 ? { strokeDash: dashes(names, width, theme) } : {};
  const stretches = (bands?.stretches ?? []).flatMap(({ cell, from, to }) => {
    const key = curves.findIndex((curve) => curve.cell === cell);
    const curve = curves[key];
    if (!curve) return [];
    const of = about(curve, key);
    return [{ ...of, from, to, label: [of.value, of.name].filter(Boolean).join(", ") }];
  });
  const tooltip = [
    { field: "cell" },
    { field: "dataset" },
    { field: "along", title: over?.title ?? (isShare ? "percentile" : "since it began") },
    { field: "text", title: metric.title },
  ];
  const main: Layers = {
    layer: [
      ...(bands && stretches.length ? bandLayers(bands, stretches, { x, color, ...dashed }) : []),
      {
        name: "shade",
        data: { values: begin.map((seconds) => ({ from: 0, seconds })) },
        mark: { type: "rect", color: theme.text, opacity: 0.08 },
        encoding: { x: x("from"), x2: { field: "seconds" } },
      },
      {
        name: "shade_text",
        data: {
          values: since && begin.length ? [{ seconds: Math.max(...begin), text: `◂ ${since.title}` }] : [],
        },
        mark: { ...text, align: "left", baseline: "top", dx: 3, dy: 2 },
        encoding: { x: x("seconds"), y: { value: 0 }, text: { field: "text" } },
      },
      {
        name: "curve",
        data: { values },
        mark: { type: "line", strokeWidth: 2 },
        encoding: {
          x: x("x"),
          y: y("at"),
          color,
          opacity,
          ...line,
          ...dashed,
        },
      },
      {
        name: "limit",
        data: { values: limits },
        mark: { type: "rule", strokeWidth: 1.5, strokeDash: [8, 4], color: theme.text },
        encoding: { y: y("value") },
      },
      {
        name: "limit_text",
        data: {
          values: limits.map(({ title, value }) => ({
            value,
            text: `${title}: ${figureIn(metric.unit, value)}`,
          })),
        },
        mark: { ...text, align: "right", baseline: "bottom", dy: -3 },
        encoding: { x: { value: "width" }, y: y("value"), text: { field: "text" } },
      },
      {
        name: "point",
        data: { values },
        mark: { type: "point", filled: true, size: 18 },
        encoding: {
          x: x("x"),
          y: y("at"),
          color,
          // many points would hide the shape of their curve
          opacity: values.length > FEW * curves.length ? { value: 0 } : opacity,
          tooltip,
        },
      },
      ...(bands && stretches.length ? bandLabels(bands, stretches, most, theme, { x }) : []),
      {
        // a broad invisible line, which the mouse reaches easily
        name: "reach",
        data: { values },
        params: [
          {
            name: "pointed",
            select: { type: "point", fields: ["key"], on: "pointerover", clear: "pointerout" },
          },
        ],
        mark: { type: "line", strokeWidth: 14, opacity: 0.001 },
        encoding: { x: x("x"), y: y("at"), ...line, tooltip: [{ field: "cell" }, { field: "dataset" }] },
      },
    ],
  };
  if (!second.length || !beside) return { ...frame(description, width, theme), height: 280, ...main };
  return {
    ...frame(description, width, theme),
    height: 280,
    layer: [
      {
        name: "beside",
        data: { values: second },
        mark: {
          type: "line",
          strokeWidth: 1,
          strokeDash: [2, 2],
          interpolate: "step-after",
          color: theme.text,
          opacity: 0.6,
        },
        encoding: {
          x: x("x"),
          y: {
            ...quantity("second", `${beside.title} (dotted)`),
            scale: { zero: true },
            axis: { orient: "right" as const, grid: false, tickCount: 4 },
          },
          detail: { field: "key" },
        },
      },
      main,
    ],
    resolve: { scale: { y: "independent" } },
  };
}

/** A specification of layers, which is also a layer of another specification. */
type Layers = Layer & { layer: unknown };

/** The largest number of points of a curve that are marked. */
const FEW = 30;

/** Encode each of these names by a dash pattern. */
function dashes(names: string[], width: number, theme: Theme) {
  return {
    field: "name",
    type: "nominal" as const,
    title: null,
    scale: { domain: names },
    legend: {
      orient: "bottom" as const,
      direction: "horizontal" as const,
      columns: Math.max(1, Math.floor(width / 280)),
      symbolType: "stroke",
      symbolSize: 900,
      symbolStrokeWidth: 2,
      symbolStrokeColor: theme.text,
    },
  };
}

/** Return the curves' points for export. */
export function curveTable(
  study: Study,
  curves: Curve[],
  { metric: { name, kind }, over, bands }: Pick<CurvesShown, "metric" | "over" | "bands">,
  names: string[],
  run: string,
  attemptsOf: (cell: CellArtifacts) => Attempt[],
): Record<string, unknown>[] {
  const along = over?.name ?? (kind === "histogram" ? "percentile" : "since_begin_s");
  const whose = (cell: CellArtifacts) => ({
    store: cell.store,
    client: cell.client,
    operation: cell.operation,
    ...columns(study, cell, names),
    run,
    n: cell.n,
    ...bandColumns(bands, cell),
    ...originColumns(originOf(attemptsOf(cell))),
  });
  return curves.flatMap(({ cell, points }) => {
    const curve = whose(cell);
    return points.map(([x, value]) => ({ ...curve, [along]: x, [name]: value }));
  });
}

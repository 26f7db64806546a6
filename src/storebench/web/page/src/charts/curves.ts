import type { TopLevelSpec } from "vega-lite";
import type { Attempt, CellArtifacts, Metric, Operation, Study } from "../api/types";
import { cellLabel, columns, datasetText, differing, namesOf, placesText } from "../model/cells";
import { nameOf, type Scale, valueLabel } from "../model/choice";
import { type Layout, panelled } from "../model/figures";
import { linkTargetOf } from "../model/lead";
import { originColumns, originOf } from "../model/provenance";
import { figureIn, unitOf } from "../model/units";
import { colourOf, type Theme } from "../ui/theme";
import { frame, quantity, tens } from "./frame";

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

/** The settings of a chart of curves. */
export interface CurvesShown {
  metric: Metric;
  /** The series on the x-axis; without it, the x-axis shows time or percentiles. */
  over?: Metric;
  scale: Scale;
  colour: string;
  /** The names that have a colour each, whether hidden or not, as in charts of medians. */
  values: string[];
  description: string;
}

/** Return the points of a histogram or series of a cell. With `over`, pair the values of both series at the same moments. */
function pointsOf(cell: CellArtifacts, { name, kind }: Metric, over?: Metric): [number, number][] {
  const points = (kind === "histogram" ? cell.percentiles : cell.series)[name] ?? [];
  if (!over) return points;
  const along = new Map(cell.series[over.name]);
  return points.flatMap(([at, value]) => {
    const x = along.get(at);
    return x === undefined ? [] : [[x, value] as [number, number]];
  });
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
  const chosen = cells.filter((cell) => of.has(cell.operation) && pointsOf(cell, metric, over).length > 0);
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

/** Draw a line for each curve. */
export function curveSpec(
  study: Study,
  curves: Curve[],
  { metric, over, scale, colour, values: names, description }: CurvesShown,
  width: number,
  theme: Theme,
  picture: boolean,
): TopLevelSpec {
  const [unit, isLog, isShare] = [
    unitOf(metric.unit),
    scale === "logarithmic",
    metric.kind === "histogram",
  ] as const;
  const along = over && unitOf(over.unit);
  const alongText = (where: number) =>
    over ? figureIn(over.unit, where) : `${Number(where.toPrecision(6))}${isShare ? " %" : " s"}`;
  const values = curves.flatMap(({ cell, name, points }, key) => {
    const about = {
      key,
      name,
      cell: cellLabel(study, cell),
      dataset: datasetText(study, cell),
      colour: valueLabel(nameOf(cell, colour)),
      target: linkTargetOf(cell),
    };
    const all = isShare
      ? placed(points)
      : points.map(([x, value]) => [x / (along?.scale ?? 1), x, value] as const);
    return all
      .filter(([, , value]) => !isLog || value > 0)
      .map(([x, where, value], order) => ({
        ...about,
        x,
        order,
        along: alongText(where),
        at: value / unit.scale,
        text: figureIn(metric.unit, value),
      }));
  });
  const most = Math.max(10, ...values.map((point) => point.x));
  const nines = Array.from({ length: Math.floor(Math.log10(most)) }, (_, n) => 10 ** (n + 1));
  const figures = values.map((point) => point.at);
  const domain = [Math.min(...figures), Math.max(...figures)];
  const lines = [...new Set(curves.map((curve) => curve.name))];
  return {
    ...frame(description, width, theme),
    height: 280,
    data: { values },
    encoding: {
      x: isShare
        ? {
            ...quantity("x", "percentile"),
            scale: { type: "log", domain: [1, most], nice: false },
            axis: {
              values: [1, 2, ...nines],
              labelExpr: "format(100 - 100 / datum.value, '.8~r') + ' %'",
            },
          }
        : quantity(
            "x",
            over ? [over.title, along?.axis].filter(Boolean).join(", ") : "seconds since the operation began",
          ),
      y: {
        ...quantity("at", [unit.axis || metric.title, isLog ? "logarithmic" : ""].filter(Boolean).join(", ")),
        scale: isLog ? { type: "log", domain, nice: false } : { zero: true },
        axis: { tickCount: 6, ...(isLog ? tens(domain) : {}) },
      },
      color: {
        field: "colour",
        type: "nominal",
        title: null,
        scale: { domain: names.map(valueLabel), range: names.map((_, place) => colourOf(theme, place)) },
        legend: picture
          ? { orient: "top", columns: 6, values: [...new Set(values.map((point) => point.colour))] }
          : null,
      },
    },
    layer: [
      {
        mark: { type: "line", strokeWidth: 2 },
        encoding: {
          detail: { field: "key" },
          order: { field: "order" },
          ...(lines.length > 1 ? { strokeDash: dashes(lines, width, theme) } : {}),
        },
      },
      {
        mark: { type: "point", filled: true, opacity: 1, size: 18 },
        encoding: {
          tooltip: [
            { field: "cell" },
            { field: "dataset" },
            { field: "along", title: over?.title ?? (isShare ? "percentile" : "since it began") },
            { field: "text", title: metric.title },
          ],
        },
      },
    ],
  };
}

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
  { name, kind }: Metric,
  names: string[],
  run: string,
  attemptsOf: (cell: CellArtifacts) => Attempt[],
  over?: Metric,
): Record<string, unknown>[] {
  const along = over?.name ?? (kind === "histogram" ? "percentile" : "since_begin_s");
  const whose = (cell: CellArtifacts) => ({
    store: cell.store,
    client: cell.client,
    operation: cell.operation,
    ...columns(study, cell, names),
    run,
    n: cell.n,
    ...originColumns(originOf(attemptsOf(cell))),
  });
  return curves.flatMap(({ cell, points }) => {
    const curve = whose(cell);
    return points.map(([x, value]) => ({ ...curve, [along]: x, [name]: value }));
  });
}

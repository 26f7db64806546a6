import type { TopLevelSpec } from "vega-lite";
import type { Metric } from "../../api/types";
import { coloured, frame, niceTicks, quantity, ticked } from "../../charts/frame";
import type { LinkTarget } from "../../model/lead";
import { axisTexts } from "../../model/units";
import type { Theme } from "../../ui/theme";

/** A point of a line: a metric with servers of one size. */
export interface SizeMark {
  /** Identifies the line. */
  line: string;
  /** Distinguishes the line from others of its colour; empty if that is not needed. */
  name: string;
  /** The value that has the colour. */
  value: string;
  cell: string;
  /** Cores of each server that holds data. */
  cores: number;
  at: number;
  /** The ends of the interval; null without an interval. */
  low: number | null;
  high: number | null;
  size: string;
  text: string;
  interval: string;
  used: string;
  runs: string;
  target: LinkTarget;
}

/** Draw a metric over the cores of servers: a line for each store and for each set of other values, with intervals. */
export function sizesSpec(
  marks: SizeMark[],
  { unit, title }: Pick<Metric, "unit" | "title">,
  colours: [string, string][],
  description: string,
  width: number,
  theme: Theme,
  picture: boolean,
): TopLevelSpec {
  const figures = marks.flatMap(({ at, low, high }) => [at, low ?? at, high ?? at]);
  const domain: [number, number] = [Math.min(0, ...figures), 1.12 * Math.max(0, ...figures) || 1];
  const ticks = niceTicks(domain, 5);
  const axis = axisTexts(unit, ticks);
  const most = Math.max(0, ...marks.map(({ cores }) => cores)) || 1;
  const x = {
    ...quantity("cores", "cores of each server that holds data"),
    scale: { domain: [0, 1.05 * most], nice: false },
    axis: { tickCount: Math.ceil(width / 110) },
  };
  const y = (field: string) => ({
    ...quantity(field, axis.unit || title),
    scale: { domain, nice: false },
    axis: ticked(ticks, axis.tick),
  });
  const color = coloured("value", null, colours, picture);
  const names = [...new Set(marks.map(({ name }) => name))];
  const dash = {
    field: "name",
    type: "nominal" as const,
    title: null,
    scale: { domain: names },
    legend: { orient: "bottom" as const, direction: "vertical" as const, symbolStrokeColor: theme.text },
  };
  return {
    ...frame(description, width, theme),
    height: 280,
    data: { values: marks },
    layer: [
      {
        name: "line",
        mark: { type: "line", strokeWidth: 2 },
        encoding: {
          x,
          y: y("at"),
          color,
          detail: { field: "line" },
          ...(names.length > 1 ? { strokeDash: dash } : {}),
        },
      },
      {
        name: "interval",
        transform: [{ filter: "datum.low !== null" }],
        mark: { type: "rule", strokeWidth: 2, color: theme.text },
        encoding: { x, y: y("low"), y2: { field: "high" } },
      },
      {
        name: "point",
        mark: { type: "point", filled: true, size: 60 },
        encoding: {
          x,
          y: y("at"),
          color,
          tooltip: [
            { field: "cell" },
            { field: "size", title: "each server has" },
            { field: "text", title },
            { field: "interval" },
            { field: "used", title: "servers used" },
            { field: "runs" },
          ],
        },
      },
      {
        name: "run",
        mark: {
          type: "text",
          // The name of a run is on the side with more room.
          align: { expr: `datum.cores > ${0.6 * most} ? 'right' : 'left'` },
          dx: { expr: `datum.cores > ${0.6 * most} ? -6 : 6` },
          baseline: "top",
          dy: 4,
          fontSize: 12,
          color: theme.text,
        },
        encoding: { x, y: y("at"), text: { field: "runs" } },
      },
    ],
  };
}

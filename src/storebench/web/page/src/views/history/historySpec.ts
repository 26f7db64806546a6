import type { TopLevelSpec } from "vega-lite";
import { coloured, frame, niceTicks, quantity, shape, ticked } from "../../charts/frame";
import { axisTexts } from "../../model/units";
import { paint, type Theme } from "../../ui/theme";

/** An attempt over time, with its figure in the metric's unit. An attempt without a figure is drawn `at` 0. */
export interface HistoryPoint {
  recorded_at: string;
  recorded: string;
  value: number | null;
  /** The figure with a unit that suits it. */
  text: string;
  at: number;
  environment: string;
  parameters: string;
  /** What the figure depends on besides the cell: the environment, and parameters and method if these differ. */
  measured: string;
  state: string;
  remark: string;
  run: string;
}

/** A figure over a period, in the metric's unit: of a level, or of a baseline. */
export interface HistoryLine {
  since: string;
  until: string;
  at: number;
  measured: string;
  /** The description of the line. */
  said: string;
}

/** A change from one level to the next. */
export interface HistoryBreak {
  since: string;
  measured: string;
  said: string;
}

/** The lines drawn over the points. */
export interface HistoryLines {
  levels: HistoryLine[];
  breaks: HistoryBreak[];
  baselines: HistoryLine[];
}

/** Return the format of an axis's times: precise enough that no two labels are equal. */
export function timeFormat(points: { recorded_at: string }[], ticks: number): string {
  const times = points.map((point) => Date.parse(point.recorded_at));
  const step_s = (Math.max(...times) - Math.min(...times)) / 1000 / ticks;
  if (step_s < 60) return "%H:%M:%S";
  return step_s < 86_400 ? "%d %b %H:%M" : "%d %b %Y";
}

/** Draw a cell's attempts, levels, changes and baselines over time. Each of `kinds` has a colour. */
export function historySpec(
  points: HistoryPoint[],
  { levels, breaks, baselines }: HistoryLines,
  kinds: string[],
  { unit, title }: { unit: string; title: string },
  description: string,
  width: number,
  theme: Theme,
  picture: boolean,
): TopLevelSpec {
  const ticks = Math.ceil(width / 140);
  const time = (field: string) => ({
    field,
    type: "temporal" as const,
    title: "recorded, UTC",
    scale: { type: "utc" as const },
    axis: { format: timeFormat(points, ticks), tickCount: ticks, labelOverlap: true },
  });
  const figures = [...points, ...levels, ...baselines].map(({ at }) => at);
  const [least, most] = [Math.min(0, ...figures), Math.max(0, ...figures)];
  const domain: [number, number] = [least, least + 1.08 * (most - least) || 1];
  const values = niceTicks(domain, 5);
  const axis = axisTexts(unit, values);
  const y = {
    ...quantity("at", axis.unit || title),
    scale: { domain, nice: false },
    axis: ticked(values, axis.tick),
  };
  const colours = kinds.map((kind, place) => [kind, paint(theme, place)] as const);
  const color = coloured("measured", "environment and parameters", colours, picture);
  const line = { x: time("since"), x2: { field: "until" }, y, color, tooltip: [{ field: "said" }] };
  const text = { type: "text" as const, align: "left" as const, fontSize: 12, color: theme.text };
  const times = points.map((point) => Date.parse(point.recorded_at));
  const middle = (Math.min(...times) + Math.max(...times)) / 2;
  // place a change's text on the side with more room
  const said = breaks.map((level) => ({ ...level, late: Date.parse(level.since) > middle }));
  return {
    ...frame(description, width, theme),
    height: 280,
    layer: [
      {
        data: { values: levels },
        mark: { type: "rule", strokeWidth: 4, opacity: 0.4 },
        encoding: line,
      },
      {
        data: { values: baselines },
        mark: { type: "rule", strokeWidth: 2, strokeDash: [8, 4] },
        encoding: line,
      },
      {
        data: { values: baselines },
        mark: { ...text, baseline: "bottom", dy: -3 },
        encoding: { x: time("since"), y, text: { field: "said" } },
      },
      {
        data: { values: breaks },
        mark: { type: "rule", strokeWidth: 2, strokeDash: [2, 3] },
        encoding: { x: time("since"), color, tooltip: [{ field: "said" }] },
      },
      {
        data: { values: said },
        mark: {
          ...text,
          align: { expr: "datum.late ? 'right' : 'left'" },
          baseline: "top",
          dx: { expr: "datum.late ? -4 : 4" },
        },
        encoding: { x: time("since"), y: { value: 0 }, text: { field: "said" } },
      },
      {
        data: { values: points },
        mark: { type: "point", size: 60, strokeWidth: 2 },
        encoding: {
          x: time("recorded_at"),
          y,
          color,
          shape: shape(points, theme),
          tooltip: [
            { field: "recorded", title: "recorded, UTC" },
            { field: "text", title },
            { field: "run" },
            { field: "environment" },
            { field: "parameters" },
            { field: "remark" },
          ],
        },
      },
    ],
  };
}

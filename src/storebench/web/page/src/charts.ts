import type { TopLevelSpec } from "vega-lite";
import { comparedLabel, type HistoryRow, phasesLabel } from "./figures";
import { datasetSuffix, remark } from "./format";
import { colourOf, figure, frame, lines, NARROW, quantity, shape, type Theme } from "./frame";
import { type CellPhases, LABELS, type Verdict } from "./types";

/** In their order, from the pod's creation to its end; the operation stands out. On a light ground and on a dark one. */
const PHASES: Record<string, string> = {
  queued: "#B9C4CC",
  scheduled: "#8FA3B0",
  image_pulled: "#6B8494",
  container_started: "#5A788C",
  interpreter_and_imports: "#A88BC2",
  connect: "#8E6CBB",
  prepare: "#CC79A7",
  source: "#56B4E9",
  operation: "#D55E00",
  barrier: "#E69F00",
  verify: "#009E73",
  teardown: "#8C8C8C",
};
/** What is between the named ones, and whatever a later version may name. */
const OTHER = "#DDDDDD";

export const phaseColour = (phase: string) => PHASES[phase] ?? OTHER;

/** The phases of these cells that took any time, in their order. */
export function phasesOf(cells: CellPhases[]): string[] {
  const order = [...new Set([...Object.keys(PHASES), ...cells.flatMap((cell) => Object.keys(cell.phases))])];
  return order.filter((name) => cells.some((cell) => (cell.phases[name] ?? 0) > 0));
}

/** A bar for each cell, made of these phases of its typical attempt. */
export function phasesSpec(
  cells: CellPhases[],
  phases: string[],
  description: string,
  width: number,
  theme: Theme,
  picture: boolean,
): TopLevelSpec {
  const suffix = datasetSuffix(cells);
  const label = (cell: CellPhases) => phasesLabel(cell, suffix(cell));
  const values = cells.flatMap((cell) =>
    phases.map((phase, position) => ({
      cell: label(cell),
      phase: phase.replaceAll("_", " "),
      position,
      seconds: cell.phases[phase] ?? 0,
      remark: remark(cell.attempt),
    })),
  );
  const { height, y } = lines("cell", cells.length, 18, width);
  return {
    ...frame(description, width, theme),
    height,
    data: { values },
    mark: { type: "bar" },
    encoding: {
      // those without any phase have a line, too
      y: { ...y, scale: { ...y.scale, domain: cells.map(label) } },
      x: quantity("seconds", "seconds"),
      color: {
        field: "phase",
        type: "nominal",
        title: null,
        scale: { domain: phases.map((name) => name.replaceAll("_", " ")), range: phases.map(phaseColour) },
        legend: picture ? { orient: "bottom", columns: 4 } : null,
      },
      order: { field: "position" },
      tooltip: [{ field: "cell" }, { field: "phase" }, figure("seconds"), { field: "remark" }],
    },
  };
}

/** How the times on an axis are written: as exactly as their steps need, so that no two are alike. */
export function timeFormat(rows: { recorded_at: string }[], ticks: number): string {
  const times = rows.map((row) => Date.parse(row.recorded_at));
  const step_s = (Math.max(...times) - Math.min(...times)) / 1000 / ticks;
  if (step_s < 60) return "%H:%M:%S";
  return step_s < 86_400 ? "%d %b %H:%M" : "%d %b %Y";
}

/** One cell's attempts, oldest first; a colour for each of these environments. */
export function historySpec(
  rows: HistoryRow[],
  environments: string[],
  description: string,
  width: number,
  theme: Theme,
  picture: boolean,
): TopLevelSpec {
  const ticks = Math.ceil(width / 140);
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
        axis: { format: timeFormat(rows, ticks), tickCount: ticks, labelOverlap: true },
      },
      y: { ...quantity("at", "seconds"), scale: { zero: true }, axis: { tickCount: 6 } },
      color: {
        field: "environment",
        type: "nominal",
        title: "environment",
        scale: { domain: environments, range: environments.map((_, place) => colourOf(theme, place)) },
        legend: picture ? { orient: "top", columns: 6 } : null,
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
  const suffix = datasetSuffix(verdicts);
  const values = verdicts.map((verdict) => ({
    ...verdict,
    cell: comparedLabel(verdict, suffix(verdict)),
  }));
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
    scale: { domain: [...LABELS], range: [0, 3, 2, 6].map((place) => colourOf(theme, place)) },
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

import type { TopLevelSpec } from "vega-lite";
import {
  type CellPhases,
  verdictVerdictValues as LABELS,
  type Metric,
  type NoVerdict,
  type Study,
  type Verdict,
} from "../api/types";
import { labels } from "../model/cells";
import { cellText, remark, SIGNS, soundness, WHOLE } from "../model/format";
import { linkTargetOf } from "../model/lead";
import { serverNames } from "../model/provenance";
import { colourOf, pale, type Theme } from "../ui/theme";
import { figure, frame, lines, NARROW, quantity } from "./frame";

/** The colours of the phases of all pods, in order. The timed phases stand out, on a light and on a dark background. */
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
  verify: "#009E73",
  teardown: "#8C8C8C",
};
/** The colours of phases that only one study's pods have, used in turn. */
const OWN = ["#E69F00", "#0072B2", "#C9A227", "#882255", "#44AA99", "#6A3D9A", "#B15928"];
/** The name and colour of the time between named phases. */
const REST = ["other", "#DDDDDD"] as const;

/** Return the colour of a phase. `all` are the phases of all cells, so that a phase has the same colour in every chart. */
export function phaseColour(phase: string, all: string[]): string {
  if (phase === REST[0]) return REST[1];
  const others = all.filter((name) => !(name in PHASES) && name !== REST[0]);
  return PHASES[phase] ?? (OWN[Math.max(0, others.indexOf(phase)) % OWN.length] as string);
}

/** Return the fill of a phase: pale if Kubernetes reports the phase in whole seconds. */
export const phaseFill = (theme: Theme, phase: string, colour: string) =>
  WHOLE.has(phase) ? pale(theme, colour) : colour;

/** Return the phases of these cells that took any time, in order. A study's own phase comes after the phase that precedes it in a cell. */
export function phasesOf(cells: Pick<CellPhases, "phases">[]): string[] {
  const order = Object.keys(PHASES);
  for (const names of cells.map((cell) => Object.keys(cell.phases)))
    for (const [place, name] of names.entries())
      if (name !== REST[0] && !order.includes(name))
        order.splice(order.indexOf(names[place - 1] ?? "") + 1, 0, name);
  return [...order, REST[0]].filter((name) => cells.some((cell) => (cell.phases[name] ?? 0) > 0));
}

/** The label of phases that are known only in whole seconds: they are pale, with a dashed edge. */
const TO_THE_SECOND = "to the second";

/** Return the name of the server that answered a cell's typical attempt. */
export const serverOfTypical = ({ attempt }: CellPhases) => [attempt.server_name];

/** Draw a bar for each cell: the phases of its typical attempt, in these colours. */
export function phasesSpec(
  study: Study,
  cells: CellPhases[],
  phases: [string, string][],
  description: string,
  width: number,
  theme: Theme,
  picture: boolean,
): TopLevelSpec {
  const name = labels(study, cells, serverOfTypical);
  const label = (cell: CellPhases) => marked(soundness(cell.attempt), name(cell));
  const values = cells.flatMap((cell) =>
    phases
      .map(([phase], position) => ({
        cell: label(cell),
        phase: phase.replaceAll("_", " "),
        position,
        seconds: cell.phases[phase] ?? 0,
        took: cellText(`${phase}_s`, cell.phases[phase] ?? 0),
        resolution: WHOLE.has(phase) ? TO_THE_SECOND : "measured",
        remark: remark(cell.attempt),
        target: linkTargetOf(cell.attempt),
      }))
      .filter(({ seconds }) => seconds > 0),
  );
  const { height, y } = lines("cell", cells.length, 18, width);
  return {
    ...frame(description, width, theme),
    height,
    data: { values },
    mark: { type: "bar" },
    encoding: {
      // cells without any phase have a line, too
      y: { ...y, scale: { ...y.scale, domain: cells.map(label) } },
      x: quantity("seconds", "seconds"),
      color: {
        field: "phase",
        type: "nominal",
        title: null,
        scale: {
          domain: phases.map(([phase]) => phase.replaceAll("_", " ")),
          range: phases.map(([phase, colour]) => phaseFill(theme, phase, colour)),
        },
        legend: picture ? { orient: "bottom", columns: 4 } : null,
      },
      stroke: {
        condition: { test: `datum.resolution === '${TO_THE_SECOND}'`, value: theme.text },
        value: null,
      },
      strokeDash: {
        field: "resolution",
        type: "nominal",
        title: null,
        scale: { domain: [TO_THE_SECOND, "measured"], range: [[3, 2], []] },
        legend: values.some(({ resolution }) => resolution === TO_THE_SECOND)
          ? {
              orient: "top",
              values: [TO_THE_SECOND],
              symbolType: "square",
              symbolFillColor: "transparent",
              symbolStrokeColor: theme.text,
            }
          : null,
      },
      order: { field: "position" },
      tooltip: [{ field: "cell" }, { field: "phase" }, { field: "took" }, { field: "remark" }],
    },
  };
}

/** Prefix a name with the sign of an unsound attempt. */
const marked = (state: keyof typeof SIGNS, name: string) =>
  state === "verified" ? name : `${SIGNS[state]} ${name}`;

type Label = Verdict["verdict"];

/** The index of a verdict's colour, and its mark. */
const VERDICTS: Record<Label, [number, string]> = {
  better: [0, "triangle-up"],
  worse: [3, "triangle-down"],
  higher: [5, "diamond"],
  lower: [1, "cross"],
  "the same": [2, "square"],
  "cannot tell": [6, "circle"],
};

/** Return the verdicts for a figure above and for a figure below the other side's, as in storebench.results.statistics.verdicts. */
export function wordsOf(better: Metric["better"]): [Label, Label] {
  if (better === "neither") return ["higher", "lower"];
  return better === "lower" ? ["worse", "better"] : ["better", "worse"];
}

/** Return a verdict's text: `faster` or `slower` for times. */
export function labelText({ verdict, unit }: Pick<Verdict, "verdict" | "unit">): string {
  if (unit !== "s") return verdict;
  return { better: "faster", worse: "slower" }[verdict as string] ?? verdict;
}

/** Return the texts of these verdicts, each once, in the order of the labels. */
export function saidOf(verdicts: Pick<Verdict, "verdict" | "unit">[]): Map<string, Label> {
  const ordered = LABELS.flatMap((label) => verdicts.filter(({ verdict }) => verdict === label));
  return new Map(ordered.map((verdict) => [labelText(verdict), verdict.verdict]));
}

/** Return the names of the servers that answered for A's cell, which names a comparison's line. */
export const serversOfA = ({ origin_before }: Verdict | NoVerdict): string[] => serverNames(origin_before);

/** Return whether a verdict has a ratio: figures of 0 or below have none. */
export const hasRatio = (verdict: Verdict): verdict is Verdict & { ratio: number } => verdict.ratio !== null;

/** Draw a point and an interval for each verdict with a ratio B / A; 1 means equal. ▲ marks unsound verdicts. */
export function ratiosSpec(
  study: Study,
  verdicts: Verdict[],
  marginPercent: number,
  description: string,
  width: number,
  theme: Theme,
): TopLevelSpec {
  const name = labels(study, verdicts, serversOfA);
  const values = verdicts.filter(hasRatio).map((verdict) => ({
    ...verdict,
    said: labelText(verdict),
    target: linkTargetOf(verdict),
    cell: `${verdict.remarks.length ? "▲ " : ""}${verdict.operation} ${name(verdict)}`,
  }));
  const shown = saidOf(values);
  const looks = [...shown.values()].map((label) => VERDICTS[label]);
  const margin = marginPercent / 100;
  const { height, y } = lines("cell", values.length, 18, width);
  const band = { low: 1 / (1 + margin), high: 1 + margin };
  // show intervals completely, on a logarithmic axis, where 2 and 1/2 have the same distance from 1
  const domain = [
    Math.min(band.low, ...values.map((point) => point.ratio_low ?? point.ratio)),
    Math.max(band.high, ...values.map((point) => point.ratio_high ?? point.ratio)),
  ];
  const ratio = (field: string) => ({
    ...quantity(field, "B / A, logarithmic"),
    scale: { type: "log" as const, domain, nice: false },
    axis: { format: ".3~r", labelOverlap: "greedy" as const, labelSeparation: 10 },
  });
  const color = {
    field: "said",
    type: "nominal" as const,
    title: "B is",
    scale: { domain: [...shown.keys()], range: looks.map(([colour]) => colourOf(theme, colour)) },
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
        data: { values: values.filter((point) => point.ratio_low !== null) },
        mark: { type: "rule", strokeWidth: 2 },
        encoding: { y, x: ratio("ratio_low"), x2: { field: "ratio_high" }, color },
      },
      {
        data: { values },
        mark: { type: "point", filled: true, size: 60, opacity: 1 },
        encoding: {
          y,
          x: ratio("ratio"),
          color,
          shape: {
            field: "said",
            type: "nominal",
            title: "B is",
            scale: { domain: [...shown.keys()], range: looks.map(([, mark]) => mark) },
          },
          tooltip: [
            { field: "cell" },
            figure("ratio", "B / A"),
            figure("ratio_low", "95 % from"),
            figure("ratio_high", "to"),
            { field: "said", title: "B is" },
            { field: "reason", title: "why" },
          ],
        },
      },
    ],
  };
}

/** Draw a table as a picture for export. */
export function tableSpec(table: Record<string, string>[], theme: Theme): TopLevelSpec {
  const headings = Object.keys(table[0] ?? {});
  const all = [headings, ...table.map((line) => Object.values(line))];
  const widths = headings.map((_, n) => 16 + 7 * Math.max(...all.map((line) => (line[n] ?? "").length)));
  const starts = widths.map((_, n) => widths.slice(0, n).reduce((sum, width) => sum + width, 8));
  const values = all.flatMap((line, y) => line.map((text, n) => ({ text, x: starts[n], y })));
  const width = widths.reduce((sum, columnWidth) => sum + columnWidth, 8);
  return {
    ...frame("", width, theme),
    autosize: "pad",
    height: 20 * all.length,
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
        scale: { domain: [all.length - 0.5, -0.5], nice: false },
      },
      text: { field: "text" },
    },
  };
}

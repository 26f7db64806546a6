import type { Metric, SizePoint, Study } from "../../api/types";
import { cellLabel, columns, differing, labelled, namesOf, placesText } from "../../model/cells";
import { nameOf, valueLabel } from "../../model/choice";
import { type Layout, panelled } from "../../model/figures";
import { type LinkTarget, linkTargetOf } from "../../model/lead";
import { originColumns, serverNames } from "../../model/provenance";
import { chartsOf, layoutOf } from "../../model/study";
import { digits, figureIn } from "../../model/units";
import type { SizeMark } from "./sizesSpec";

/** Return the name of a choice of this view in the address. */
export const sizesKey = (name: "operation" | "metric" | "runs") => `sizes:${name}`;

/** Return the colours and panels of a metric: as in the study's chart of the metric, or else as in charts that the study does not define. */
export const layoutFor = (study: Study, metric: string): Layout =>
  chartsOf(study).find((chart) => chart.metric === metric) ?? layoutOf(study);

/** The points of a chart's panel; a single panel has no name. */
export interface SizePanel {
  name: string;
  points: SizePoint[];
}

export const sizePanels = (points: SizePoint[], { panel }: Layout): SizePanel[] =>
  panelled(points, panel).map(([name, some]) => ({ name, points: some }));

/** Return the names, besides the colour, in which the lines of a panel differ. */
export const lineNames = (study: Study, points: SizePoint[], { colour, panel }: Layout): string[] =>
  differing(points, ["store", "client", ...namesOf(study, points)]).filter(
    (name) => name !== colour && name !== panel,
  );

/** Name a point's runs: the beginning of a single run, or their number. */
export function runsText(runs: string[]): string {
  const [run = "", ...others] = runs;
  if (others.length) return `${runs.length} runs`;
  const begun = /(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(run);
  return begun ? `run of ${begun[1]} ${begun[2]}` : (run.split("/").at(-1) ?? run);
}

const coresText = (cores: number) => `${digits(cores, 3)} core${cores === 1 ? "" : "s"}`;

/** Return the link target of a point: its only attempt, or its newest run's attempts. */
export function targetOf(point: SizePoint): LinkTarget {
  const [attempt, ...others] = point.attempts;
  const run_id = point.runs.at(-1);
  return linkTargetOf({
    cell_key: point.cell_key,
    operation: point.operation,
    ...(run_id ? { run_id } : {}),
    ...(attempt && !others.length ? { attempt_id: attempt } : {}),
  });
}

/** Return the points as a chart draws them. `names`: the names, besides the colour, in which lines differ. */
export function sizeMarks(
  study: Study,
  points: SizePoint[],
  { unit }: Metric,
  colour: string,
  names: string[],
): SizeMark[] {
  return points.map((found) => {
    const point = labelled(study, found, serverNames(found.origin));
    const { median, interval_low: low, interval_high: high } = point.spread;
    return {
      line: point.line,
      name: placesText(point, names),
      value: valueLabel(nameOf(point, colour)),
      cell: cellLabel(study, point),
      cores: point.cores,
      at: median,
      low,
      high,
      size: [coresText(point.cores), point.memory_bytes === null ? "" : figureIn("bytes", point.memory_bytes)]
        .filter(Boolean)
        .join(", "),
      text: figureIn(unit, median),
      interval: low === null || high === null ? "" : `${figureIn(unit, low)} to ${figureIn(unit, high)}`,
      used: usedText(point),
      runs: runsText(point.runs),
      target: targetOf(point),
    };
  });
}

/** Describe what the servers used, by their agents. */
function usedText({ used_cores, used_memory_bytes, server_pods }: SizePoint): string {
  const used = [
    used_cores === null ? "" : coresText(used_cores),
    used_memory_bytes === null ? "" : figureIn("bytes", used_memory_bytes),
  ].filter(Boolean);
  const by = server_pods === null ? "" : ` by ${server_pods} server${server_pods === 1 ? "" : "s"}`;
  return used.length ? `${used.join(", ")}${by}` : "unknown";
}

/** Return the points for the table and for export. */
export function sizesTable(study: Study, points: SizePoint[], metric: string): Record<string, unknown>[] {
  const names = namesOf(study, points);
  return points.map((point) => ({
    store: point.store,
    client: point.client,
    ...columns(study, point, names),
    server_cores: point.cores,
    server_memory_bytes: point.memory_bytes,
    n: point.spread.n,
    excluded: point.excluded,
    [metric]: point.spread.median,
    interval_low: point.spread.interval_low,
    interval_high: point.spread.interval_high,
    servers: point.server_pods,
    used_cores: point.used_cores,
    used_memory_bytes: point.used_memory_bytes,
    runs: point.runs.join(", "),
    ...originColumns(point.origin),
  }));
}

import type { Attempt, CellHistory, Change, Series, Study } from "../../api/types";
import { labelText } from "../../charts/charts";
import { columns, namesOf } from "../../model/cells";
import { moment, remark, soundness } from "../../model/format";
import { type LinkTarget, linkTargetOf } from "../../model/lead";
import { originColumns, originOf } from "../../model/provenance";
import { figureOf, metricNamed } from "../../model/study";
import { digits, figureIn } from "../../model/units";
import type { HistoryLines, HistoryPoint } from "./historySpec";

const UNKNOWN = "unknown";

/** Return a cell's attempts by a metric, oldest first, without warm-ups. Only attempts with equal `measured` can show a change over time. */
export function historyPoints(
  study: Study,
  attempts: Attempt[],
  metric: string,
): (HistoryPoint & { target: LinkTarget } & Record<string, unknown>)[] {
  const unit = metricNamed(study, metric)?.unit ?? "";
  const names = namesOf(study, attempts);
  const counted = attempts.filter((attempt) => !attempt.warm_up);
  const kind = kindOf(attempts);
  return counted
    .map((attempt) => {
      const value = figureOf(study, attempt, metric);
      return {
        recorded_at: attempt.recorded_at,
        recorded: moment(attempt.recorded_at),
        value,
        unit,
        text: figureIn(unit, value),
        at: value ?? 0,
        environment: environmentText(attempt),
        parameters: parametersText(attempt),
        measured: kind(attempt),
        state: soundness(attempt),
        remark: remark(attempt),
        run: attempt.run,
        ...originColumns(originOf([attempt])),
        cell_key: attempt.cell_key,
        target: linkTargetOf(attempt),
        ...columns(study, attempt, names),
      };
    })
    .reverse();
}

const environmentText = ({ environment_hash: hash }: Attempt) => hash?.slice(0, 8) ?? UNKNOWN;

/** Return a function that names an attempt's environment, and its parameters and method if these differ among the attempts. */
function kindOf(attempts: Attempt[]): (attempt: Attempt) => string {
  const known = attempts.filter((attempt) => !attempt.warm_up && attempt.environment_hash);
  const differing = differ(known);
  const methods = new Set(known.map((attempt) => attempt.method_version)).size > 1;
  return (attempt) =>
    [
      environmentText(attempt),
      ...(differing ? valuesOf(attempt, differing) : []),
      ...(methods ? [`method ${attempt.method_version}`] : []),
    ].join(" ");
}

/** Return the visible series of a history with their names. A series without any of these attempts is absent: only the newest are loaded. */
export function seriesShown(
  history: CellHistory,
  attempts: Attempt[],
  isShown: (measured: string) => boolean,
): (Series & { measured: string })[] {
  const kind = kindOf(attempts);
  return history.series.flatMap((series) => {
    const measuredAttempt = attempts.find(
      (attempt) =>
        attempt.environment_hash === series.environment_hash &&
        attempt.parameters_hash === series.parameters_hash &&
        attempt.method_version === series.method_version,
    );
    return measuredAttempt && isShown(kind(measuredAttempt))
      ? [{ ...series, measured: kind(measuredAttempt) }]
      : [];
  });
}

/** Describe a change in words. */
export const changeText = ({ verdict, ratio }: Change, unit: string) =>
  [labelText({ verdict, unit }), ...(ratio === null ? [] : [`× ${digits(ratio, 3)}`])].join(", ");

/** Return the levels, changes and baselines of these series for the chart. */
export function historyLines(unit: string, shown: (Series & { measured: string })[]): HistoryLines {
  return {
    levels: shown.flatMap(({ measured, levels }) =>
      levels.map(({ first, last, runs, median }) => ({
        since: first.at,
        until: last.at,
        at: median,
        measured,
        said: `${runs} run${runs === 1 ? "" : "s"} alike, median ${figureIn(unit, median)}`,
      })),
    ),
    breaks: shown.flatMap(({ measured, changes }) =>
      changes.map((change) => ({
        since: change.after.first.at,
        measured,
        said: changeText(change, unit),
      })),
    ),
    baselines: shown.flatMap(({ measured, levels, baselines }) =>
      Object.entries(baselines).map(([name, figure]) => ({
        since: levels[0]?.first.at ?? figure.at,
        until: levels.at(-1)?.last.at ?? figure.at,
        at: figure.median,
        measured,
        said: `baseline ${name}: ${figureIn(unit, figure.median)}`,
      })),
    ),
  };
}

/** Return the names of the parameters in which these attempts differ; null if they do not differ. */
function differ(attempts: Attempt[]): string[] | null {
  const sets = new Map(attempts.map((attempt) => [attempt.parameters_hash, attempt.parameters ?? {}]));
  if (sets.size < 2) return null;
  const all = [...sets.values()];
  const names = [...new Set(all.flatMap(Object.keys))];
  return names.filter((name) => new Set(all.map((parameters) => String(parameters[name]))).size > 1);
}

/** Describe an attempt's values of these parameters. */
function valuesOf(attempt: Attempt, names: string[]): string[] {
  if (!attempt.environment_hash) return [];
  return [attempt.parameters ? pairs(attempt.parameters, names) : "parameters unknown"];
}

function parametersText({ parameters }: Attempt): string {
  return parameters ? pairs(parameters, Object.keys(parameters)) : UNKNOWN;
}

function pairs(parameters: Record<string, unknown>, names: string[]): string {
  return names
    .filter((name) => name in parameters)
    .map((name) => `${name}=${parameters[name]}`)
    .join(" ");
}

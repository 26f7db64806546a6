import { columns, namesOf } from "./cells";
import type { HistoryPoint } from "./charts";
import { moment, remark, soundness } from "./format";
import { type Led, ledOf } from "./Lead";
import { originColumns, originOf } from "./provenance";
import { figureOf, metricNamed } from "./study";
import type { Attempt, Study } from "./types";
import { unitOf } from "./units";

const UNKNOWN = "unknown";

/** One cell's attempts by a metric, oldest first, warm-ups left out. Only those that are `measured` alike may show a change over time. */
export function historyPoints(
  study: Study,
  attempts: Attempt[],
  metric: string,
): (HistoryPoint & { led: Led } & Record<string, unknown>)[] {
  const { axis, scale } = unitOf(metricNamed(study, metric)?.unit ?? "");
  const names = namesOf(study, attempts);
  const counted = attempts.filter((attempt) => !attempt.warm_up);
  const differing = differ(counted.filter((attempt) => attempt.environment_hash));
  return counted
    .map((attempt) => {
      const figure = figureOf(study, attempt, metric);
      const value = figure === null ? null : figure / scale;
      const environment = attempt.environment_hash?.slice(0, 8) ?? UNKNOWN;
      return {
        recorded_at: attempt.recorded_at,
        recorded: moment(attempt.recorded_at),
        value,
        unit: axis,
        at: value ?? 0,
        environment,
        parameters: parametersText(attempt),
        measured: [environment, ...(differing ? told(attempt, differing) : [])].join(" "),
        state: soundness(attempt),
        remark: remark(attempt),
        run: attempt.run,
        ...originColumns(originOf([attempt])),
        cell_key: attempt.cell_key,
        led: ledOf(attempt),
        ...columns(study, attempt, names),
      };
    })
    .reverse();
}

/** The names of the parameters in which these attempts differ; null where all had the same. */
function differ(attempts: Attempt[]): string[] | null {
  const sets = new Map(attempts.map((attempt) => [attempt.parameters_hash, attempt.parameters ?? {}]));
  if (sets.size < 2) return null;
  const all = [...sets.values()];
  const names = [...new Set(all.flatMap(Object.keys))];
  return names.filter((name) => new Set(all.map((one) => String(one[name]))).size > 1);
}

/** What tells an attempt's parameters from those of others. */
function told(attempt: Attempt, names: string[]): string[] {
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

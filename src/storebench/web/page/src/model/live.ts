/** Rank the results of a run while the run goes on. The page's ranking of a study, with its intervals and verdicts, is the API's. */
import type { Attempt, Metric, Study } from "../api/types";
import { isFloor, metricNamed } from "./study";

/** The result of a cell's operation so far. */
export interface LiveResult {
  cell: Attempt;
  /** The median of the attempts that count. */
  value: number;
  n: number;
  /** Whether all attempts were disturbed: the result has no rank. */
  disturbed: boolean;
  /** Whether the store is a floor, which has no rank. */
  floor: boolean;
  /** The ratio to the best result, from 1; null without a rank. */
  ratio: number | null;
}

export interface LiveRanking {
  metric: Metric;
  /** The results, from best to worst. Results without a rank come last. */
  results: LiveResult[];
}

/** Rank the cells of an operation by its ranking metric. Null without a verified attempt, and for a metric without a better direction. */
export function liveRanking(study: Study, attempts: Attempt[], operation: string): LiveRanking | null {
  const verified = attempts.filter(
    (attempt) =>
      attempt.operation === operation &&
      attempt.status === "verified" &&
      attempt.value !== null &&
      !attempt.warm_up &&
      !attempt.superseded,
  );
  const metric = metricNamed(study, verified.at(-1)?.metric ?? "");
  if (!metric || metric.better === "neither") return null;
  const cells = new Map<string, Attempt[]>();
  for (const attempt of verified)
    if (attempt.metric === metric.name)
      cells.set(attempt.cell_key, [...(cells.get(attempt.cell_key) ?? []), attempt]);
  const results = [...cells.values()].map((all): Omit<LiveResult, "ratio"> => {
    const calm = all.filter(({ disturbed }) => !disturbed);
    const counted = calm.length ? calm : all;
    const [cell] = counted as [Attempt, ...Attempt[]];
    return {
      cell,
      value: median(counted.map(({ value }) => value as number)),
      n: counted.length,
      disturbed: calm.length === 0,
      floor: isFloor(study, cell.store),
    };
  });
  const isRanked = (result: Omit<LiveResult, "ratio">) => !result.disturbed && !result.floor;
  const byValue = (one: Omit<LiveResult, "ratio">, other: Omit<LiveResult, "ratio">) =>
    Number(isRanked(other)) - Number(isRanked(one)) ||
    (metric.better === "lower" ? one.value - other.value : other.value - one.value);
  const sorted = results.sort(byValue);
  const best = sorted.find(isRanked)?.value;
  const ratioOf = (value: number) => {
    if (best === undefined || best <= 0 || value <= 0) return null;
    return metric.better === "lower" ? value / best : best / value;
  };
  return {
    metric,
    results: sorted.map((result) => ({ ...result, ratio: isRanked(result) ? ratioOf(result.value) : null })),
  };
}

function median(values: number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] as number;
  return sorted.length % 2 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}

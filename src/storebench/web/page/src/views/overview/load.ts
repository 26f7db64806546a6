import { get, Problem } from "../../api/api";
import { begin } from "../../api/loading";
import { studyNamed } from "../../api/study";
import type { Ranking, Study } from "../../api/types";
import { metricsOf, type Ranked } from "../../model/ranking";

export const overviewKey = (study: string) => `overview ${study}`;

/** Load the ranking of an operation, by default the study's first; null if nothing can be asked. */
export async function loadRanking(
  study: string,
  operation?: string,
  signal?: AbortSignal,
): Promise<Ranked | null> {
  try {
    const [ranking, record] = await Promise.all([
      get("/api/ranking", { study, operation }, signal),
      studyNamed(study, signal),
    ]);
    return { ranking, study: record };
  } catch (problem) {
    if (problem instanceof Problem && problem.status === 404) return null;
    throw problem;
  }
}

/** Begin to load the first ranking of a study, before the page is rendered. */
export const beginOverview = (study: string) => begin(overviewKey(study), loadRanking(study));

/** Return whether measured cells may have an operation. `where`: the values at which cells have the operation. `offered`: the measured values of each axis. */
const mayExist = (study: Study, where: Study["operations"][number]["where"], offered: Ranking["offered"]) =>
  study.axes.every(({ name }) => !where[name] || where[name].some((value) => offered[name]?.includes(value)));

/** Load the rankings of a study's other operations, one after the other, to spare a machine that measures. */
export async function loadOthers({ study, ranking }: Ranked, signal: AbortSignal): Promise<Ranked[]> {
  const others: Ranked[] = [];
  for (const { name, where } of study.operations) {
    if (name === ranking.operation || !metricsOf(study, name).length) continue;
    if (!mayExist(study, where, ranking.offered)) continue;
    const ranked = await loadRanking(study.name, name, signal);
    if (ranked) others.push(ranked);
  }
  return others;
}

/** Load the first rankings of several studies, one after the other. A study whose ranking fails is absent. */
export async function loadFirst(studies: string[], signal: AbortSignal): Promise<Map<string, Ranked>> {
  const found = new Map<string, Ranked>();
  for (const study of studies) {
    const ranked = await loadRanking(study, undefined, signal).catch(() => null);
    if (signal.aborted) break;
    if (ranked) found.set(study, ranked);
  }
  return found;
}

import { address, get, Problem } from "./api";
import type { Attempt, Chart, Metric, Operation, Store, Study } from "./types";
import { figureIn } from "./units";

/** A study of which nothing is known: none of its runs ever began. */
export const unknownStudy = (name: string): Study => ({
  name,
  title: name,
  description: "",
  method_version: 0,
  operations: [],
  metrics: [],
  common: [],
  axes: [],
  stores: [],
  charts: [],
  params: [],
  dataset: { name: "", version: 0 },
});

/** A study's details, as they were when a run of it last began. */
export async function studyNamed(name: string, signal?: AbortSignal): Promise<Study> {
  try {
    return await get<Study>(address("study", { name }), signal);
  } catch (problem) {
    if (problem instanceof Problem && problem.status === 404) return unknownStudy(name);
    throw problem;
  }
}

/** Answers with the study that they are of. */
export async function withStudy<T extends { study: string }>(
  items: T[],
  signal?: AbortSignal,
): Promise<{ study: Study; items: T[] }> {
  const name = items[0]?.study;
  return { items, study: name === undefined ? unknownStudy("") : await studyNamed(name, signal) };
}

/** The same metric of the study, or of those that all have. */
export function metricNamed(study: Study, name: string): Metric | undefined {
  return [...study.metrics, ...study.common].find((metric) => metric.name === name);
}

/** Those that are numbers: the study's own, then those that all have. */
export function scalars(study: Study): Metric[] {
  return [...study.metrics, ...study.common].filter((metric) => metric.kind === "scalar");
}

/** What an attempt came to by a metric; null where it did not report it. */
export function figureOf(study: Study, attempt: Attempt, name: string): number | null {
  const common = study.common.some((metric) => metric.name === name);
  const found = common ? (attempt as Record<string, unknown>)[name] : attempt.metrics[name];
  return typeof found === "number" ? found : null;
}

/** Those of a study's operations that are among these names, in its order. What it does not know any more comes last. */
export function operationsOf(study: Study, names: Iterable<string>): Operation[] {
  const there = new Set(names);
  const known = study.operations.filter((operation) => there.delete(operation.name));
  return [...known, ...[...there].map((name) => ({ name, metrics: [], needs: [] }))];
}

/** What an operation is called where a sentence begins. */
export function titleOfOperation(name: string): string {
  const text = name.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The numbers that an operation reports; the first ranks it. */
export const scalarsOf = (study: Study, operation: Operation): string[] =>
  operation.metrics.filter((name) => metricNamed(study, name)?.kind === "scalar");

/** The metrics that tables tell of these attempts: those that rank them, and beside each the next one of its operation. */
export function told(study: Study, attempts: Attempt[]): { first: Metric[]; second: Metric[] } {
  const operations = operationsOf(
    study,
    attempts.map((attempt) => attempt.operation),
  );
  const first = new Set(attempts.map((attempt) => attempt.metric));
  const second = new Set(operations.map((operation) => scalarsOf(study, operation)[1]));
  return {
    first: study.metrics.filter(({ name }) => first.has(name)),
    second: study.metrics.filter(({ name }) => second.has(name) && !first.has(name)),
  };
}

/** What an attempt came to, in words: as much as a square has room for. */
export function resultText(study: Study, attempt: Attempt): string {
  const others = told(study, [attempt]).second.filter(({ name }) => name in attempt.metrics);
  const texts = others.map(({ name, unit }) => figureIn(unit, attempt.metrics[name]));
  return [figureIn(attempt.unit, attempt.value), ...texts].join(" · ");
}

const STORE = "store";
const OPERATION = "operation";

/** The study's charts; of one that names none, what ranks its operations, then what all studies have. */
export function chartsOf(study: Study): Chart[] {
  if (study.charts.length) return study.charts;
  const first = study.operations.flatMap((operation) => operation.metrics.slice(0, 1));
  const names = new Set([...first, ...study.common.map((metric) => metric.name)]);
  return [...names].map((metric) => ({ metric, colour: STORE, operations: [], panel: OPERATION, over: "" }));
}

/** What the first of the study's charts tells apart by colour: for charts that the study does not name, one for each operation. */
export function layoutOf(study: Study): Pick<Chart, "colour" | "panel"> {
  const colour = chartsOf(study)[0]?.colour ?? STORE;
  return { colour: colour === OPERATION ? STORE : colour, panel: OPERATION };
}

/** What a name with a server's means: `mongodb@v8` is a mongodb. */
const bare = (store: string) => store.split("@")[0];

/** Whether a store only shows what its client can do at most. */
export function isLimit(study: Study, name: string): boolean {
  return study.stores.some((store: Store) => store.name === bare(name) && store.limit);
}

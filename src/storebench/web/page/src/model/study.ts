import type { Attempt, Chart, Metric, Operation, Study } from "../api/types";
import { figureIn } from "./units";

/** Return the metric of this name, of the study or common to all studies. */
export function metricNamed(study: Study, name: string): Metric | undefined {
  return [...study.metrics, ...study.common].find((metric) => metric.name === name);
}

/** Return the metrics that are numbers: the study's own, then the common metrics. */
export function scalars(study: Study): Metric[] {
  return [...study.metrics, ...study.common].filter((metric) => metric.kind === "scalar");
}

/** Return the names of the metrics that any of these operations reports, with the common metrics. */
export function reportedBy(study: Study, operations: string[]): Set<string> {
  const those = study.operations.filter(({ name }) => operations.includes(name));
  return new Set([...study.common.map(({ name }) => name), ...those.flatMap(({ metrics }) => metrics)]);
}

/** Return an attempt's figure of a metric; null if the attempt did not report the metric. */
export function figureOf(study: Study, attempt: Attempt, name: string): number | null {
  const common = study.common.some((metric) => metric.name === name);
  const figure = common ? (attempt as Record<string, unknown>)[name] : attempt.metrics[name];
  return typeof figure === "number" ? figure : null;
}

/** Return the operations with these names, in the study's order. Operations that the study no longer has come last. */
export function operationsOf(study: Study, names: Iterable<string>): Operation[] {
  const there = new Set(names);
  const known = study.operations.filter((operation) => there.delete(operation.name));
  return [...known, ...[...there].map((name) => ({ name, metrics: [], needs: [], where: {} }))];
}

/** Return an operation's name for the beginning of a sentence. */
export function titleOfOperation(name: string): string {
  const text = name.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Return the scalar metrics that an operation reports; the first metric ranks the operation. */
export const scalarsOf = (study: Study, operation: Operation): string[] =>
  operation.metrics.filter((name) => metricNamed(study, name)?.kind === "scalar");

/** Return the metrics of an operation that only some attempts report: no operation lists them, and a chart or a table shows them of it. */
export function reportedBySome(study: Study, operation: string): string[] {
  const listed = new Set(
    [...study.operations, { metrics: study.common.map(({ name }) => name) }].flatMap(
      ({ metrics }) => metrics,
    ),
  );
  const shown = [
    ...study.charts.map(({ metric, operations }) => ({ metrics: [metric], operations })),
    ...study.tables,
  ];
  return shown
    .filter(({ operations }) => !operations.length || operations.includes(operation))
    .flatMap(({ metrics }) => metrics)
    .filter((name) => !listed.has(name) && metricNamed(study, name)?.kind === "scalar");
}

/** Return the metrics that tables show: the ranking metric of each operation as `first`, and its next scalar metric as `second`. */
export function metricsByRank(study: Study, attempts: Attempt[]): { first: Metric[]; second: Metric[] } {
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

/** Describe an attempt's result in a text that fits into a square of the grid. */
export function resultText(study: Study, attempt: Attempt): string {
  const others = metricsByRank(study, [attempt]).second.filter(({ name }) => name in attempt.metrics);
  const texts = others.map(({ name, unit }) => figureIn(unit, attempt.metrics[name]));
  return [figureIn(attempt.unit, attempt.value), ...texts].join(" · ");
}

/** A chart of a single metric. */
const PLAIN = { over: "", limit: "", since: "", beside: "", band: null };
const STORE = "store";
const OPERATION = "operation";

/** Return the study's charts. A study without charts gets one for each ranking metric, then one for each common metric. */
export function chartsOf(study: Study): Chart[] {
  if (study.charts.length) return study.charts;
  const first = study.operations.flatMap((operation) => operation.metrics.slice(0, 1));
  const names = new Set([...first, ...study.common.map((metric) => metric.name)]);
  return [...names].map((metric) => ({ metric, colour: STORE, operations: [], panel: OPERATION, ...PLAIN }));
}

/** Return the layout of charts that the study does not define: the colours of its first chart, and a panel for each operation. */
export function layoutOf(study: Study): Pick<Chart, "colour" | "panel"> {
  const colour = chartsOf(study)[0]?.colour ?? STORE;
  return { colour: colour === OPERATION ? STORE : colour, panel: OPERATION };
}

/** Return the store's name without its server's: `mongodb` for `mongodb@v8`. */
const bare = (store: string) => store.split("@")[0];

/** Return whether a store is a floor, which shows only the client's maximum. */
export function isFloor(study: Study, name: string): boolean {
  return study.stores.some((store) => store.name === bare(name) && store.floor);
}

/**
 * Return the limits that a parameter of these attempts' runs sets, each once, in seconds for milliseconds. An attempt does not record a
 * parameter with the value that earlier results imply. An attempt without parameters has no limit.
 */
export function limitsOf(
  study: Study,
  name: string,
  attempts: Attempt[],
): { title: string; value: number }[] {
  const param = study.params.find((param) => param.name === name);
  const title = param?.title ?? name;
  const by = name.endsWith("_ms") ? 1000 : 1;
  const values = attempts.map(({ parameters }) =>
    parameters ? Number(parameters[name] ?? param?.rules.earlier ?? Number.NaN) : Number.NaN,
  );
  return [...new Set(values)].filter(Number.isFinite).map((value) => ({ title, value: value / by }));
}

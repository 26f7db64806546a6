/** A ranking in the page's address: all that was chosen, so that a link restores it. */
import type { Query } from "./api";
import { type CellName, differing, namesOf, placesText } from "./cells";
import { scalarsOf } from "./study";
import { type LeftOutCell, type Metric, type Ranking, rankingIncludedValues, type Study } from "./types";
import { compared, type Figures, NONE } from "./units";

/** In the place of a value on an axis: all of them. */
export const ANY = "*";
export const INCLUDED = rankingIncludedValues;
export const MARGINS = [1, 2, 5, 10, 20];

/** How the address names what a ranking is of, so that no other view takes it for its own. */
export const rankKey = (name: string) => `rank:${name}`;
const AXIS = "axis:";
const axisOf = (name: string) => `${AXIS}${name}`;

type Asked = URLSearchParams;

/** What is ranked, and the study that it is of. */
export interface Ranked {
  study: Study;
  found: Ranking;
}

/** A cell, ranked or not. */
export type RankedCell = Omit<LeftOutCell, "reasons">;

/** The question that the address asks; what it does not say, the API chooses. `study` is that of the run that is looked at. */
export function questionOf(asked: Asked, study: string): Query {
  const own = (name: string) => asked.get(rankKey(name)) || undefined;
  const start = rankKey(AXIS);
  return {
    study: own("study") ?? study,
    operation: own("operation"),
    metric: own("metric"),
    rows: own("rows"),
    seed: own("seed"),
    axis: [...asked]
      .filter(([name, value]) => name.startsWith(start) && value)
      .map(([name, value]) => `${name.slice(start.length)}=${value}`),
    environment: own("environment"),
    kind: own("kind"),
    include: (own("include") ?? "").split(",").filter(Boolean),
    margin_percent: own("margin"),
  };
}

/** What must change in the address so that it asks for exactly this ranking. */
export function missingIn(asked: Asked, found: Ranking): Record<string, string> {
  const full = addressOf(found);
  const stale = [...asked.keys()].filter((name) => name.startsWith(rankKey(AXIS)) && !(name in full));
  const wanted = { ...full, ...Object.fromEntries(stale.map((name) => [name, ""])) };
  return Object.fromEntries(
    Object.entries(wanted).filter(([name, value]) => (asked.get(name) ?? "") !== value),
  );
}

function addressOf(found: Ranking): Record<string, string> {
  const chosen: Record<string, string> = {
    study: found.study,
    operation: found.operation,
    metric: found.metric,
    rows: String(found.rows),
    seed: String(found.seed),
    ...Object.fromEntries(Object.entries(found.axes).map(([name, value]) => [axisOf(name), value])),
    environment: found.environment ?? "",
    kind: found.kind ?? "",
    include: found.included.join(","),
    margin: String(found.margin_percent),
  };
  return Object.fromEntries(Object.entries(chosen).map(([name, value]) => [rankKey(name), value]));
}

/** What is chosen one after the other: each choice leaves those behind it to what most cells were measured at. */
const order = (axes: string[]) => [
  "study",
  "operation",
  "metric",
  "dataset",
  ...axes.map(axisOf),
  "environment",
  "kind",
];
const FIELDS: Record<string, string[]> = { dataset: ["rows", "seed"] };
/** What a choice leaves as it is, although it is behind it. */
const KEPT: Record<string, string[]> = { metric: ["dataset", "environment"], operation: ["dataset"] };

/** The changes of the address that choose something else by this name. */
export function chosen(found: Ranking, name: string, values: string[]): Record<string, string> {
  const names = order(Object.keys(found.axes));
  const axes = names.filter((one) => one.startsWith(AXIS));
  const kept = [...(KEPT[name] ?? []), ...(name in KEPT ? axes : [])];
  const later = names.slice(names.indexOf(name) + 1).filter((one) => !kept.includes(one));
  const fields = (one: string) => FIELDS[one] ?? [one];
  return Object.fromEntries([
    ...later.flatMap(fields).map((field) => [rankKey(field), ""]),
    ...fields(name).map((field, place) => [rankKey(field), values[place] ?? ""]),
  ]);
}

/** Likewise another metric. What is delivered or promised stays, if figures of clients and engines may stand together by both. */
export function chosenMetric(study: Study, found: Ranking, name: string): Record<string, string> {
  const { [rankKey("kind")]: kind = "", ...others } = chosen(found, "metric", [name]);
  const apart = [...study.metrics, ...study.common].filter(({ by_cover }) => by_cover);
  const forgets = apart.some((metric) => metric.name === name || metric.name === found.metric);
  return forgets ? { ...others, [rankKey("kind")]: kind } : others;
}

export const chosenOnAxis = (found: Ranking, axis: string, value: string) =>
  chosen(found, axisOf(axis), [value]);

/** The metrics that an operation can be ranked by: the one that ranks it first, those that all have last. */
export function metricsOf(study: Study, operation: string): Metric[] {
  const own = study.operations.find(({ name }) => name === operation);
  const names = own ? scalarsOf(study, own) : [];
  return [...study.metrics.filter(({ name }) => names.includes(name)), ...study.common].filter(
    ({ better }) => better !== "neither",
  );
}

/** The names of cells in a table: what is alike in all of them is said once above it. */
export function namer(study: Study, cells: CellName[]): (cell: CellName) => string {
  const names = differing(cells, namesOf(study, cells));
  return (cell) => placesText(cell, ["store", "client", ...names]);
}

/** How the figures of a ranking are written: all medians are compared, also the excluded ones. */
export const figuresOf = ({ unit, lines, left_out }: Ranking): Figures =>
  compared(
    unit,
    [...lines, ...left_out].map(({ took }) => took?.median),
  );

export const medianText = ({ took }: RankedCell, figures: Figures) => figures.text(took?.median);

export function intervalText({ took }: RankedCell, figures: Figures): string {
  if (!took || took.low === null || took.high === null) return NONE;
  return figures.interval(took.low, took.high, took.median);
}

/** How many attempts, and of how many runs. */
export function countText({ took, runs }: RankedCell): string {
  if (!took) return "0";
  return `${took.n} in ${runs} run${runs === 1 ? "" : "s"}`;
}

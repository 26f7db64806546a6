/** Store a ranking's choices in the page's address, so that a link restores the ranking. */
import type { Query } from "../api/api";
import {
  type ExcludedCell,
  type Metric,
  type RankedCell,
  type Ranking,
  rankingIncludedValues,
  type Study,
} from "../api/types";
import { labels } from "./cells";
import { serverNames } from "./provenance";
import { reportedBySome, scalarsOf } from "./study";
import { compared, type Figures, NONE } from "./units";

/** Stands for all values of an axis. */
export const ANY = "*";
/** The value in the address that restricts a ranking to alike cells. */
export const ALIKE = "yes";
export const INCLUDED = rankingIncludedValues;
export const MARGINS = [1, 2, 5, 10, 20];

/** Return the name of a ranking's choice in the address; the prefix prevents conflicts with other views. */
export const rankKey = (name: string) => `rank:${name}`;
const AXIS = "axis:";
const axisOf = (name: string) => `${AXIS}${name}`;

type Asked = URLSearchParams;

/** A ranking and its study. */
export interface Ranked {
  study: Study;
  ranking: Ranking;
}

/** A cell, ranked or not. */
export type MeasuredCell = Omit<ExcludedCell, "reasons">;

/** Return the query for the ranking in the address. The API chooses absent parameters. `study` is the study of the shown run. */
export function questionOf(asked: Asked, study: string): Query<"/api/ranking"> {
  const text = (name: string) => asked.get(rankKey(name)) || undefined;
  const number = (name: string) => (text(name) ? Number(text(name)) : undefined);
  const start = rankKey(AXIS);
  return {
    study: text("study") ?? study,
    operation: text("operation"),
    metric: text("metric"),
    rows: number("rows"),
    seed: number("seed"),
    axis: [...asked]
      .filter(([name, value]) => name.startsWith(start) && value)
      .map(([name, value]) => `${name.slice(start.length)}=${value}`),
    environment: text("environment"),
    guarantee: text("guarantee"),
    include: (text("include") ?? "").split(",").filter(Boolean) as (typeof INCLUDED)[number][],
    alike: text("alike") === ALIKE || undefined,
    margin_percent: number("margin"),
  };
}

/** Return the changes after which the address names exactly this ranking. */
export function missingIn(asked: Asked, ranking: Ranking): Record<string, string> {
  const full = addressOf(ranking);
  const stale = [...asked.keys()].filter((name) => name.startsWith(rankKey(AXIS)) && !(name in full));
  const wanted = { ...full, ...Object.fromEntries(stale.map((name) => [name, ""])) };
  return Object.fromEntries(
    Object.entries(wanted).filter(([name, value]) => (asked.get(name) ?? "") !== value),
  );
}

function addressOf(ranking: Ranking): Record<string, string> {
  const chosen: Record<string, string> = {
    study: ranking.study,
    operation: ranking.operation,
    metric: ranking.metric,
    rows: String(ranking.rows),
    seed: String(ranking.seed),
    ...Object.fromEntries(Object.entries(ranking.axes).map(([name, value]) => [axisOf(name), value])),
    environment: ranking.environment ?? "",
    guarantee: ranking.guarantee ?? "",
    include: ranking.included.join(","),
    alike: ranking.alike ? ALIKE : "",
    margin: String(ranking.margin_percent),
  };
  return Object.fromEntries(Object.entries(chosen).map(([name, value]) => [rankKey(name), value]));
}

/** The choices in order: a change of one resets the later choices to the values that most cells were measured with. */
const order = (axes: string[]) => [
  "study",
  "operation",
  "metric",
  "dataset",
  ...axes.map(axisOf),
  "environment",
  "guarantee",
];
const FIELDS: Record<string, string[]> = { dataset: ["rows", "seed"] };
/** Later choices that a choice does not reset. */
const KEPT: Record<string, string[]> = { metric: ["dataset", "environment"], operation: ["dataset"] };

/** Return the changes of the address for another choice of this name. */
export function chosen(ranking: Ranking, name: string, values: string[]): Record<string, string> {
  const names = order(Object.keys(ranking.axes));
  const axes = names.filter((key) => key.startsWith(AXIS));
  const kept = [...(KEPT[name] ?? []), ...(name in KEPT ? axes : [])];
  const later = names.slice(names.indexOf(name) + 1).filter((key) => !kept.includes(key));
  const fields = (key: string) => FIELDS[key] ?? [key];
  return Object.fromEntries([
    ...later.flatMap(fields).map((field) => [rankKey(field), ""]),
    ...fields(name).map((field, place) => [rankKey(field), values[place] ?? ""]),
  ]);
}

/**
 * Return the changes for another metric. The guarantee is reset only for a metric that separates clients and engines, and the axes only for
 * a metric that some attempts report: it has values on the axes of its own.
 */
export function chosenMetric(study: Study, ranking: Ranking, name: string): Record<string, string> {
  const { [rankKey("guarantee")]: guarantee = "", ...kept } = chosen(ranking, "metric", [name]);
  const some = reportedBySome(study, ranking.operation);
  const axes = some.includes(name) || some.includes(ranking.metric) ? Object.keys(ranking.axes) : [];
  const others = { ...kept, ...Object.fromEntries(axes.map((axis) => [rankKey(axisOf(axis)), ""])) };
  const apart = [...study.metrics, ...study.common].filter(({ by_cover }) => by_cover);
  const forgets = apart.some((metric) => metric.name === name || metric.name === ranking.metric);
  return forgets ? { ...others, [rankKey("guarantee")]: guarantee } : others;
}

export const chosenOnAxis = (ranking: Ranking, axis: string, value: string) =>
  chosen(ranking, axisOf(axis), [value]);

/** Return the metrics that an operation can be declared by: its ranking metric first, the common metrics last. */
export function metricsOf(study: Study, operation: string): Metric[] {
  const declared = study.operations.find(({ name }) => name === operation);
  const names = declared ? [...scalarsOf(study, declared), ...reportedBySome(study, operation)] : [];
  return [...study.metrics.filter(({ name }) => names.includes(name)), ...study.common].filter(
    ({ better }) => better !== "neither",
  );
}

/** A cell of a ranking, with the servers that answered, their versions included. */
type RankedName = RankedCell | ExcludedCell;

/** Return a function that names a table's cells. Values that all cells share are omitted: they are above the table. */
export const namer = (study: Study, cells: RankedName[]): ((cell: RankedName) => string) =>
  labels(study, cells, ({ origin }) => serverNames(origin));

/** A place as a text, `=1` if cells share the place, and in words. */
export interface PlaceText {
  text: string;
  words: string;
}

/** Return whether another ranked cell has the place of this cell. */
export const isShared = (ranked: RankedCell[], { place }: RankedCell): boolean =>
  ranked.filter((cell) => cell.place === place).length > 1;

/** Return a function that writes the place of a ranked cell. */
export function placeTextOf(ranked: RankedCell[]): (cell: RankedCell) => PlaceText {
  return (cell) =>
    isShared(ranked, cell)
      ? { text: `=${cell.place}`, words: `shared place ${cell.place}` }
      : { text: String(cell.place), words: `place ${cell.place}` };
}

/** Return the formatter of a ranking's figures. All medians share it, including the medians of excluded cells. */
export const figuresOf = ({ unit, ranked, excluded }: Ranking): Figures =>
  compared(
    unit,
    [...ranked, ...excluded].map(({ spread }) => spread?.median),
  );

export const medianText = ({ spread }: MeasuredCell, figures: Figures) => figures.text(spread?.median);

export function intervalText({ spread }: MeasuredCell, figures: Figures): string {
  if (!spread || spread.interval_low === null || spread.interval_high === null) return NONE;
  return figures.interval(spread.interval_low, spread.interval_high, spread.median);
}

/** Describe the number of attempts and the number of runs. */
export function countText({ spread, runs }: MeasuredCell): string {
  if (!spread) return "0";
  return `${spread.n} in ${runs} run${runs === 1 ? "" : "s"}`;
}

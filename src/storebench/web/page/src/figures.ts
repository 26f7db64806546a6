import { byValue, type CellName, columns, differing, namesOf, placeOf, placesText } from "./cells";
import { remark, type Soundness, soundness } from "./format";
import { type Led, ledOf } from "./Lead";
import { originColumns, originOf } from "./provenance";
import { figureOf, isLimit, titleOfOperation } from "./study";
import type { Attempt, CellFigures, Chart, Metric, Operation, Spread, Study } from "./types";
import { compared, type Unit, unitOf } from "./units";

type Cover = Attempt["figures_cover"];

/** What a figure of the pods themselves is, which all studies have, if its title does not say it. */
const OF_PODS: Record<string, string> = {
  all_memory_working_set_peak_bytes: "peak working set",
  all_cpu_s: "of all cores",
};
const COVERS: [Cover, string][] = [
  ["client", "of the client (its server is not in it)"],
  ["engine", "of the engine, in all its pods"],
  [null, "not recorded whether of a client or an engine"],
];

/** A metric, as charts name it and show its figures. */
export interface Figure {
  name: string;
  /** Only of cells whose figures are of this: a client's memory and an engine's are not alike. */
  cover?: Cover;
  title: string;
  axis: string;
  unit: Unit;
  better: Metric["better"];
  /** Whether attempts have it, and not only the cells. */
  ofAttempts: boolean;
}

/** How a metric is drawn: in one chart, or in one for each of what it can be of. */
export function figuresOf(metric: Metric): Figure[] {
  const unit = unitOf(metric.unit);
  const what = OF_PODS[metric.name];
  const figure = { name: metric.name, unit, better: metric.better, ofAttempts: true };
  const axis = [unit.axis || metric.title, what].filter(Boolean).join(", ");
  return metric.by_cover
    ? covered({ ...figure, axis }, metric.title)
    : [{ ...figure, axis, title: metric.title }];
}

const covered = (figure: Omit<Figure, "title">, title: string): Figure[] =>
  COVERS.map(([cover, of]) => ({ ...figure, cover, title: `${title}${cover ? " " : ", "}${of}` }));

/** What a verified GB, or an attempt of a study without a dataset, cost in this currency. */
export function costFigures(study: Study, currency: string): Figure[] {
  const axis = `${currency} for each ${study.dataset ? "GB (10⁹ bytes) of the dataset" : "attempt"}`;
  return covered(
    {
      name: COST,
      axis,
      unit: { axis, scale: 1, compared: (values) => compared(currency, values) },
      better: "lower",
      ofAttempts: false,
    },
    "cost",
  );
}

const COST = "cost";

/** The cells with what they cost among their figures, if an hour of a core and of a GiB of memory costs that much. */
export function priced(cells: CellFigures[], cpuHour: number, gibHour: number): CellFigures[] {
  return cells.map((cell) => {
    const { used } = cell;
    if (!used) return cell;
    const median = used.cpu_hours * cpuHour + used.memory_gib_hours * gibHour;
    const spread = { n: used.n, median, low: null, high: null, coverage: null };
    return { ...cell, figures: { ...cell.figures, [COST]: spread } };
  });
}

/** The operations of a chart: those that it names, or those that report its metric. What all studies have all operations report. */
export function operationsIn(
  study: Study,
  { metric, operations: named }: Chart,
  operations: Operation[],
): Operation[] {
  if (named.length) return operations.filter(({ name }) => named.includes(name));
  const common = study.common.some(({ name }) => name === metric);
  return operations.filter((operation) => common || operation.metrics.includes(metric));
}

/** Of which operations each chart is: of one each, or of all together. */
export const apart = ({ panel }: Layout, operations: Operation[]): Operation[][] =>
  panel === "operation" ? operations.map((operation) => [operation]) : operations.length ? [operations] : [];

/** What a chart is called: by its operation, where it is of only one. */
export function chartTitle(operations: Operation[], what: string): string {
  const [only, ...others] = operations;
  return only && !others.length ? `${titleOfOperation(only.name)}: ${what}` : titleOfOperation(what);
}

/** An attempt in a chart. */
export interface Dot {
  attempt_id: string;
  run_id: string;
  repeat: number;
  value: number | null;
  state: Soundness;
  remark: string;
}

/** A cell in a chart: its median in the chart's unit, null where no attempt counts, and its attempts. */
export interface Bar {
  cell: CellFigures;
  spread: Spread | null;
  dots: Dot[];
}

/** What stands beside one name. A limit is what the client does without a store: it is a mark for the others, and none of them. */
export interface Line {
  name: string;
  bars: Bar[];
  limit: boolean;
}

/** The lines of one of a chart's panels; one without a name is the only one. */
export interface Panel {
  name: string;
  lines: Line[];
}

export interface ChartData {
  panels: Panel[];
  /** In what else the cells differ. */
  note: string | null;
}

export const barsOf = (data: ChartData) =>
  data.panels.flatMap((panel) => panel.lines.flatMap((line) => line.bars));
/** The medians of what is compared, or those of the limits. */
export const mediansOf = (data: ChartData, limit = false): number[] =>
  data.panels
    .flatMap((panel) => panel.lines.filter((line) => line.limit === limit).flatMap((line) => line.bars))
    .flatMap((bar) => (bar.spread ? [bar.spread.median] : []));

/** The values by which a chart's scale is chosen: a limit counts only if the others would be short beside it. */
export function scaledBy(data: ChartData): number[] {
  const medians = mediansOf(data);
  const most = Math.max(...medians);
  return [...medians, ...mediansOf(data, true).filter((limit) => limit > most)];
}

/** What a cell's figures are of. An attempt that came to no figure does not say it: others of its store do. */
function coverOf(cell: CellFigures, cells: CellFigures[]): Cover {
  const alike = [cell, ...cells.filter((other) => other.store === cell.store)];
  return alike.flatMap((one) => one.attempts).find((attempt) => attempt.figures_cover)?.figures_cover ?? null;
}

/** Which of these attempts at one operation were promised another durability than others, or deliver something else; null where all are alike. */
export function mixed(attempts: Attempt[]): string | null {
  const found = [
    kinds(attempts, "Their durability differs", (one) => one.durability),
    kinds(attempts, "What they deliver differs", (one) => one.delivers),
  ];
  return found.filter(Boolean).join(" ") || null;
}

function kinds(attempts: Attempt[], what: string, kindOf: (one: Attempt) => string | null): string | null {
  const known = attempts.filter(kindOf);
  const kinds = [...new Set(known.map(kindOf))];
  if (kinds.length < 2) return null;
  // a store whose clients are all alike needs only its own name
  const name = (one: Attempt) =>
    known.some((other) => other.store === one.store && kindOf(other) !== kindOf(one))
      ? `${one.store} ${one.client}`
      : one.store;
  const parts = kinds.map((kind) => {
    const names = new Set(known.filter((one) => kindOf(one) === kind).map(name));
    return `${kind} (${[...names].join(", ")})`;
  });
  return `${what}: ${parts.join(", ")}.`;
}

/** What a chart's colours and panels tell apart. */
export type Layout = Pick<Chart, "colour" | "panel">;

/** What the lines of a chart tell apart: store and client, and in what else its cells differ that neither colours nor panels tell. */
export function lineNames(study: Study, cells: CellName[], { colour, panel }: Layout): string[] {
  const isLeft = (name: string) => name !== colour && name !== panel;
  const others = ["operation", ...namesOf(study, cells)].filter(isLeft);
  return [...["store", "client"].filter(isLeft), ...differing(cells, others)];
}

/** What one chart has of these cells, in their order. `shown` leaves out what is hidden; `byFigure` has the best lines first. */
export function chartData(
  study: Study,
  cells: CellFigures[],
  operations: Operation[],
  figure: Figure,
  layout: Layout,
  { shown = () => true, byFigure = false }: { shown?: (cell: CellName) => boolean; byFigure?: boolean } = {},
): ChartData {
  const of = new Set(operations.map(({ name }) => name));
  const chosen = cells.filter(
    (cell) =>
      of.has(cell.operation) &&
      (figure.cover === undefined || coverOf(cell, cells) === figure.cover) &&
      shown(cell),
  );
  const names = lineNames(study, chosen, layout);
  // where there is nothing else, there is nothing to limit
  const others = chosen.some((cell) => !isLimit(study, cell.store));
  const byColour = (one: Bar, other: Bar) => byPlace(layout.colour)(one.cell, other.cell);
  const order = byFigure ? byBest(figure) : () => 0;
  return {
    panels: panelled(chosen, layout.panel).map(([name, some]) => ({
      name,
      lines: [false, true].flatMap((limit) => {
        const own = some.filter((cell) => (others && isLimit(study, cell.store)) === limit);
        return [...linesOf(study, own, limit ? [...new Set(["store", ...names])] : names, figure)]
          .map(([name, bars]) => ({ name, bars: bars.sort(byColour), limit }))
          .sort(order);
      }),
    })),
    note: mixed(chosen.flatMap((cell) => cell.attempts)),
  };
}

/** The cells of each of a chart's panels, by the panel's name, which is empty where it is the only one. */
export function panelled<T extends CellName>(cells: T[], panel: string): [string, T[]][] {
  const own = panel === "operation" ? "" : panel;
  const panels = new Map<string, T[]>();
  for (const cell of [...cells].sort(byPlace(own)))
    grouped(panels, own ? placesText(cell, [own]) || `no ${own}` : "", []).push(cell);
  return [...panels];
}

/** The bars that stand beside each name. */
function linesOf(study: Study, cells: CellFigures[], names: string[], figure: Figure): Map<string, Bar[]> {
  const lines = new Map<string, Bar[]>();
  for (const cell of cells)
    grouped(lines, placesText(cell, names) || "all", []).push(barOf(study, cell, figure));
  return lines;
}

function grouped<T>(groups: Map<string, T>, name: string, empty: T): T {
  const found = groups.get(name) ?? empty;
  groups.set(name, found);
  return found;
}

/** By an axis's values; stores and clients are in their order already. */
function byPlace(name: string): (one: CellName, other: CellName) => number {
  if (["", "store", "client", "operation"].includes(name)) return () => 0;
  return (one, other) => byValue(placeOf(one, name), placeOf(other, name));
}

/** Lines by the best of their medians; those without any come last. */
function byBest({ better }: Figure): (one: Line, other: Line) => number {
  const sign = better === "lower" ? 1 : -1;
  const best = (line: Line) =>
    Math.min(...line.bars.map(({ spread }) => (spread ? sign * spread.median : Number.POSITIVE_INFINITY)));
  return (one, other) => (best(one) === best(other) ? 0 : best(one) - best(other));
}

function barOf(study: Study, cell: CellFigures, { name, unit, ofAttempts }: Figure): Bar {
  const scaled = (value: number | null) => (value === null ? null : value / unit.scale);
  const spread = cell.figures[name];
  return {
    cell,
    spread: spread
      ? {
          ...spread,
          median: spread.median / unit.scale,
          low: scaled(spread.low),
          high: scaled(spread.high),
        }
      : null,
    dots: ofAttempts
      ? cell.attempts.map((attempt) => ({
          attempt_id: attempt.attempt_id,
          run_id: attempt.run_id,
          repeat: attempt.repeat,
          value: scaled(figureOf(study, attempt, name)),
          state: soundness(attempt),
          remark: remark(attempt),
        }))
      : [],
  };
}

/** What the lines of its table are of. */
export const ledIn = (data: ChartData): Led[] =>
  barsOf(data).flatMap(({ cell, spread }) => (spread ? [ledOf({ ...cell, ...runOf(cell) })] : []));

/** The run that a cell's figures are of. */
export function runOf({ attempts }: CellFigures): { run_id?: string } {
  const [first] = attempts;
  return first ? { run_id: first.run_id } : {};
}

/** A chart's figures, as they are taken away: with the run and the dataset. */
export function chartTable(
  study: Study,
  data: ChartData,
  figure: Figure,
  names: string[],
): Record<string, unknown>[] {
  return barsOf(data).flatMap(({ cell, spread }) =>
    spread
      ? [
          {
            store: cell.store,
            client: cell.client,
            operation: cell.operation,
            ...columns(study, cell, names),
            run: cell.attempts[0]?.run_id ?? "",
            ...originColumns(originOf(cell.attempts)),
            delivers:
              [...new Set(cell.attempts.map((one) => one.delivers))].filter(Boolean).join(", ") || null,
            ...spread,
            unit: figure.axis,
          },
        ]
      : [],
  );
}

/** Of how many repeats the medians are, and whether they have intervals. */
export function countsText(data: ChartData, { ofAttempts }: Figure): string {
  const spreads = barsOf(data).flatMap(({ spread }) => (spread ? [spread] : []));
  if (!spreads.length) return "No repeat counts yet.";
  const repeats = repeatsText(spreads.map(({ n }) => n));
  if (!ofAttempts) return `Medians of ${repeats}.`;
  return `Medians of ${repeats}, ${intervalsText(spreads, "with intervals of 95 % or more")}.`;
}

/** How many repeats there are of each of several. */
export function repeatsText(counts: number[]): string {
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  if (least !== most) return `${least} to ${most} repeats`;
  return most === 1 ? "1 repeat" : `${most} repeats`;
}

/** Which of several figures have no interval; `known` says it where all have one. */
export function intervalsText(figures: { low: number | null }[], known: string): string {
  const without = figures.filter(({ low }) => low === null).length;
  if (!without) return known;
  return without === figures.length
    ? "too few for intervals"
    : `${without} of ${figures.length} have too few for an interval`;
}

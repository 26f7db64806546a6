import type { Attempt, CellFigures, Chart, Metric, Operation, Spread, Study } from "../api/types";
import { byValue, type CellName, columns, differing, labelled, namesOf, placeOf, placesText } from "./cells";
import { remark, type Soundness, soundness } from "./format";
import { type LinkTarget, linkTargetOf } from "./lead";
import { originColumns, originOf } from "./provenance";
import { figureOf, isFloor, titleOfOperation } from "./study";

type Cover = Attempt["figures_cover"];

/** Additions to the titles of pod figures that all studies have. */
const OF_PODS: Record<string, string> = {
  all_memory_working_set_peak_bytes: "peak working set",
  all_cpu_s: "of all cores",
};
const COVERS: [Cover, string][] = [
  ["client", "of the client (its server is not in it)"],
  ["engine", "of the engine, in all its pods"],
  [null, "not recorded whether of a client or an engine"],
];

/** A metric as a chart shows it. */
export interface Figure {
  name: string;
  /** Restricts the chart to cells whose figures cover a client, or an engine: the memory of both is not comparable. */
  cover?: Cover;
  title: string;
  /** The unit of the values, as the API names it: s, bytes, rows/s; a currency. */
  unit: string;
  /** The addition to the unit on an axis. */
  addition: string;
  better: Metric["better"];
  /** Whether attempts have the figure, and not only cells. */
  ofAttempts: boolean;
}

/** Return the charts of a metric: one, or one each for clients and engines. */
export function figuresOf(metric: Metric): Figure[] {
  const { name, unit, better, title } = metric;
  const figure = { name, unit, better, addition: OF_PODS[name] ?? "", ofAttempts: true };
  return metric.by_cover ? covered(figure, title) : [{ ...figure, title }];
}

const covered = (figure: Omit<Figure, "title">, title: string): Figure[] =>
  COVERS.map(([cover, of]) => ({ ...figure, cover, title: `${title}${cover ? " " : ", "}${of}` }));

/** Return the charts of the cost in this currency per verified GB, or per attempt in a study without a dataset. */
export function costFigures(study: Study, currency: string): Figure[] {
  const addition = `per ${study.dataset ? "GB (10⁹ bytes) of the dataset" : "attempt"}`;
  return covered({ name: COST, unit: currency, addition, better: "lower", ofAttempts: false }, "cost");
}

/** Describe a figure's unit in words: for an export, and for a figure without a unit by its title. */
export const unitText = ({ unit, addition, title }: Figure): string =>
  [unit || title, addition].filter(Boolean).join(unit ? " " : ", ");

const COST = "cost";

/** Add the cost to the cells' figures, for these prices of a core-hour and of a GiB of memory for an hour. */
export function priced(cells: CellFigures[], cpuHour: number, gibHour: number): CellFigures[] {
  return cells.map((cell) => {
    const { used } = cell;
    if (!used) return cell;
    const median = used.cpu_hours * cpuHour + used.memory_gib_hours * gibHour;
    const spread = { n: used.n, median, interval_low: null, interval_high: null, interval_coverage: null };
    return { ...cell, figures: { ...cell.figures, [COST]: spread } };
  });
}

/** Return the operations of a chart: named operations, or all that report its metric. All operations report the common metrics. */
export function operationsIn(
  study: Study,
  { metric, operations: named }: Chart,
  operations: Operation[],
): Operation[] {
  if (named.length) return operations.filter(({ name }) => named.includes(name));
  const common = study.common.some(({ name }) => name === metric);
  return operations.filter((operation) => common || operation.metrics.includes(metric));
}

/** Return the cells to which a metric applies. A metric that no operation lists applies to the cells that report it. */
export function reporting(study: Study, { name }: Metric, cells: CellFigures[]): CellFigures[] {
  const listed = [
    ...study.operations.flatMap(({ metrics }) => metrics),
    ...study.common.map(({ name }) => name),
  ];
  return listed.includes(name) ? cells : cells.filter(({ figures }) => figures[name]);
}

/** Split operations into charts: one chart for each operation, or one for all operations. */
export const apart = ({ panel }: Layout, operations: Operation[]): Operation[][] =>
  panel === "operation" ? operations.map((operation) => [operation]) : operations.length ? [operations] : [];

/** Return a chart's title, with the operation if the chart has only one. */
export function chartTitle(operations: Operation[], what: string): string {
  const [only, ...others] = operations;
  return only && !others.length ? `${titleOfOperation(only.name)}: ${what}` : titleOfOperation(what);
}

/** An attempt as a chart shows it. */
export interface Dot {
  attempt_id: string;
  run_id: string;
  repeat: number;
  value: number | null;
  state: Soundness;
  remark: string;
}

/** A cell as a chart shows it: its median in the metric's unit, null if no attempt counts, and its attempts. */
export interface Bar {
  cell: CellFigures;
  /** The values in which the cell differs from others of the chart. */
  name: string;
  spread: Spread | null;
  dots: Dot[];
  /** Whether the store is a floor, the client without a store: a mark for the other bars, not compared with them. */
  limit: boolean;
}

/** The bars of a chart's panel; a single panel has no name. */
export interface Panel {
  name: string;
  bars: Bar[];
}

export interface ChartData {
  panels: Panel[];
  /** The names in which the chart's cells differ. */
  names: string[];
  /** Further differences between the cells. */
  note: string | null;
}

export const barsOf = (data: ChartData) => data.panels.flatMap((panel) => panel.bars);

/** Return the medians of the compared bars, or with `limit` the medians of the floors. */
export const mediansIn = (bars: Bar[], limit = false): number[] =>
  bars.flatMap((bar) => (bar.limit === limit && bar.spread ? [bar.spread.median] : []));

/** Return the values that choose a chart's scale. A floor counts only if it exceeds all other medians. */
export function scaledBy(data: ChartData): number[] {
  const bars = barsOf(data);
  const medians = mediansIn(bars);
  const most = Math.max(...medians);
  return [...medians, ...mediansIn(bars, true).filter((limit) => limit > most)];
}

/** Return whether a cell's figures cover a client or an engine. If its own attempts have no figures, other cells of the store decide. */
function coverOf(cell: CellFigures, cells: CellFigures[]): Cover {
  const alike = [cell, ...cells.filter((other) => other.store === cell.store)];
  return (
    alike.flatMap((cell) => cell.attempts).find((attempt) => attempt.figures_cover)?.figures_cover ?? null
  );
}

/** Describe how these attempts at one operation differ in durability, or in what they deliver; null if they do not differ. */
export function mixed(attempts: Attempt[]): string | null {
  const differences = [
    kinds(attempts, "Their durability differs", (attempt) => attempt.durability),
    kinds(attempts, "What they deliver differs", (attempt) => attempt.delivers),
  ];
  return differences.filter(Boolean).join(" ") || null;
}

function kinds(
  attempts: Attempt[],
  what: string,
  kindOf: (attempt: Attempt) => string | null,
): string | null {
  const known = attempts.filter(kindOf);
  const kinds = [...new Set(known.map(kindOf))];
  if (kinds.length < 2) return null;
  // omit the client if all clients of the store are of the same kind
  const name = (attempt: Attempt) =>
    known.some((other) => other.store === attempt.store && kindOf(other) !== kindOf(attempt))
      ? `${attempt.store} ${attempt.client}`
      : attempt.store;
  const parts = kinds.map((kind) => {
    const names = new Set(known.filter((attempt) => kindOf(attempt) === kind).map(name));
    return `${kind} (${[...names].join(", ")})`;
  });
  return `${what}: ${parts.join(", ")}.`;
}

/** The names that a chart's colours and panels distinguish. */
export type Layout = Pick<Chart, "colour" | "panel">;

/** Return the names that tell the cells of a chart apart, besides its panels; the store if none does. */
export function barNames(study: Study, cells: CellName[], panel: string): string[] {
  const all = ["store", "client", "operation", ...namesOf(study, cells)].filter((name) => name !== panel);
  const names = differing(cells, all);
  return names.length ? names : ["store"];
}

/** Arrange these cells into a chart, in their order. `shown` excludes hidden cells; `byFigure` sorts the best bars first. */
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
  const names = barNames(study, chosen, layout.panel);
  // a floor alone is drawn like any other store
  const others = chosen.some((cell) => !isFloor(study, cell.store));
  const isComparedFloor = (cell: CellFigures) => others && isFloor(study, cell.store);
  const best = byBest(figure);
  return {
    panels: panelled(chosen, layout.panel).map(([name, some]) => {
      const bars = some.map((cell) => barOf(study, cell, figure, names, isComparedFloor(cell)));
      const compared = bars.filter((bar) => !bar.limit);
      return {
        name,
        bars: [...(byFigure ? compared.sort(best) : compared), ...bars.filter((bar) => bar.limit)],
      };
    }),
    names,
    note: mixed(chosen.flatMap((cell) => cell.attempts)),
  };
}

/** Group cells by panel, with the panel's name, which is empty for a single panel. */
export function panelled<T extends CellName>(cells: T[], panel: string): [string, T[]][] {
  const axis = panel === "operation" ? "" : panel;
  const panels = new Map<string, T[]>();
  for (const cell of [...cells].sort(byPlace(axis)))
    grouped(panels, axis ? placesText(cell, [axis]) || `no ${axis}` : "", []).push(cell);
  return [...panels];
}

function grouped<T>(groups: Map<string, T>, name: string, empty: T): T {
  const group = groups.get(name) ?? empty;
  groups.set(name, group);
  return group;
}

/** Compare cells by an axis's values; stores and clients are already in order. */
function byPlace(name: string): (one: CellName, other: CellName) => number {
  if (["", "store", "client", "operation"].includes(name)) return () => 0;
  return (one, other) => byValue(placeOf(one, name), placeOf(other, name));
}

/** Compare bars by their medians, the best first; bars without a median come last. */
function byBest({ better }: Figure): (one: Bar, other: Bar) => number {
  const sign = better === "lower" ? 1 : -1;
  const rank = ({ spread }: Bar) => (spread ? sign * spread.median : Number.POSITIVE_INFINITY);
  return (one, other) => (rank(one) === rank(other) ? 0 : rank(one) - rank(other));
}

/** Return the names of the servers that answered a cell's attempts. */
export const serversOfCell = ({ attempts }: CellFigures) => attempts.map(({ server_name }) => server_name);

/** Return a cell with the label of the servers that answered its attempts. */
export const answered = (study: Study, cell: CellFigures): CellFigures =>
  labelled(study, cell, serversOfCell(cell));

function barOf(
  study: Study,
  cell: CellFigures,
  { name, ofAttempts }: Figure,
  names: string[],
  limit: boolean,
): Bar {
  const named = answered(study, cell);
  return {
    cell: named,
    name: placesText(named, names) || "all",
    spread: cell.figures[name] ?? null,
    dots: ofAttempts
      ? cell.attempts.map((attempt) => ({
          attempt_id: attempt.attempt_id,
          run_id: attempt.run_id,
          repeat: attempt.repeat,
          value: figureOf(study, attempt, name),
          state: soundness(attempt),
          remark: remark(attempt),
        }))
      : [],
    limit,
  };
}

/** Return the targets of the links in a chart's table, line by line. */
export const linkTargetsIn = (data: ChartData): LinkTarget[] =>
  barsOf(data).flatMap(({ cell, spread }) => (spread ? [linkTargetOf({ ...cell, ...runOf(cell) })] : []));

/** Return the run of a cell's figures. */
export function runOf({ attempts }: CellFigures): { run_id?: string } {
  const [first] = attempts;
  return first ? { run_id: first.run_id } : {};
}

/** Return a chart's figures for export, with the run and the dataset. */
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
              [...new Set(cell.attempts.map((attempt) => attempt.delivers))].filter(Boolean).join(", ") ||
              null,
            ...spread,
            unit: unitText(figure),
          },
        ]
      : [],
  );
}

/** Describe the numbers of repeats behind the medians, and whether the medians have intervals. */
export function countsText(data: ChartData, { ofAttempts }: Figure): string {
  const spreads = barsOf(data).flatMap(({ spread }) => (spread ? [spread] : []));
  if (!spreads.length) return "No repeat counts yet.";
  if (!ofAttempts) return `Medians of ${repeatsText(spreads.map(({ n }) => n))}.`;
  return `${spreadsText(spreads)}.`;
}

/** Describe the numbers of repeats behind these medians, and their intervals. */
export const spreadsText = (spreads: Spread[]): string =>
  `Medians of ${repeatsText(spreads.map(({ n }) => n))}, ${intervalsText(
    spreads.map(({ interval_low }) => interval_low),
    "with intervals of 95 % or more",
  )}`;

/** Describe the range of the numbers of repeats. */
export function repeatsText(counts: number[]): string {
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  if (least !== most) return `${least} to ${most} repeats`;
  return most === 1 ? "1 repeat" : `${most} repeats`;
}

/** Describe how many figures lack an interval; `known` is the text if none does. */
export function intervalsText(lows: (number | null)[], known: string): string {
  const without = lows.filter((low) => low === null).length;
  if (!without) return known;
  return without === lows.length
    ? "too few for intervals"
    : `${without} of ${lows.length} have too few for an interval`;
}

import type { Attempt, Metric, Study } from "../api/types";
import { columns, isNumeric, isOfDataset, namesOf, type Places, placeOf, titleOf, valueText } from "./cells";
import { axisKey, metricKey } from "./choice";
import { moment, remark } from "./format";
import { machineText } from "./provenance";
import { metricsByRank } from "./study";
import { compared, NONE } from "./units";

/** A column of a table of attempts; `sort` is the API's name of the sort order. */
export interface Column {
  title: string;
  sort: string | null;
  text: (attempt: Attempt) => string;
  /** The text that appears when the mouse rests on a cell of the column. */
  hint?: (attempt: Attempt) => string | null;
  number?: boolean;
}

/** Return the cores that a server's client used, and the cores that it could use; empty for an engine in the pod. */
const clientCpu = (attempt: Attempt) => cores(attempt.client_cpu_share, attempt.client_cores_usable);

/** Return the cores that the busiest service in front of the store used, and the cores that it could use. */
const serviceCpu = (attempt: Attempt) => cores(attempt.service_cpu_share, attempt.service_cores_usable);

/** Describe the used and the usable cores. */
export function cores(used: number | null, usable: number | null): string {
  return used === null || usable === null ? NONE : `${used.toFixed(2)} of ${Number(usable.toFixed(2))}`;
}

type Value = (attempt: Attempt) => number | null | undefined;

/** Return a formatter for a figure of these attempts. */
function written(attempts: Attempt[], unit: string | null, value: Value): (attempt: Attempt) => string {
  const { text } = compared(unit, attempts.map(value));
  return (attempt) => text(value(attempt));
}

/** Name an attempt's repeat, and its try if the operation was tried again. */
function repeat(attempt: Attempt): string {
  const number = attempt.warm_up ? "warm-up" : String(attempt.repeat);
  return attempt.try_number > 1 || attempt.superseded ? `${number}, try ${attempt.try_number}` : number;
}

const FIRST: Column[] = [
  { title: "recorded, UTC", sort: "recorded_at", text: (a) => moment(a.recorded_at) },
  { title: "store", sort: "store", text: (a) => a.store },
  { title: "client", sort: "client", text: (a) => a.client },
];
const WHICH: Column[] = [
  { title: "repeat", sort: "repeat", text: repeat, number: true },
  { title: "operation", sort: "operation", text: (a) => a.operation },
  {
    title: "state",
    sort: "status",
    text: (a) => (a.status === "verified" ? remark(a) : `${remark(a)}: ${a.error ?? ""}`),
  },
];
/** Return columns of the figures that all studies have. The figures of a column share a unit. */
const commonFigures = (attempts: Attempt[]): Column[] => [
  {
    title: "total without verification",
    sort: null,
    text: written(attempts, "s", (a) => a.work_total_s),
    number: true,
  },
  { title: "total time", sort: "total_s", text: written(attempts, "s", (a) => a.total_s), number: true },
  {
    title: "memory",
    sort: "all_memory_working_set_peak_bytes",
    text: written(attempts, "bytes", (a) => a.all_memory_working_set_peak_bytes),
    number: true,
  },
];
const LAST: Column[] = [
  { title: "memory of", sort: null, text: (a) => a.figures_cover ?? NONE },
  { title: "client CPU", sort: "client_cpu_share", text: clientCpu, number: true },
  {
    // what a read delivers, or the durability of a write
    title: "guarantee",
    sort: null,
    text: (a) => [a.durability, a.delivers].filter(Boolean).join(", ") || NONE,
    hint: (a) => a.durability_stated,
  },
  {
    title: "server",
    sort: null,
    text: (a) => [a.server_name, a.server_version].filter(Boolean).join(" ") || NONE,
  },
];
/** Shown only if an attempt has a service: most studies have none. */
const SERVICE: Column = { title: "service CPU", sort: null, text: serviceCpu, number: true };
/** The sort orders of a table of attempts, besides axes and metrics. */
const SORTS = [
  "value",
  "rows",
  "seed",
  ...[...FIRST, ...WHICH, ...commonFigures([]), ...LAST].map((column) => column.sort),
];

/** Return whether the API sorts by this name. Any axis or metric passes: an address may be older than the study's axes. */
export const isSort = (name: string | null): name is string =>
  name !== null && (SORTS.includes(name) || name.startsWith(axisKey("")) || name.startsWith(metricKey("")));

/** A column that the study names: by its title, or by its name if another column has the same title. */
type Named = Omit<Column, "title"> & { title: string; name: string };

/** Return the column of an axis, or of a parameter of the dataset. */
const place = (study: Places, name: string): Named => ({
  name,
  title: titleOf(study, name),
  sort: isOfDataset(name) ? name : axisKey(name),
  text: (a) => valueText(placeOf(a, name)),
  number: isNumeric(study, name),
});

/** Return the columns of these attempts, including axes, datasets and the study's own figures. `more` names further metrics. */
export function columnsOf(study: Study, attempts: Attempt[], more: string[] = []): Column[] {
  const { first, second } = metricsByRank(study, attempts);
  const only = first.length === 1 ? first[0] : undefined;
  const places = namesOf(study, attempts);
  const units = [...new Set(attempts.map(({ unit }) => unit))];
  const figures = new Map(
    units.map((unit) => [
      unit,
      written(
        attempts.filter((attempt) => attempt.unit === unit),
        unit,
        ({ value }) => value,
      ),
    ]),
  );
  const figureColumns: Named[] = [
    {
      name: "figure",
      title: only?.title ?? "figure",
      sort: "value",
      text: (a) => figures.get(a.unit)?.(a) ?? NONE,
      hint: (a) => first.find(({ name }) => name === a.metric)?.title ?? a.metric,
      number: true,
    },
    ...[...second, ...otherMetrics(study, attempts).filter(({ name }) => more.includes(name))].map(
      ({ name, title, unit }) => ({
        name,
        title,
        sort: metricKey(name),
        text: written(attempts, unit, ({ metrics }) => metrics[name]),
        number: true,
      }),
    ),
  ];
  const allColumns: (Column | Named)[] = [
    ...FIRST,
    ...places.map((name) => place(study, name)),
    ...WHICH,
    ...figureColumns,
    ...commonFigures(attempts),
    ...LAST,
    ...(attempts.some((a) => a.service_cpu_share !== null) ? [SERVICE] : []),
  ];
  const titles = allColumns.map((column) => column.title);
  return allColumns.map((column) =>
    "name" in column && titles.indexOf(column.title) !== titles.lastIndexOf(column.title)
      ? { ...column, title: column.name }
      : column,
  );
}

/** Return the metrics that these attempts report, and that a table does not show by default. */
export function otherMetrics(study: Study, attempts: Attempt[]): Metric[] {
  const { first, second } = metricsByRank(study, attempts);
  const shown = new Set([...first, ...second].map(({ name }) => name));
  return study.metrics.filter(
    ({ name, kind }) =>
      kind === "scalar" && !shown.has(name) && attempts.some(({ metrics }) => metrics[name] !== undefined),
  );
}

/** Split columns into those whose text differs among the attempts, and those that are equal; the sorted column stays. */
export function foldedOf(columns: Column[], attempts: Attempt[], sort: string): [Column[], Column[]] {
  const isEqual = (column: Column) =>
    attempts.length > 1 &&
    column.sort !== sort &&
    attempts.every((attempt) => column.text(attempt) === column.text(attempts[0] as Attempt));
  return [columns.filter((column) => !isEqual(column)), columns.filter(isEqual)];
}

/** Split a table into the columns with the same value in all lines, and the lines without these columns. */
export function common(table: Record<string, string>[]): [Record<string, string>, Record<string, string>[]] {
  const names = Object.keys(table[0] ?? {});
  const same = names.filter(
    (name) => table.length > 1 && table.every((line) => line[name] === table[0]?.[name]),
  );
  const pick = (line: Record<string, string>, wanted: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(line).filter(([name]) => wanted(name)));
  return [
    pick(table[0] ?? {}, (name) => same.includes(name)),
    table.map((line) => pick(line, (name) => !same.includes(name))),
  ];
}

/** Return attempts as they are displayed: a text for each column. */
export function shown(study: Study, attempts: Attempt[]): Record<string, string>[] {
  const all = columnsOf(study, attempts);
  return attempts.map((attempt) =>
    Object.fromEntries(all.map((column) => [column.title, column.text(attempt)])),
  );
}

/** Return attempts for export: all fields, with a column for each axis and each figure. */
export function taken(study: Study, attempts: Attempt[]): Record<string, unknown>[] {
  const names = namesOf(study, attempts);
  const metrics = [...new Set(attempts.flatMap((attempt) => Object.keys(attempt.metrics)))];
  return attempts.map(({ axes, metrics: figures, machine, ...attempt }) => ({
    ...attempt,
    machine: machine ? machineText(machine) : null,
    ...columns(study, { ...attempt, axes }, names),
    ...Object.fromEntries(metrics.map((name) => [name, figures[name] ?? null])),
  }));
}

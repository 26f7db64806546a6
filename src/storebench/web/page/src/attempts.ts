import { batchLabel, mebibytes, moment, rate, remark, seconds } from "./format";
import type { Attempt } from "./types";

/** A column of a table of attempts; `sort` is what the API sorts by. */
export interface Column {
  title: string;
  sort: string | null;
  text: (attempt: Attempt) => string;
  /** What is shown when the mouse rests on it. */
  hint?: (attempt: Attempt) => string | null;
  number?: boolean;
}

/** The cores that a server's client kept busy, of those that it could; an engine in the pod has none to tell it from. */
function clientCpu(attempt: Attempt): string {
  const { client_cpu_share: used, client_cores_usable: usable } = attempt;
  if (used === null || usable === null) return "–";
  return `${used.toFixed(2)} of ${Number(usable.toFixed(2))}`;
}

/** Which repeat it is; of an operation that was tried again, which try, too. */
function repeat(attempt: Attempt): string {
  const number = attempt.warm_up ? "warm-up" : String(attempt.repeat);
  return attempt.try_number > 1 || attempt.superseded ? `${number}, try ${attempt.try_number}` : number;
}

export const COLUMNS: Column[] = [
  {
    title: "recorded, UTC",
    sort: "recorded_at",
    text: (a) => moment(a.recorded_at),
  },
  { title: "store", sort: "store", text: (a) => a.store },
  { title: "client", sort: "client", text: (a) => a.client },
  { title: "batch size", sort: "batch_size", text: (a) => batchLabel(a.batch_size) },
  { title: "executors", sort: "executors", text: (a) => String(a.executors ?? "–"), number: true },
  { title: "dataset rows", sort: "rows", text: (a) => a.rows.toLocaleString("en"), number: true },
  { title: "seed", sort: "seed", text: (a) => String(a.seed), number: true },
  { title: "repeat", sort: "repeat", text: repeat, number: true },
  { title: "operation", sort: "operation", text: (a) => a.operation },
  {
    title: "state",
    sort: "status",
    text: (a) => (a.status === "verified" ? remark(a) : `${remark(a)}: ${a.error ?? ""}`),
  },
  { title: "only time", sort: "only_s", text: (a) => seconds(a.only_s), number: true },
  {
    title: "rows/s",
    sort: "rows_per_s",
    text: (a) => rate(a.rows_per_s).replace(" rows/s", ""),
    number: true,
  },
  { title: "total time", sort: "total_s", text: (a) => seconds(a.total_s), number: true },
  {
    title: "memory",
    sort: "all_memory_working_set_peak_bytes",
    text: (a) => mebibytes(a.all_memory_working_set_peak_bytes),
    number: true,
  },
  { title: "memory of", sort: null, text: (a) => a.figures_cover ?? "–" },
  { title: "client CPU", sort: "client_cpu_share", text: clientCpu, number: true },
  {
    title: "durability",
    sort: null,
    text: (a) => a.durability ?? "–",
    hint: (a) => a.durability_stated,
  },
  { title: "delivers", sort: null, text: (a) => a.delivers ?? "–" },
  {
    title: "server",
    sort: null,
    text: (a) => [a.server_name, a.server_version].filter(Boolean).join(" ") || "–",
  },
];

/** The columns in which all rows have the same, said once; and the rows without them. */
export function common(rows: Record<string, string>[]): [Record<string, string>, Record<string, string>[]] {
  const names = Object.keys(rows[0] ?? {});
  const same = names.filter((name) => rows.length > 1 && rows.every((row) => row[name] === rows[0]?.[name]));
  const pick = (row: Record<string, string>, wanted: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => wanted(name)));
  return [
    pick(rows[0] ?? {}, (name) => same.includes(name)),
    rows.map((row) => pick(row, (name) => !same.includes(name))),
  ];
}

/** Attempts as they are shown: a text for each column. */
export function shown(attempts: Attempt[]): Record<string, string>[] {
  return attempts.map((attempt) =>
    Object.fromEntries(COLUMNS.map((column) => [column.title, column.text(attempt)])),
  );
}

import { batchLabel, mebibytes, moment, remark, seconds } from "./format";
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

export const COLUMNS: Column[] = [
  {
    title: "recorded, UTC",
    sort: "recorded_at",
    text: (a) => moment(a.recorded_at),
  },
  { title: "store", sort: "store", text: (a) => a.store },
  { title: "client", sort: "client", text: (a) => a.client },
  { title: "batch, rows", sort: "batch_size", text: (a) => batchLabel(a.batch_size) },
  { title: "executors", sort: "executors", text: (a) => String(a.executors ?? "–"), number: true },
  { title: "repeat", sort: "repeat", text: (a) => (a.warm_up ? "warm-up" : String(a.repeat)), number: true },
  { title: "operation", sort: "operation", text: (a) => a.operation },
  {
    title: "state",
    sort: "status",
    text: (a) => (a.status === "verified" ? remark(a) : `${remark(a)}: ${a.error ?? ""}`),
  },
  { title: "only time", sort: "only_s", text: (a) => seconds(a.only_s), number: true },
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

/** Attempts as they are shown: a text for each column. */
export function shown(attempts: Attempt[]): Record<string, string>[] {
  return attempts.map((attempt) =>
    Object.fromEntries(COLUMNS.map((column) => [column.title, column.text(attempt)])),
  );
}

import { batchLabel, mebibytes, moment, remark, seconds } from "./format";
import type { Attempt } from "./types";

/** A column of a table of attempts; `sort` is what the API sorts by. */
export interface Column {
  title: string;
  sort: string | null;
  text: (attempt: Attempt) => string;
  number?: boolean;
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
  { title: "only time", sort: "only_s", text: (a) => seconds(a.only_s), number: true },
  { title: "total time", sort: "total_s", text: (a) => seconds(a.total_s), number: true },
  {
    title: "memory",
    sort: "all_memory_working_set_peak_bytes",
    text: (a) => mebibytes(a.all_memory_working_set_peak_bytes),
    number: true,
  },
  {
    title: "client CPU",
    sort: "client_cpu_share",
    text: (a) => a.client_cpu_share?.toFixed(2) ?? "–",
    number: true,
  },
  {
    title: "state",
    sort: "status",
    text: (a) => (a.status === "verified" ? remark(a) : `${remark(a)}: ${a.error ?? ""}`),
  },
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

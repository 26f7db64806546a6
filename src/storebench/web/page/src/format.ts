import type { Attempt, CellName } from "./types";

/** Three figures that count, and never an exponent. */
export function seconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0 s";
  if (Math.abs(value) < 0.001) return `${Math.round(value * 1e6)} µs`;
  const digits = Math.max(0, Math.min(4, 2 - Math.floor(Math.log10(Math.abs(value)))));
  return `${value.toFixed(digits)} s`;
}

export function mebibytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  return `${Math.round(value / 2 ** 20).toLocaleString("en")} MiB`;
}

/** A time as it is shown everywhere: UTC, to the minute. */
export function moment(time: string): string {
  return new Date(time).toISOString().slice(0, 16).replace("T", " ");
}

/** For how long something has lasted, or will last. */
export function duration(totalSeconds: number): string {
  const whole = Math.max(0, Math.round(totalSeconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  if (hours) return `${hours} h ${minutes} min`;
  return minutes ? `${minutes} min ${whole % 60} s` : `${whole} s`;
}

/** A cell's name for people. */
export function cellLabel(cell: CellName): string {
  const executors =
    cell.executors === null ? "" : `, ${cell.executors} executor${cell.executors === 1 ? "" : "s"}`;
  return `${cell.store} ${cell.client}, ${batchText(cell.batch_size)}${executors}`;
}

export type Soundness = "verified" | "client-bound" | "disturbed" | "failed" | "not run";

/** Whether an attempt's figures can be leant on; of several marks the gravest. */
export function soundness(attempt: Attempt): Soundness {
  if (attempt.status !== "verified") return attempt.status === "failed" ? "failed" : "not run";
  if (attempt.disturbed) return "disturbed";
  return attempt.client_bound ? "client-bound" : "verified";
}

/** Likewise with the reason, and with all marks. */
export function remark(attempt: Attempt): string {
  const state = soundness(attempt);
  if (attempt.status !== "verified") return `${state}: ${attempt.error_kind ?? "no reason"}`;
  if (state !== "disturbed") return state;
  return `disturbed: ${attempt.disturbed}${attempt.client_bound ? "; client-bound" : ""}`;
}

/** The class of a table's cell: short texts stay on one line, long ones have room for more than a word. */
export function textClass(text: string): string {
  return text.length <= 30 ? "sb-short" : "sb-wide";
}

/** A batch size as people write it. */
export function batchLabel(size: string | null): string {
  return size === null ? "–" : size === "all" ? "all at once" : Number(size).toLocaleString("en");
}

/** The same in a sentence. */
export function batchText(size: string | null): string {
  return size === "all" ? batchLabel(size) : `batch ${batchLabel(size)}`;
}

/** Stores and clients by name, their batch sizes and executors by size. */
export function byCell(one: CellName, other: CellName): number {
  return (
    one.store.localeCompare(other.store) ||
    one.client.localeCompare(other.client) ||
    (one.executors ?? 0) - (other.executors ?? 0) ||
    byBatch(one.batch_size, other.batch_size)
  );
}

/** Batch sizes by size, `all` last. */
export function byBatch(one: string | null, other: string | null): number {
  const size = (text: string | null) => (text === null ? -1 : text === "all" ? Infinity : Number(text));
  return size(one) - size(other) || 0;
}

export function csv(rows: Record<string, unknown>[]): string {
  const first = rows[0];
  if (!first) return "";
  const names = Object.keys(first);
  const field = (value: unknown) => {
    const text = value === null || value === undefined ? "" : String(value);
    // a spreadsheet would run what begins like a formula
    const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return `${[names, ...rows.map((row) => names.map((name) => row[name]))].map((line) => line.map(field).join(",")).join("\r\n")}\r\n`;
}

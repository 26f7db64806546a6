import type { Attempt, CellName } from "./types";

/** What stands where there is no figure. */
export const NONE = "–";

/** Three digits that count, to the microsecond; always in seconds, so that any two can be compared. */
export function seconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return NONE;
  if (value === 0) return "0 s";
  const digits = Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(Math.abs(value)))));
  return `${value.toFixed(digits)} s`;
}

export function mebibytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return NONE;
  return `${Math.round(value / 2 ** 20).toLocaleString("en")} MiB`;
}

/** Rows of the dataset a second, three digits that count. */
export function rate(value: number | null | undefined): string {
  if (value === null || value === undefined) return NONE;
  return `${digits(value, 3)} rows/s`;
}

/** A number with so many digits that count, never with an exponent. */
export function digits(value: number, count: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: count });
}

/** A figure as a table shows it: its name says its unit. */
export function figureText(name: string, value: unknown): string {
  if (value === null || value === undefined) return NONE;
  if (name === "batch_size") return batchLabel(String(value));
  if (typeof value !== "number") return String(value);
  if (name.endsWith("_bytes")) return mebibytes(value);
  if (name.endsWith("_s") && !name.endsWith("_per_s")) return seconds(value);
  if (name === "seed") return String(value);
  return Number.isInteger(value) ? value.toLocaleString("en") : digits(value, 4);
}

/** A column's heading. `rows` alone could be taken for those of a batch. */
export function heading(name: string): string {
  return name === "rows" ? "dataset rows" : name.replaceAll("_", " ");
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

/** A cell's name for people; its dataset is said apart. */
export function cellLabel(cell: CellName): string {
  const executors =
    cell.executors === null ? "" : `, ${cell.executors} executor${cell.executors === 1 ? "" : "s"}`;
  return `${cell.store} ${cell.client}, ${batchText(cell.batch_size)}${executors}`;
}

type Dataset = Pick<CellName, "rows" | "seed">;

/** Which dataset it was. */
export function datasetText({ rows, seed }: Dataset): string {
  return `${rows.toLocaleString("en")} dataset rows, seed ${seed}`;
}

/** What has to be added to the names of cells so that no two are alike: nothing where all have one dataset. */
export function datasetSuffix(cells: Dataset[]): (cell: Dataset) => string {
  const several = (name: keyof Dataset) => new Set(cells.map((cell) => cell[name])).size > 1;
  const [rows, seed] = [several("rows"), several("seed")];
  return (cell) =>
    `${rows ? `, ${cell.rows.toLocaleString("en")} dataset rows` : ""}${seed ? `, seed ${cell.seed}` : ""}`;
}

/** The datasets of these cells, each once. */
export function datasetsText(cells: Dataset[]): string {
  return [...new Set(cells.map(datasetText))].join("; ");
}

export type Soundness =
  | "verified"
  | "client-bound"
  | "disturbed"
  | "failed"
  | "stopped"
  | "not run"
  | "superseded";

/** Whether an attempt's figures can be leant on; of several marks the gravest. A superseded one counts nowhere, whatever it came to. */
export function soundness(attempt: Attempt): Soundness {
  return attempt.superseded ? "superseded" : outcome(attempt);
}

/** What an attempt came to by itself. */
function outcome(attempt: Attempt): Exclude<Soundness, "superseded"> {
  if (attempt.status === "not_run") return "not run";
  // `killed` is what something from outside has ended
  if (attempt.status !== "verified") return attempt.error_kind === "killed" ? "stopped" : "failed";
  if (attempt.disturbed) return "disturbed";
  return attempt.client_bound ? "client-bound" : "verified";
}

/** Likewise with the reason, and with all marks. */
export function remark(attempt: Attempt): string {
  const own = outcomeText(attempt);
  return attempt.superseded ? `superseded by a later try (${own})` : own;
}

function outcomeText(attempt: Attempt): string {
  const state = outcome(attempt);
  if (state === "failed") return `failed: ${attempt.error_kind ?? "no reason"}`;
  if (state !== "disturbed") return state;
  return `disturbed: ${attempt.disturbed}${attempt.client_bound ? "; client-bound" : ""}`;
}

/** The class of a table's cell: short texts stay on one line, long ones have room for more than a word. */
export function textClass(text: string): string {
  return text.length <= 30 ? "sb-short" : "sb-wide";
}

/** A batch size as people write it. */
export function batchLabel(size: string | null): string {
  return size === null ? NONE : size === "all" ? "all at once" : Number(size).toLocaleString("en");
}

/** The same in a sentence. */
export function batchText(size: string | null): string {
  return size === "all" ? batchLabel(size) : `batch ${batchLabel(size)}`;
}

/** Stores and clients by name, their batch sizes and executors by size, then their datasets. */
export function byCell(one: CellName, other: CellName): number {
  return (
    one.store.localeCompare(other.store) ||
    one.client.localeCompare(other.client) ||
    (one.executors ?? 0) - (other.executors ?? 0) ||
    byBatch(one.batch_size, other.batch_size) ||
    one.rows - other.rows ||
    one.seed - other.seed
  );
}

/** Batch sizes by size, `all` last. */
export function byBatch(one: string | null, other: string | null): number {
  const size = (text: string | null) => (text === null ? -1 : text === "all" ? Infinity : Number(text));
  return size(one) - size(other) || 0;
}

/** The operations of these cells or stores, each once and in their order; `lists` have those of one each. */
export function operationsOf<T>(lists: T[][]): T[] {
  const longest = [...lists].sort((one, other) => other.length - one.length);
  return [...new Set(longest.flat())];
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

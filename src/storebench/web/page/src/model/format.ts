import type { Attempt } from "../api/types";
import { compared, digits, grouped, NONE } from "./units";

/** Return a formatter for a column's values. The column's name ends with their unit. */
export function columnText(name: string, values: unknown[]): (value: unknown) => string {
  const figures = compared(
    unitIn(name),
    values.map((value) => (typeof value === "number" ? value : null)),
  );
  return (value) => {
    if (value === null || value === undefined) return NONE;
    if (typeof value !== "number") return String(value);
    if (WHOLE.has(name.replace(/_s$/, ""))) return `${Math.round(value)} s`;
    if (unitIn(name)) return figures.text(value);
    return Number.isInteger(value) ? grouped(value) : digits(value, 4);
  };
}

function unitIn(name: string): string {
  if (name.endsWith("_bytes")) return "bytes";
  return name.endsWith("_s") && !name.endsWith("_per_s") ? "s" : "";
}

/** Format a single figure as a table does. */
export const cellText = (name: string, value: unknown): string => columnText(name, [value])(value);

/** The phases that Kubernetes reports, in whole seconds. */
export const WHOLE = new Set(["queued", "scheduled", "image_pulled", "container_started"]);

/** Return a column's heading. */
export const heading = (name: string) => name.replaceAll("_", " ");

/** Format a time for display: UTC, to the minute. */
export function moment(time: string): string {
  return new Date(time).toISOString().slice(0, 16).replace("T", " ");
}

/** Format a time for display: the reader's local time, to the minute. */
export function localMoment(time: string): string {
  const at = new Date(time);
  const two = (part: number) => String(part).padStart(2, "0");
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join("-");
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** Format a duration in seconds. */
export function duration(totalSeconds: number): string {
  const seconds = Math.max(0, Math.round(totalSeconds));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  if (hours) return `${hours} h ${minutes} min`;
  return minutes ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}

/** Format a range of durations in seconds, as one duration if both ends read the same. */
export function durations(leastSeconds: number, mostSeconds: number): string {
  return [...new Set([duration(leastSeconds), duration(mostSeconds)])].join(" to ");
}

/** Round a duration in seconds to at most two digits: an estimate is not more exact. */
export function roughly(totalSeconds: number): string {
  if (totalSeconds < 57.5) return `${Math.max(5, 5 * Math.round(totalSeconds / 5))} s`;
  const minutes = totalSeconds / 60;
  if (minutes < 19.5) return `${Math.max(1, Math.round(minutes))} min`;
  if (minutes < 57.5) return `${5 * Math.round(minutes / 5)} min`;
  const hours = minutes / 60;
  if (hours < 9.75) return `${Math.round(2 * hours) / 2} h`;
  return hours < 47.5 ? `${Math.round(hours)} h` : `${Math.round(hours / 24)} days`;
}

/** The maximum ratio of the ends of a range for which its middle is an estimate. */
const NARROW_RANGE = 2;

/** Describe an estimate in seconds as one rounded figure: the middle of a narrow range, or the minimum of a wide range. */
export function estimateText(leastSeconds: number, mostSeconds: number): string {
  return isWide(leastSeconds, mostSeconds)
    ? `at least ${roughly(leastSeconds)}`
    : `about ${roughly((leastSeconds + mostSeconds) / 2)}`;
}

/** Return whether the ends of an estimate are too far apart for one figure. */
export const isWide = (leastSeconds: number, mostSeconds: number) =>
  mostSeconds > NARROW_RANGE * leastSeconds;

export type Soundness =
  | "verified"
  | "client-bound"
  | "service-bound"
  | "disturbed"
  | "failed"
  | "stopped"
  | "not run"
  | "superseded";

/** The signs of attempts' states. */
export const SIGNS: Record<Soundness, string> = {
  verified: "✓",
  "client-bound": "▲",
  "service-bound": "▼",
  disturbed: "◆",
  failed: "✕",
  stopped: "■",
  "not run": "○",
  superseded: "↺",
};

/** Return an attempt's gravest state. A superseded attempt never counts, whatever its outcome. */
export function soundness(attempt: Attempt): Soundness {
  return attempt.superseded ? "superseded" : outcome(attempt);
}

/** Return an attempt's own outcome, whether it is superseded or not. */
function outcome(attempt: Attempt): Exclude<Soundness, "superseded"> {
  if (attempt.status === "not_run") return "not run";
  // `killed`: something outside of the attempt ended it
  if (attempt.status !== "verified") return attempt.error_kind === "killed" ? "stopped" : "failed";
  if (attempt.disturbed) return "disturbed";
  return bounds(attempt)[0] ?? "verified";
}

/** Return the bottlenecks other than the store: the client, a service in front of the store, or both. */
function bounds(attempt: Attempt): ("client-bound" | "service-bound")[] {
  return [
    ...(attempt.client_bound ? (["client-bound"] as const) : []),
    ...(attempt.service_bound ? (["service-bound"] as const) : []),
  ];
}

/** Return whether a store lost or doubled writes although it guarantees that it does not: the gravest failure. */
export const isBroken = ({ error_kind }: Pick<Attempt, "error_kind">): boolean =>
  error_kind === "broken_promise";

/** Sort broken guarantees first, and keep the order otherwise. */
export const brokenFirst = <T>(items: T[], attemptOf: (item: T) => Attempt | null): T[] => {
  const rank = (item: T) => {
    const attempt = attemptOf(item);
    return attempt && isBroken(attempt) ? 0 : 1;
  };
  return [...items].sort((one, other) => rank(one) - rank(other));
};

/** Describe an attempt's state with its reason and all marks. */
export function remark(attempt: Attempt): string {
  const outcome = outcomeText(attempt);
  return attempt.superseded ? `superseded by a later try (${outcome})` : outcome;
}

function outcomeText(attempt: Attempt): string {
  const state = outcome(attempt);
  if (state === "failed") return `failed: ${attempt.error_kind ?? "no reason"}`;
  const doubts = [
    attempt.perhaps_disturbed ? `; possibly disturbed: ${attempt.perhaps_disturbed}` : "",
    attempt.not_judged ? `; not judged: ${attempt.not_judged}` : "",
  ].join("");
  const bound = bounds(attempt);
  if (state === "disturbed") return [`disturbed: ${attempt.disturbed}`, ...bound].join("; ") + doubts;
  return (bound.length ? bound.join("; ") : state) + doubts;
}

/** Return the class of a table's cell: short texts stay on one line, long texts get a wide column. */
export function textClass(text: string): string {
  return text.length <= 30 ? "sb-short" : "sb-wide";
}

const plain = (value: unknown) => (typeof value === "object" ? JSON.stringify(value) : String(value));

/** Return a table as CSV. A field that a line lacks is empty. */
export function csv(table: Record<string, unknown>[]): string {
  const names = [...new Set(table.flatMap((line) => Object.keys(line)))];
  if (!names.length) return "";
  const field = (value: unknown) => {
    const text = value === null || value === undefined ? "" : plain(value);
    // a spreadsheet would run a text that begins like a formula
    const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const lines = [names, ...table.map((line) => names.map((name) => line[name]))];
  return `${lines.map((line) => line.map(field).join(",")).join("\r\n")}\r\n`;
}

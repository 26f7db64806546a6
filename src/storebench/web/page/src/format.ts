import type { Attempt } from "./types";
import { compared, digits, grouped, NONE } from "./units";

/** How a table shows the values of a column, whose name says their unit. */
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

/** A figure by itself, as a table shows it. */
export const cellText = (name: string, value: unknown): string => columnText(name, [value])(value);

/** The phases that Kubernetes tells, in whole seconds. */
export const WHOLE = new Set(["queued", "scheduled", "image_pulled", "container_started"]);

/** A column's heading. */
export const heading = (name: string) => name.replaceAll("_", " ");

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

/** Both ends of a range of seconds, or one where they read the same. */
export function durations(leastSeconds: number, mostSeconds: number): string {
  return [...new Set([duration(leastSeconds), duration(mostSeconds)])].join(" to ");
}

export type Soundness =
  | "verified"
  | "client-bound"
  | "service-bound"
  | "disturbed"
  | "failed"
  | "stopped"
  | "not run"
  | "superseded";

/** What marks a name whose attempt is not sound. */
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
  return bounds(attempt)[0] ?? "verified";
}

/** What was the limit in the store's place: the client, a service in front of the store, or both. */
function bounds(attempt: Attempt): ("client-bound" | "service-bound")[] {
  return [
    ...(attempt.client_bound ? (["client-bound"] as const) : []),
    ...(attempt.service_bound ? (["service-bound"] as const) : []),
  ];
}

/** Likewise with the reason, and with all marks. */
export function remark(attempt: Attempt): string {
  const own = outcomeText(attempt);
  return attempt.superseded ? `superseded by a later try (${own})` : own;
}

function outcomeText(attempt: Attempt): string {
  const state = outcome(attempt);
  if (state === "failed") return `failed: ${attempt.error_kind ?? "no reason"}`;
  const doubts = [
    attempt.perhaps_disturbed ? `; perhaps disturbed: ${attempt.perhaps_disturbed}` : "",
    attempt.not_judged ? `; not judged: ${attempt.not_judged}` : "",
  ].join("");
  const bound = bounds(attempt);
  if (state === "disturbed") return [`disturbed: ${attempt.disturbed}`, ...bound].join("; ") + doubts;
  return (bound.length ? bound.join("; ") : state) + doubts;
}

/** The class of a table's cell: short texts stay on one line, long ones have room for more than a word. */
export function textClass(text: string): string {
  return text.length <= 30 ? "sb-short" : "sb-wide";
}

const plain = (value: unknown) => (typeof value === "object" ? JSON.stringify(value) : String(value));

/** A table as a file; what only some of its lines have is empty in the others. */
export function csv(table: Record<string, unknown>[]): string {
  const names = [...new Set(table.flatMap((line) => Object.keys(line)))];
  if (!names.length) return "";
  const field = (value: unknown) => {
    const text = value === null || value === undefined ? "" : plain(value);
    // a spreadsheet would run what begins like a formula
    const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const lines = [names, ...table.map((line) => names.map((name) => line[name]))];
  return `${lines.map((line) => line.map(field).join(",")).join("\r\n")}\r\n`;
}

/** Describe the pods that did an operation together: which pod was late, slow, or bound by its client. */
import type { Attempt, PodUsage } from "../api/types";
import { cores } from "./attempts";
import { compared, figureIn, NONE } from "./units";

/** The titles of the columns of a table of parts; the columns from NUMBERS on have numbers. */
export const COLUMNS = [
  "part",
  "pod",
  "node",
  "remark",
  "start delay",
  "waited at the end",
  "client CPU",
  "memory",
  "CPU time",
] as const;
export const NUMBERS = 4;

/** Return the pods that did a part of the operation, by the parts' numbers. */
export const partsOf = (pods: PodUsage[]): PodUsage[] =>
  pods
    .filter(({ role, part }) => role === "client" && part !== null)
    .sort((one, other) => (one.part ?? 0) - (other.part ?? 0));

/** Return whether several pods did the attempt's operation. */
export const isDivided = ({ client_pods }: Attempt): boolean => (client_pods ?? 1) > 1;

/** Return the number of the part that ended last; undefined if unknown. How long the leader waited is not recorded, so the leader ended last if all others waited. */
function lastOf(parts: PodUsage[]): number | undefined {
  const followers = parts.filter(({ part }) => part !== 0);
  if (!followers.length || followers.some(({ waited_s }) => waited_s === null)) return undefined;
  return followers.find(({ waited_s }) => waited_s === 0)?.part ?? 0;
}

/** Return the number of the follower that began last; undefined if the begins do not differ, or are unknown. */
function latestOf(parts: PodUsage[]): number | undefined {
  const delays = parts.flatMap(({ part, start_delay_s }) =>
    part === null || start_delay_s === null ? [] : [{ part, start_delay_s }],
  );
  const most = Math.max(...delays.map(({ start_delay_s }) => start_delay_s));
  const latest = delays.filter(({ start_delay_s }) => start_delay_s === most);
  return delays.length > latest.length ? latest[0]?.part : undefined;
}

const nameOf = ({ part, name, node }: PodUsage): string =>
  `Part ${part} (${[name && `pod ${name}`, node && `node ${node}`].filter(Boolean).join(", ") || "unknown pod"})`;

/** Summarize how the parts worked together: how far their begins differ, which part ended last, and which were bound by their client. */
export function partsText(attempt: Attempt, parts: PodUsage[]): string {
  const last = parts.find(({ part }) => part === lastOf(parts));
  const waited = Math.max(...parts.flatMap(({ waited_s }) => waited_s ?? []));
  const bound = parts.filter(({ client_bound }) => client_bound);
  return [
    `${attempt.client_pods} pods did the operation together.`,
    attempt.start_skew_s === null
      ? ""
      : `They began at most ${figureIn("s", attempt.start_skew_s)} apart (start skew, with the error of the clocks).`,
    last
      ? `${nameOf(last)} ended last${waited > 0 ? `: other parts waited for it up to ${figureIn("s", waited)}` : ""}.`
      : "",
    bound.length
      ? `Bound by the client: ${bound.length === parts.length ? "all parts" : bound.map(nameOf).join(", ")}.`
      : "",
  ]
    .filter(Boolean)
    .join(" ");
}

/** Return the texts of a table of parts. The figures of a column share a unit. */
export function partRows(parts: PodUsage[]): string[][] {
  const [latest, last] = [latestOf(parts), lastOf(parts)];
  const column = (unit: string, value: (part: PodUsage) => number | null) =>
    compared(unit, parts.map(value)).text;
  const delay = column("s", (part) => part.start_delay_s);
  const waited = column("s", (part) => part.waited_s);
  const memory = column("bytes", (part) => part.memory_working_set_peak_bytes);
  const cpu = column("s", (part) => part.cpu_s);
  return parts.map((part) => [
    part.part === 0 ? "0, leader" : String(part.part),
    part.name || NONE,
    part.node ?? NONE,
    [
      part.client_bound ? "client-bound" : "",
      part.part === latest ? "began last of the followers" : "",
      part.part === last ? "ended last" : "",
      part.throttled_periods ? "throttled" : "",
      part.oom_kills ? "out of memory" : "",
    ]
      .filter(Boolean)
      .join(", ") || NONE,
    delay(part.start_delay_s),
    waited(part.waited_s),
    cores(part.client_cpu_share, part.client_cores_usable),
    memory(part.memory_working_set_peak_bytes),
    cpu(part.cpu_s),
  ]);
}

/** Describe the origin of figures: server, durability, machine, code version, and date. */
import type { Attempt, Machine, Origin } from "../api/types";

const each = (texts: (string | null)[]) =>
  [...new Set(texts)].filter((text) => text !== null && text !== "") as string[];

/** Return the origin of several attempts' figures. A value that attempts share is listed once. */
export function originOf(attempts: Attempt[]): Origin {
  return {
    servers: each(
      attempts.map((attempt) => [attempt.server_name, attempt.server_version].filter(Boolean).join(" ")),
    ),
    durability: each(attempts.map((attempt) => attempt.durability)),
    machines: machinesOf(attempts.flatMap(({ machine }) => (machine ? [machine] : []))),
    code_versions: each(attempts.map((attempt) => attempt.code_version)),
    dates: each(attempts.map((attempt) => attempt.recorded_at.slice(0, 10))).sort(),
  };
}

/** Merge the origins of several cells. */
export function together(origins: Origin[]): Origin {
  return {
    servers: each(origins.flatMap((origin) => origin.servers)),
    durability: each(origins.flatMap((origin) => origin.durability)),
    machines: machinesOf(origins.flatMap((origin) => origin.machines)),
    code_versions: each(origins.flatMap((origin) => origin.code_versions)),
    dates: each(origins.flatMap((origin) => origin.dates)).sort(),
  };
}

/** Return machines without duplicates. */
function machinesOf(machines: Machine[]): Machine[] {
  return [...new Map(machines.map((machine) => [machineText(machine), machine])).values()];
}

/** Describe a machine in words, without unknown values. */
export function machineText({ cpus, cpu_model, memory_gib }: Machine): string {
  const count = cpus === null ? null : `${cpus} CPU${cpus === 1 ? "" : "s"}`;
  const memory = memory_gib === null ? null : `${memory_gib} GiB`;
  return [[count, cpu_model && `(${cpu_model})`].filter(Boolean).join(" "), memory]
    .filter(Boolean)
    .join(", ");
}

/** Return the names of an origin's servers, without their versions. */
export const serverNames = ({ servers }: Origin): string[] =>
  servers.map((server) => server.replace(/ v?\d.*$/, ""));

const list = (texts: string[]) => texts.join(", ") || null;

/** Return an origin as columns for export. `end` is a suffix of the columns' names. */
export function originColumns(origin: Origin, end = ""): Record<string, string | null> {
  return {
    [`server${end}`]: list(origin.servers),
    [`durability${end}`]: list(origin.durability),
    [`machine${end}`]: origin.machines.map(machineText).join("; ") || null,
    [`code_version${end}`]: list(origin.code_versions),
    [`recorded_on${end}`]: datesText(origin.dates),
  };
}

const ORIGIN = new Set(Object.keys(originColumns(originOf([]))));

/** Return a table without the columns of origins, which the page states once for all charts; an export has them. */
export const withoutOrigin = (table: Record<string, unknown>[]): Record<string, unknown>[] =>
  table.map((line) =>
    Object.fromEntries(
      Object.entries(line).filter(([name]) => !ORIGIN.has(name.replace(/_(before|after)$/, ""))),
    ),
  );

/** Format dates: a single date, or the first and the last. */
function datesText(dates: string[]): string | null {
  const [first, last] = [dates[0], dates.at(-1)];
  return first && last && first !== last ? `${first} to ${last}` : (first ?? null);
}

/** Describe an origin in one line. */
export function originText({ servers, durability, machines, code_versions, dates }: Origin): string {
  return [
    list(servers),
    durability.length ? `durability ${list(durability)}` : null,
    machines.map(machineText).join("; "),
    code_versions.length ? `code ${list(code_versions)}` : null,
    datesText(dates),
  ]
    .filter(Boolean)
    .join(" · ");
}

/** Describe the source of these attempts' figures in one line: run, dataset, origin and method. */
export function sourceOf(run: string, dataset: string, attempts: Attempt[]): string {
  const methods = list(each(attempts.map((attempt) => String(attempt.method_version))));
  return [run, dataset, originText(originOf(attempts)), methods && `method ${methods}`]
    .filter(Boolean)
    .join(" · ");
}

/** Return the sentence by which a text cites figures of a study: run, dates, code, method, dataset, servers and machine. */
export function citationOf(study: string, runs: string[], dataset: string, attempts: Attempt[]): string {
  const origin = originOf(attempts);
  const methods = list(each(attempts.map((attempt) => String(attempt.method_version))));
  const parts = [
    `${study}, ${runs.length === 1 ? "run" : "runs"} ${runs.join(", ")}${origin.dates.length ? ` (${datesText(origin.dates)})` : ""}`,
    [
      origin.code_versions.length ? `Storebench ${list(origin.code_versions)}` : "",
      methods && `method ${methods}`,
    ]
      .filter(Boolean)
      .join(", "),
    dataset,
    list(origin.servers),
    origin.machines.map(machineText).join("; "),
  ];
  return `${parts.filter(Boolean).join(". ")}.`;
}

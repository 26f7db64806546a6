/** What of the results is shown, and how: it is in the page's address, so that it can be shared. */
import { type CellName, placeOf } from "./cells";
import type { Metric } from "./types";

export type Scale = "linear" | "logarithmic" | "best";
export const SCALES: Record<Scale, string> = {
  linear: "linear",
  logarithmic: "logarithmic",
  best: "relative to the best",
};
/** How far apart the values of a chart are on a logarithmic scale: on a linear one the least would hardly be seen. */
const APART = 20;

/** What the address asks for; a report, which has none, keeps it for itself. */
export type Asked = Pick<URLSearchParams, "get">;
/** `replace`: the way back does not lead over each of these changes. */
export type Choose = (changes: Record<string, string>, replace?: boolean) => void;

export interface Choice {
  asked: Asked;
  choose: Choose;
  /** Where these changes lead; a report, which has nothing beside itself, leads nowhere. */
  link?: (changes: Record<string, string>) => string;
}

/** An address with these changes; what is empty is not in it. */
export function changed(before: URLSearchParams, changes: Record<string, string>): URLSearchParams {
  const after = new URLSearchParams(before);
  for (const [name, value] of Object.entries(changes)) value ? after.set(name, value) : after.delete(name);
  return after;
}

/** What may be hidden: by its legend, or by the filters. */
export type Kind = "store" | "client" | "operation" | `axis:${string}` | "phase" | "environment";

/** How the address names an axis, so that it cannot be taken for anything else there. */
export const axisKey = (name: string) => `axis:${name}` as const;

/** Likewise a metric. */
export const metricKey = (name: string) => `metric:${name}` as const;

/** The kind of what a store, a client, an operation or an axis tells apart. */
export const kindOf = (name: string): Kind =>
  name === "store" || name === "client" || name === "operation" ? name : axisKey(name);

/** The scale that the address asks for; null where each chart has the one that it needs. */
export function scaleOf(asked: Asked): Scale | null {
  const name = asked.get("scale") ?? "";
  return name in SCALES ? (name as Scale) : null;
}

/** A chart's scale: the one that is asked for, or what its values need. Without a better way there is no best. */
export function scaleFor(wanted: Scale | null, values: number[], better: Metric["better"]): Scale {
  if (wanted && (wanted !== "best" || better !== "neither")) return wanted;
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return least > 0 && most >= APART * least ? "logarithmic" : "linear";
}

// a comma is between two of a list: one that is in a name is written otherwise
const list = (text: string | null) => (text ?? "").split(",").filter(Boolean);
const text = (names: string[]) => names.join(",");
const escaped = (name: string) => name.replaceAll("%", "%25").replaceAll(",", "%2C");
const plain = (name: string) => name.replaceAll("%2C", ",").replaceAll("%25", "%");

/** The names of this kind that are hidden. */
export function hiddenOf(asked: Asked, kind: Kind): Set<string> {
  const prefix = `${kind}:`;
  const found = list(asked.get("without")).filter((one) => one.startsWith(prefix));
  return new Set(found.map((one) => plain(one.slice(prefix.length))));
}

/** The change that hides what is shown, or shows what is hidden. */
export function toggled(asked: Asked, kind: Kind, name: string): Record<string, string> {
  const one = `${kind}:${escaped(name)}`;
  const before = list(asked.get("without"));
  return { without: text(before.includes(one) ? before.filter((other) => other !== one) : [...before, one]) };
}

/** How a legend names a cell's place: a place that means nothing for the cell has a name, too. */
export const nameOf = (cell: CellName, name: string) => placeOf(cell, name) ?? "";

/** Which cells are shown: those of which neither store, client, operation nor any of these axes' values is hidden. */
export function isShown(asked: Asked, names: string[]): (cell: CellName) => boolean {
  const hidden = ["store", "client", "operation", ...names].map(
    (name) => [name, hiddenOf(asked, kindOf(name))] as const,
  );
  return (cell) => hidden.every(([name, values]) => !values.has(nameOf(cell, name)));
}

/** Stores in the order that was chosen; those that it does not name follow in their own. */
export function ordered(asked: Asked, stores: string[]): string[] {
  const chosen = list(asked.get("stores")).filter((store) => stores.includes(store));
  return [...new Set([...chosen, ...stores])];
}

/** The change that moves a store by so many places. */
export function moved(asked: Asked, stores: string[], store: string, by: number): Record<string, string> {
  const now = ordered(asked, stores);
  const to = now.indexOf(store) + by;
  const others = now.filter((one) => one !== store);
  return { stores: text([...others.slice(0, to), store, ...others.slice(to)]) };
}

/** Whether the lines of a chart are in the order of their values, and not of their stores. */
export const isByValue = (asked: Asked) => asked.get("lines") === "value";

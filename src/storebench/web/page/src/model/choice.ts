/** Keep the user's choices (scales, filters, orders) in the page's address, so that a link shares them. */

import type { Metric } from "../api/types";
import { type CellName, placeOf, valueText } from "./cells";

export type Scale = "linear" | "logarithmic" | "best";
export const SCALES: Record<Scale, string> = {
  linear: "linear",
  logarithmic: "logarithmic",
  best: "relative to the best",
};
/** The ratio of the largest to the smallest value from which a chart gets a logarithmic scale, so that small values stay visible. */
const APART = 20;

/** The parameters in the page's address; a report, which has no address, keeps them in memory. */
export type Asked = Pick<URLSearchParams, "get">;
/** Apply changes. `replace` replaces the browser's history entry, so that "back" skips the change. */
export type Choose = (changes: Record<string, string>, replace?: boolean) => void;

export interface Choice {
  asked: Asked;
  choose: Choose;
  /** Return the link that applies these changes; a report has no links. */
  link?: (changes: Record<string, string>) => string;
}

/** Return an address with these changes, without empty parameters. */
export function changed(before: URLSearchParams, changes: Record<string, string>): URLSearchParams {
  const after = new URLSearchParams(before);
  for (const [name, value] of Object.entries(changes)) value ? after.set(name, value) : after.delete(name);
  return after;
}

/** The kinds of things that a legend or a filter can hide. */
export type Kind = "store" | "client" | "operation" | `axis:${string}` | "phase" | "environment";

/** Return the name of an axis in the address; the prefix prevents conflicts with other parameters. */
export const axisKey = (name: string) => `axis:${name}` as const;

/** Return the name of a metric in the address, with a prefix likewise. */
export const metricKey = (name: string) => `metric:${name}` as const;

/** Return the kind of thing that a name distinguishes: store, client, operation or axis. */
export const kindOf = (name: string): Kind =>
  name === "store" || name === "client" || name === "operation" ? name : axisKey(name);

/** Return the scale in the address; null: each chart chooses its scale. */
export function scaleOf(asked: Asked): Scale | null {
  const name = asked.get("scale") ?? "";
  return name in SCALES ? (name as Scale) : null;
}

/** Return a chart's scale: the wanted scale, or the scale that suits its values. Without a better direction there is no best value. */
export function scaleFor(wanted: Scale | null, values: number[], better: Metric["better"]): Scale {
  if (wanted && (wanted !== "best" || better !== "neither")) return wanted;
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return least > 0 && most >= APART * least ? "logarithmic" : "linear";
}

/** Return the scale of several charts of one metric, which stand beside each other: logarithmic if any of them needs it. */
export function scaleOfAll(wanted: Scale | null, values: number[][], better: Metric["better"]): Scale {
  const scales = values.map((some) => scaleFor(wanted, some, better));
  return scales.find((scale) => scale !== "linear") ?? "linear";
}

// commas separate the items of a list: a comma within a name is escaped
const list = (text: string | null) => (text ?? "").split(",").filter(Boolean);
const text = (names: string[]) => names.join(",");
const escaped = (name: string) => name.replaceAll("%", "%25").replaceAll(",", "%2C");
const plain = (name: string) => name.replaceAll("%2C", ",").replaceAll("%25", "%");

/** Return the hidden names of this kind. */
export function hiddenOf(asked: Asked, kind: Kind): Set<string> {
  const prefix = `${kind}:`;
  const entries = list(asked.get("without")).filter((entry) => entry.startsWith(prefix));
  return new Set(entries.map((entry) => plain(entry.slice(prefix.length))));
}

/** Return the change that hides a shown name, or shows a hidden name. */
export function toggled(asked: Asked, kind: Kind, name: string): Record<string, string> {
  const entry = `${kind}:${escaped(name)}`;
  const before = list(asked.get("without"));
  return {
    without: text(before.includes(entry) ? before.filter((other) => other !== entry) : [...before, entry]),
  };
}

/** Return a cell's value as a legend names it; empty if the name does not apply to the cell. */
export const nameOf = (cell: CellName, name: string) => placeOf(cell, name) ?? "";

/** Return the legend's text for a value. */
export const valueLabel = (name: string) => valueText(name === "" ? null : name);

/** Return a test of whether a cell is shown: neither its store, client, operation nor any of these axes' values is hidden. */
export function isShown(asked: Asked, names: string[]): (cell: CellName) => boolean {
  const hidden = ["store", "client", "operation", ...names].map(
    (name) => [name, hiddenOf(asked, kindOf(name))] as const,
  );
  return (cell) => hidden.every(([name, values]) => !values.has(nameOf(cell, name)));
}

/** Return stores in the chosen order; stores without a chosen place follow in their own order. */
export function ordered(asked: Asked, stores: string[]): string[] {
  const chosen = list(asked.get("stores")).filter((store) => stores.includes(store));
  return [...new Set([...chosen, ...stores])];
}

/** Return the change that moves a store by a number of places. */
export function moved(asked: Asked, stores: string[], store: string, by: number): Record<string, string> {
  const now = ordered(asked, stores);
  const to = now.indexOf(store) + by;
  const others = now.filter((name) => name !== store);
  return { stores: text([...others.slice(0, to), store, ...others.slice(to)]) };
}

/** Return whether a chart's bars are sorted by value, the best first, and not by store. */
export const isByValue = (asked: Asked) => asked.get("lines") !== "store";

/** What of the charts is shown, and how: it is in the page's address, so that it can be shared. */

export const SCALES = {
  linear: "linear",
  logarithmic: "logarithmic",
  best: "relative to the best",
} as const;
export type Scale = keyof typeof SCALES;

/** What the address asks for; a report, which has none, keeps it for itself. */
export type Asked = Pick<URLSearchParams, "get">;
/** `replace`: the way back does not lead over each of these changes. */
export type Choose = (changes: Record<string, string>, replace?: boolean) => void;

export interface Choice {
  asked: Asked;
  choose: Choose;
}

/** What may be hidden by its legend. */
export type Kind = "store" | "batch" | "phase" | "environment";

export function scaleOf(asked: Asked): Scale {
  const name = asked.get("scale") ?? "";
  return name in SCALES ? (name as Scale) : "linear";
}

const list = (text: string | null) => (text ?? "").split(",").filter(Boolean);
const text = (names: string[]) => names.join(",");

/** The names of this kind that are hidden. */
export function hiddenOf(asked: Asked, kind: Kind): Set<string> {
  const prefix = `${kind}:`;
  const found = list(asked.get("without")).filter((one) => one.startsWith(prefix));
  return new Set(found.map((one) => one.slice(prefix.length)));
}

/** The change that hides what is shown, or shows what is hidden. */
export function toggled(asked: Asked, kind: Kind, name: string): Record<string, string> {
  const one = `${kind}:${name}`;
  const before = list(asked.get("without"));
  return { without: text(before.includes(one) ? before.filter((other) => other !== one) : [...before, one]) };
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

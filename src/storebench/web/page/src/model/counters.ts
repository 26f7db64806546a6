/** Describe what a store's server reported about itself before and after an operation. */
import type { CounterFigure } from "../api/types";
import { compared } from "./units";

type Counters = Record<string, CounterFigure>;

/** The titles of the columns of a table of counters; the columns from NUMBERS on have numbers. */
export const COLUMNS = ["counter", "kind", "before", "after", "difference"] as const;
export const NUMBERS = 2;

/** Return the texts of a table of the counters with values. The figures of a counter share a unit. */
export const counterRows = (counters: Counters): string[][] =>
  Object.entries(counters)
    .filter(([, { unknown }]) => unknown === null)
    .map(([name, { unit, kind, before, after, difference }]) => {
      const { text } = compared(unit, [before, after, difference]);
      return [name, kind, text(before), text(after), text(difference)];
    });

/** Return a sentence for each reason why counters have no values, with the counters' names. */
export function unknownTexts(counters: Counters): string[] {
  const names = new Map<string, string[]>();
  for (const [name, { unknown }] of Object.entries(counters))
    if (unknown !== null) names.set(unknown, [...(names.get(unknown) ?? []), name]);
  return [...names].map(([reason, unread]) => `No values of ${unread.join(", ")}: ${reason}.`);
}

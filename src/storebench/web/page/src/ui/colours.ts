/** Give each name of a study the same colour in every chart and view. */

import type { Study } from "../api/types";
import { byValue, type CellName } from "../model/cells";
import { nameOf, valueLabel } from "../model/choice";
import { paint, type Theme } from "./theme";

/** The parts of a study's description that determine colours. */
export type Painted = Pick<Study, "stores" | "operations" | "axes">;

/** Return a colour of a theme. */
export type Colour = (theme: Theme) => string;

/** Return the store's name and its server's name: `mongodb` and `v8` for `mongodb@v8`. */
function split(store: string): [string, string] {
  const [base = "", server = ""] = store.split("@");
  return [base, server];
}

/** Return a shade for a server's name, from 1 on; 0 without a server. */
const shadeOf = (server: string): number =>
  server === ""
    ? 0
    : 1 + ([...server].reduce((sum, letter) => (31 * sum + letter.charCodeAt(0)) % 9973, 7) % 5);

/** Return the names that have a colour each, in the study's order; names that the study does not list follow. */
export function colourNames(study: Painted, cells: CellName[], name: string): string[] {
  const there = [...new Set(cells.map((cell) => nameOf(cell, name)))].sort((one, other) =>
    byValue(one || undefined, other || undefined),
  );
  return [...new Set([...listed(study, name, there), ...there])];
}

/** Return the names that the study itself lists, whichever cells are shown. */
function listed(study: Painted, name: string, there: string[]): string[] {
  if (name === "store") return study.stores.map((store) => store.name);
  if (name === "operation") return study.operations.map((operation) => operation.name);
  if (name === "client") return study.stores.flatMap((store) => store.clients);
  const grid = study.axes.find((axis) => axis.name === name)?.grid ?? [];
  // values that the grid does not have are sorted among its values
  return there.every((value) => grid.includes(value)) ? [...grid].sort(byValue) : [];
}

/** Return the colour of a value of a name. A store at a named server has a shade of the store's colour. */
export function colourOfName(study: Painted, cells: CellName[], name: string, value: string): Colour {
  if (name === "store") {
    const [base, server] = split(value);
    const stores = study.stores.map((store) => store.name);
    const place = stores.indexOf(base);
    if (place >= 0) return (theme) => paint(theme, place, shadeOf(server));
  }
  const place = colourNames(study, cells, name).indexOf(value);
  return (theme) => paint(theme, Math.max(0, place));
}

/** Return the legend's entries for the values of a name among `shown` cells. `all` decides the colours. */
export function legendOf(study: Painted, all: CellName[], shown: CellName[], name: string) {
  const there = new Set(shown.map((cell) => nameOf(cell, name)));
  const values = colourNames(study, all, name).filter((value) => there.has(value));
  return values.map((value) => ({
    name: value,
    label: valueLabel(value),
    colour: colourOfName(study, all, name, value),
  }));
}

/** Return a function that returns the colour of a value of a name. */
export function painter(study: Painted, cells: CellName[], name: string) {
  const colours = new Map<string, Colour>();
  return (theme: Theme, value: string): string => {
    const colour = colours.get(value) ?? colourOfName(study, cells, name, value);
    colours.set(value, colour);
    return colour(theme);
  };
}

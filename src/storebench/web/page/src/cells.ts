import type { Attempt, Study } from "./types";
import { grouped, NONE } from "./units";

/** What names a cell, in each answer that is of one. Some are of one of its operations. */
export type CellName = Pick<Attempt, "cell_key" | "study" | "store" | "client" | "axes" | "rows" | "seed"> & {
  operation?: string;
};

/** What of a study's details names its cells. */
export type Places = Pick<Study, "axes" | "dataset">;

/** What tells datasets of a study apart. */
const DATASET = ["rows", "seed"] as const;
/** What every cell has a name for, whatever its study. */
const WHO = ["store", "client", "operation"] as const;
const isWho = (name: string): name is (typeof WHO)[number] => (WHO as readonly string[]).includes(name);
export const isOfDataset = (name: string): name is (typeof DATASET)[number] =>
  (DATASET as readonly string[]).includes(name);

/** Where a cell is on an axis, which store, client or operation it is of, or what its dataset has; undefined where that means nothing for it. */
export function placeOf(cell: CellName, name: string): string | undefined {
  if (isWho(name)) return cell[name];
  return isOfDataset(name) ? String(cell[name]) : cell.axes[name];
}

/** The axes of these cells in the study's order, then what tells their datasets apart. What the study does not know any more comes last. */
export function namesOf(study: Places, cells: CellName[]): string[] {
  return [...axesOf(study, cells), ...datasetNamesOf(study)];
}

/** The axes alone. */
export function axesOf(study: Places, cells: CellName[]): string[] {
  const known = study.axes.map(({ name }) => name);
  const there = new Set(cells.flatMap((cell) => Object.keys(cell.axes)));
  return [...known.filter((name) => there.has(name)), ...[...there].filter((name) => !known.includes(name))];
}

/** What tells datasets apart, where the study has any. */
export const datasetNamesOf = (study: Places): string[] => (study.dataset ? [...DATASET] : []);

const described = (study: Places, name: string) => study.axes.find((axis) => axis.name === name);

/** Whether all of an axis's values are numbers. */
export const isNumeric = (study: Places, name: string) =>
  isOfDataset(name) || (described(study, name)?.numeric ?? false);

/** What is said of an axis by the study. */
export const descriptionOf = (study: Places, name: string) => described(study, name)?.description ?? "";

/** What an axis is called within a sentence: by its title, which begins small if it is no abbreviation. */
export function titleOf(study: Places, name: string): string {
  const title = described(study, name)?.title ?? name.replaceAll("_", " ");
  return title.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase());
}

/** A value for people: a whole number in groups of three digits. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return NONE;
  const text = String(value);
  return /^[1-9]\d{3,}$/.test(text) ? grouped(BigInt(text)) : text;
}

/** Values in their order: what means nothing, numbers by size, then words. */
export function byValue(one: string | undefined, other: string | undefined): number {
  const isNumber = (text: string) => /^[+-]?\d+(\.\d+)?$/.test(text);
  const kind = (text: string | undefined) => (text === undefined ? 0 : isNumber(text) ? 1 : 2);
  const differ = kind(one) - kind(other);
  if (differ || one === undefined || other === undefined) return differ;
  return isNumber(one) ? Number(one) - Number(other) : one.localeCompare(other, "en", { numeric: true });
}

/** Stores and clients by name, then by their values, one after the other. */
export function byCell(one: CellName, other: CellName): number {
  const names = [...new Set([...Object.keys(one.axes), ...Object.keys(other.axes)]), ...DATASET];
  const places = names.map((name) => byValue(placeOf(one, name), placeOf(other, name)));
  return (
    one.store.localeCompare(other.store) ||
    one.client.localeCompare(other.client) ||
    places.find((differ) => differ !== 0) ||
    0
  );
}

/** What these places are, in words. A store, a client and an operation need no more than their names. */
export function placesText(cell: CellName, names: string[]): string {
  const who = WHO.filter((name) => names.includes(name)).map((name) => placeOf(cell, name));
  const where = names
    .filter((name) => !isWho(name) && placeOf(cell, name) !== undefined)
    .map((name) => `${name.replaceAll("_", " ")} ${valueText(placeOf(cell, name))}`);
  return [who.join(" "), ...where].filter(Boolean).join(", ");
}

/** A cell's name for people; its dataset is said apart. */
export function cellLabel(study: Places, cell: CellName): string {
  return placesText(cell, ["store", "client", ...axesOf(study, [cell])]);
}

/** Which dataset it was. */
export function datasetText(study: Places, cell: CellName): string {
  return placesText(cell, datasetNamesOf(study));
}

/** The datasets of these cells, each once. */
export function datasetsText(study: Places, cells: CellName[]): string {
  return [...new Set(cells.map((cell) => datasetText(study, cell)))].filter(Boolean).join("; ");
}

/** Those of the names in which these cells are not all alike; what means nothing for a cell tells it from no other. */
export function differing(cells: CellName[], names: string[]): string[] {
  return names.filter((name) => {
    const places = cells.map((cell) => placeOf(cell, name)).filter((place) => place !== undefined);
    return new Set(places).size > 1;
  });
}

/** The cells' names, with what of their datasets has to be added so that no two are alike. */
export function labels(study: Places, cells: CellName[]): (cell: CellName) => string {
  const added = differing(cells, datasetNamesOf(study));
  return (cell) => [cellLabel(study, cell), placesText(cell, added)].filter(Boolean).join(", ");
}

/** The values of a cell for what is taken away: a column for each of these names, so that all cells have the same. */
export function columns(study: Places, cell: CellName, names: string[]): Record<string, unknown> {
  const value = (name: string) => {
    const text = placeOf(cell, name);
    return text !== undefined && isNumeric(study, name) ? Number(text) : (text ?? null);
  };
  return Object.fromEntries(names.map((name) => [name, value(name)]));
}

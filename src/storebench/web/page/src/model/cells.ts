import type { Attempt, Study } from "../api/types";
import { grouped, NONE } from "./units";

/** The fields that name a cell in the API's answers. Some answers are about one of its operations. */
export type CellName = Pick<Attempt, "cell_key" | "study" | "store" | "client" | "axes" | "rows" | "seed"> & {
  operation?: string;
  /** The text that names the store, if another server answered for its product: `FerretDB (store mongodb)`. */
  label?: string;
};

/** The study's details that name its cells. */
export type Places = Pick<Study, "axes" | "dataset">;

/** The parameters that distinguish datasets of a study. */
const DATASET = ["rows", "seed"] as const;
/** The names that every cell has, whatever its study. */
const WHO = ["store", "client", "operation"] as const;
const isWho = (name: string): name is (typeof WHO)[number] => (WHO as readonly string[]).includes(name);
export const isOfDataset = (name: string): name is (typeof DATASET)[number] =>
  (DATASET as readonly string[]).includes(name);

/** Return a cell's value of an axis, store, client, operation or dataset parameter; undefined if the name does not apply to the cell. */
export function placeOf(cell: CellName, name: string): string | undefined {
  if (isWho(name)) return cell[name];
  return isOfDataset(name) ? String(cell[name]) : cell.axes[name];
}

/** Return the axes of these cells, then the dataset's parameters. Axes are in the study's order; axes that the study no longer has follow. */
export function namesOf(study: Places, cells: CellName[]): string[] {
  return [...axesOf(study, cells), ...datasetNamesOf(study)];
}

/** Return only the axes of these cells. */
export function axesOf(study: Places, cells: CellName[]): string[] {
  const known = study.axes.map(({ name }) => name);
  const there = new Set(cells.flatMap((cell) => Object.keys(cell.axes)));
  return [...known.filter((name) => there.has(name)), ...[...there].filter((name) => !known.includes(name))];
}

/** Return the parameters that distinguish datasets; none in a study without a dataset. */
export const datasetNamesOf = (study: Places): string[] => (study.dataset ? [...DATASET] : []);

const described = (study: Places, name: string) => study.axes.find((axis) => axis.name === name);

/** Return whether all values of an axis are numbers. */
export const isNumeric = (study: Places, name: string) =>
  isOfDataset(name) || (described(study, name)?.numeric ?? false);

/** Return the study's description of an axis. */
export const descriptionOf = (study: Places, name: string) => described(study, name)?.description ?? "";

/** Return an axis's title for use within a sentence: in lower case unless the title begins with an abbreviation. */
export function titleOf(study: Places, name: string): string {
  const title = described(study, name)?.title ?? name.replaceAll("_", " ");
  return title.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase());
}

/** Format a value: a whole number in groups of three digits. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return NONE;
  const text = String(value);
  return /^[1-9]\d{3,}$/.test(text) ? grouped(BigInt(text)) : text;
}

/** Compare values for sorting: absent values, then numbers by size, then words. */
export function byValue(one: string | undefined, other: string | undefined): number {
  const isNumber = (text: string) => /^[+-]?\d+(\.\d+)?$/.test(text);
  const kind = (text: string | undefined) => (text === undefined ? 0 : isNumber(text) ? 1 : 2);
  const differ = kind(one) - kind(other);
  if (differ || one === undefined || other === undefined) return differ;
  return isNumber(one) ? Number(one) - Number(other) : one.localeCompare(other, "en", { numeric: true });
}

/** Compare cells for sorting: by store, client, then each value in turn. */
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

/** Return a cell with the label of its store. `servers`: the servers that answered, null where an attempt failed before it connected. */
export function labelled<T extends CellName>(
  study: Pick<Study, "stores">,
  cell: T,
  servers: (string | null)[],
): T {
  const product = study.stores.find(({ name }) => name === cell.store.split("@")[0])?.product;
  const others = [...new Set(servers)].filter((server) => server && server !== product);
  return product && others.length ? { ...cell, label: `${others.join(", ")} (store ${cell.store})` } : cell;
}

/** Describe a cell by these names. Store, client and operation appear without a title. */
export function placesText(cell: CellName, names: string[]): string {
  const who = WHO.filter((name) => names.includes(name)).map((name) =>
    name === "store" ? (cell.label ?? cell.store) : placeOf(cell, name),
  );
  const where = names
    .filter((name) => !isWho(name) && placeOf(cell, name) !== undefined)
    .map((name) => `${name.replaceAll("_", " ")} ${valueText(placeOf(cell, name))}`);
  return [who.join(" "), ...where].filter(Boolean).join(", ");
}

/** Return a cell's display name, without its dataset. */
export function cellLabel(study: Places, cell: CellName): string {
  return placesText(cell, ["store", "client", ...axesOf(study, [cell])]);
}

/** Describe a cell's dataset. */
export function datasetText(study: Places, cell: CellName): string {
  return placesText(cell, datasetNamesOf(study));
}

/** List the datasets of these cells, each once. */
export function datasetsText(study: Places, cells: CellName[]): string {
  return [...new Set(cells.map((cell) => datasetText(study, cell)))].filter(Boolean).join("; ");
}

/** Return the names in which these cells differ. A name that does not apply to a cell is no difference. */
export function differing(cells: CellName[], names: string[]): string[] {
  return names.filter((name) => {
    const places = cells.map((cell) => placeOf(cell, name)).filter((place) => place !== undefined);
    return new Set(places).size > 1;
  });
}

/**
 * Return a function that names cells by store, client, and the values in which the cells differ. `serversOf` returns the names of the servers
 * that answered for a cell.
 */
export function labels<T extends CellName>(
  study: Study,
  cells: T[],
  serversOf: (cell: T) => (string | null)[],
): (cell: T) => string {
  const names = ["store", "client", ...differing(cells, namesOf(study, cells))];
  return (cell) => placesText(labelled(study, cell, serversOf(cell)), names);
}

/** Return a cell's values for export: a column for each name, so that all cells have the same columns. */
export function columns(study: Places, cell: CellName, names: string[]): Record<string, unknown> {
  const value = (name: string) => {
    const text = placeOf(cell, name);
    return text !== undefined && isNumeric(study, name) ? Number(text) : (text ?? null);
  };
  return Object.fromEntries(names.map((name) => [name, value(name)]));
}

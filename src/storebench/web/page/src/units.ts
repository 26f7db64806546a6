/** What stands where there is nothing. */
export const NONE = "–";

const MIB = 2 ** 20;

/** How figures of a unit are drawn and written. */
export interface Unit {
  /** Its name at an axis. */
  axis: string;
  /** How much of it is 1 there. */
  scale: number;
  /** A figure, before `scale`. */
  text: (value: number) => string;
}

/** Seconds, bytes and rates in the units that people think in; whatever else a study measures in has its own name. */
export function unitOf(name: string): Unit {
  if (name === "s") return { axis: "seconds", scale: 1, text: seconds };
  if (name === "bytes") return { axis: "MiB", scale: MIB, text: mebibytes };
  if (name === "bytes/s")
    return { axis: "MiB/s", scale: MIB, text: (value) => `${digits(value / MIB, 3)} MiB/s` };
  return { axis: name, scale: 1, text: (value) => `${digits(value, 3)} ${name}`.trim() };
}

/** A figure with its unit. */
export function figureIn(unit: string | null | undefined, value: number | null | undefined): string {
  return value === null || value === undefined ? NONE : unitOf(unit ?? "").text(value);
}

/** Three digits that count, to the microsecond; always in seconds, so that any two can be compared. */
export function seconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return NONE;
  if (value === 0) return "0 s";
  const places = Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(Math.abs(value)))));
  return `${value.toFixed(places)} s`;
}

/** Whole ones, and of less than a hundred three digits that count. */
export function mebibytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return NONE;
  const size = value / MIB;
  return `${Math.abs(size) < 100 ? digits(size, 3) : grouped(Math.round(size))} MiB`;
}

/** A number with so many digits that count, never with an exponent. */
export const digits = (value: number, count: number): string => formatOf(count).format(value);

/** A whole number in groups of three digits. */
export const grouped = (value: number | bigint): string => formatOf().format(value);

const formats = new Map<number | undefined, Intl.NumberFormat>();

/** One for all numbers: it takes as long to make one as to write a hundred of them. */
function formatOf(maximumSignificantDigits?: number): Intl.NumberFormat {
  const known = formats.get(maximumSignificantDigits);
  if (known) return known;
  const made = new Intl.NumberFormat("en", { maximumSignificantDigits });
  formats.set(maximumSignificantDigits, made);
  return made;
}

/**
 * Format figures: three significant digits, in the unit that keeps them short. `storebench.answers.units` formats likewise on the command
 * line, and documents the rule by which compared figures share a unit. Both modules are tested with tests/figures.json.
 */

/** The text for an absent value. */
export const NONE = "–";

const DIGITS = 3;
/** The maximum ratio of the largest to the smallest compared figure at which the figures share a unit. */
const RANGE = 1000;
/** Whole numbers in these units are exact. */
const WHOLE = ["", "B"];
/** From this ratio on, three decimals are at least three significant digits. */
const LEAST_RATIO = 0.1;

type Maybe = number | null | undefined;

/** A display unit: a number in this unit is the figure times `times`, divided by `by`. */
interface Scale {
  unit: string;
  times: number;
  by: number;
}

const scale = (unit: string, times = 1, by = 1): Scale => ({ unit, times, by });

/** The scales of each metric's unit, from the smallest to the largest, and below the unit of 0. */
const SCALES = new Map([
  ["s", [scale("ns", 1e9), scale("µs", 1e6), scale("ms", 1e3), scale("s")]],
  [
    "bytes",
    [scale("B"), scale("kB", 1, 1e3), scale("MB", 1, 1e6), scale("GB", 1, 1e9), scale("TB", 1, 1e12)],
  ],
  ["bytes/s", [scale("B/s"), scale("kB/s", 1, 1e3), scale("MB/s", 1, 1e6), scale("GB/s", 1, 1e9)]],
]);
const OF_ZERO = new Map([
  ["s", "s"],
  ["bytes", "B"],
  ["bytes/s", "B/s"],
]);

/** Formats figures of one unit. */
export interface Figures {
  /** A figure with its unit. */
  text: (value: Maybe) => string;
  /** Both ends of an interval, in the unit of its median. */
  interval: (low: number, high: number, median: number) => string;
}

/** Return the formatter of figures that are compared with these values. */
export function compared(name: string | null | undefined, values: Maybe[]): Figures {
  const unit = name ?? "";
  const sizes = values.flatMap((value) => (value ? [Math.abs(value)] : []));
  // `Math.min(...sizes)` would exceed the maximum number of arguments in a large table
  const least = sizes.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY);
  const most = sizes.reduce((one, other) => Math.max(one, other), 0);
  const shared = most > RANGE * least ? undefined : scaleOf(most, unit);
  const scaleFor = (value: number) => shared ?? scaleOf(value, unit);
  return {
    text: (value) => (value === null || value === undefined ? NONE : written(value, scaleFor(value))),
    interval: (low, high, median) =>
      `${numberIn(low, scaleFor(median))} to ${written(high, scaleFor(median))}`,
  };
}

/** Format a single figure with its unit, compared with no other figure. */
export const figureIn = (unit: string | null | undefined, value: Maybe): string =>
  compared(unit, [value]).text(value);

/** Format a ratio with three decimals, a small ratio with three significant digits. */
export const ratioText = (value: number): string =>
  Math.abs(value) >= LEAST_RATIO ? value.toFixed(3) : numberIn(value, scale("ratio"));

/** Return the smallest scale in which the value has at most three digits before the decimal point. */
function scaleOf(value: number, unit: string): Scale {
  const scales = SCALES.get(unit) ?? [scale(unit)];
  const fits = value
    ? // 999.5 is rounded to 1,000
      (scale: Scale) => (Math.abs(value) * scale.times) / scale.by < RANGE - 0.5
    : (scale: Scale) => scale.unit === OF_ZERO.get(unit);
  return scales.find(fits) ?? (scales.at(-1) as Scale);
}

const written = (value: number, scale: Scale) => `${numberIn(value, scale)} ${scale.unit}`.trim();

function numberIn(value: number, { unit, times, by }: Scale): string {
  const number = (value * times) / by;
  if (number === 0) return "0";
  if (WHOLE.includes(unit) && Number.isInteger(number)) return grouped(number);
  return formatOf(DIGITS, DIGITS).format(number);
}

/**
 * Return for each text of a column the characters that its last number lacks after the decimal point, compared with the number that has the
 * most decimals. A right-aligned cell with this room at its end has its decimal point below the points of the other cells.
 */
export function decimalRoom(texts: string[]): string[] {
  const decimals = texts.map((text) => /\d(\.\d+)?\D*$/.exec(text)?.[1] ?? "");
  const most = decimals.reduce((before, { length }) => Math.max(before, length), 0);
  const room = `.${"0".repeat(Math.max(0, most - 1))}`;
  return texts.map((text, place) => (most && /\d/.test(text) ? room.slice(decimals[place]?.length) : ""));
}

/** Split a column's texts into numbers and their unit, if all numbers have the same unit; else the unit is empty. */
export function withUnit(texts: string[]): { unit: string; numbers: string[] } {
  const ends = texts.map((text) => /\d( \D+)$/.exec(text)?.[1] ?? "");
  const [end = "", ...others] = new Set(ends.filter((_, place) => texts[place] !== NONE));
  if (!end || others.length) return { unit: "", numbers: texts };
  const without = (text: string) => (text === NONE ? text : text.slice(0, -end.length));
  return { unit: end.trim(), numbers: texts.map(without) };
}

/** A text with numbers, and the room at its end that aligns its decimal point with the points of its column. */
export interface Aligned {
  text: string;
  room: string;
}

/** Align the decimal points of a table's columns of numbers. `rows`: the texts of each row. */
export function alignedRows(rows: string[][]): Aligned[][] {
  const rooms = (rows[0] ?? []).map((_, column) => decimalRoom(rows.map((texts) => texts[column] ?? "")));
  return rows.map((texts, row) => texts.map((text, column) => ({ text, room: rooms[column]?.[row] ?? "" })));
}

/** The texts of an axis: its unit, and the text of each tick. */
export interface AxisTexts {
  /** The unit of all ticks; empty if the ticks' texts have their own units. */
  unit: string;
  tick: (value: number) => string;
}

/** Return the texts of an axis whose ticks have these values: numbers in one unit that suits them, or texts with their own units. */
export function axisTexts(name: string, ticks: number[]): AxisTexts {
  const sizes = ticks.map(Math.abs).filter((value) => value > 0);
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  const plain = (value: number, { times, by }: Scale) => digits((value * times) / by, 6);
  if (most >= RANGE * least && SCALES.has(name))
    return {
      unit: "",
      tick: (value) => (value ? `${plain(value, scaleOf(value, name))} ${scaleOf(value, name).unit}` : "0"),
    };
  const shared = scaleOf(sizes.length ? most : 0, name);
  return { unit: shared.unit, tick: (value) => plain(value, shared) };
}

/** Format a number with at most `count` significant digits, without an exponent. */
export const digits = (value: number, count: number): string => formatOf(count).format(value);

/** Format a whole number in groups of three digits. */
export const grouped = (value: number | bigint): string => formatOf().format(value);

const formats = new Map<string, Intl.NumberFormat>();

/** Return a cached number format: creating a format takes as long as formatting a hundred numbers. */
function formatOf(maximumSignificantDigits?: number, minimumSignificantDigits?: number): Intl.NumberFormat {
  const key = `${maximumSignificantDigits} ${minimumSignificantDigits}`;
  const known = formats.get(key);
  if (known) return known;
  const made = new Intl.NumberFormat("en", { maximumSignificantDigits, minimumSignificantDigits });
  formats.set(key, made);
  return made;
}

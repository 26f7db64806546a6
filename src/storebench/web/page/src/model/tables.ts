/** Arrange the medians of a table that a study declares. */
import type { Attempt, CellFigures, Metric, Study, Table } from "../api/types";
import { differing, isNumeric, namesOf, placeOf, placesText, titleOf, valueText } from "./cells";
import { answered } from "./figures";
import { brokenFirst, isBroken, remark, SIGNS, soundness } from "./format";
import { figureOf, metricNamed } from "./study";
import { compared, NONE } from "./units";

/** A median as a table shows it. */
export interface MedianText {
  median: string;
  /** The interval, or that the attempts are too few to tell it; empty without a median. */
  interval: string;
  /** The number of attempts, and the range of their figures; empty without a median. */
  counted: string;
}

/** A cell's operation as a line of a table. */
export interface TableLine {
  cell: CellFigures;
  places: string[];
  medians: MedianText[];
  /** The attempts that do not count, with the number of attempts of each text; broken guarantees come first. */
  failures: { text: string; broken: boolean }[];
}

/** A table with its columns. */
export interface TableData {
  /** The titles of the columns before the medians. */
  places: string[];
  metrics: Metric[];
  lines: TableLine[];
  /** The columns of an export. */
  exported: Record<string, unknown>[];
}

/** Return whether an attempt is in the medians. */
const counts = (attempt: Attempt) => attempt.status === "verified" && !attempt.disturbed;

/**
 * Return the content of a table: cells that have its axis, and report any of its metrics or have no attempt that counts. A cell whose
 * attempts count and report none of the metrics is excluded: the metrics do not apply to it. A table has no line if no cell differs from the
 * value that its axis implies, such as a run without any fault.
 */
export function tableData(study: Study, table: Table, cells: CellFigures[]): TableData {
  const metrics = table.metrics.flatMap((name) => metricNamed(study, name) ?? []);
  const { implied } = study.axes.find(({ name }) => name === table.axis) ?? {};
  const fitting = cells.filter(
    (cell) =>
      placeOf(cell, table.axis) !== undefined &&
      (!table.operations.length || table.operations.includes(cell.operation)) &&
      (metrics.some(({ name }) => cell.figures[name]) || !cell.attempts.some(counts)),
  );
  const chosen = fitting.some((cell) => placeOf(cell, table.axis) !== implied) ? fitting : [];
  const others = namesOf(study, chosen).filter((name) => name !== table.axis);
  const names = ["store", "client", table.axis, ...differing(chosen, ["operation", ...others])];
  const texts = metrics.map((metric) => medianTexts(study, metric, chosen));
  return {
    places: names.map((name) => titleOf(study, name)),
    metrics,
    lines: chosen.map((cell, line) => ({
      cell,
      places: names.map((name) =>
        name === "store" ? placesText(answered(study, cell), [name]) : valueText(placeOf(cell, name)),
      ),
      medians: texts.map((column) => column[line] as MedianText),
      failures: failuresOf(cell),
    })),
    exported: chosen.map((cell) => ({
      ...Object.fromEntries(
        ["operation", ...names].map((name) => {
          const value = placeOf(cell, name);
          return [name, value !== undefined && isNumeric(study, name) ? Number(value) : (value ?? null)];
        }),
      ),
      ...Object.fromEntries(
        metrics.flatMap(({ name }) => {
          const {
            median = null,
            interval_low = null,
            interval_high = null,
            n = 0,
          } = cell.figures[name] ?? {};
          return Object.entries({
            [name]: median,
            [`${name}_interval_low`]: interval_low,
            [`${name}_interval_high`]: interval_high,
            [`${name}_n`]: n,
          });
        }),
      ),
      failures:
        failuresOf(cell)
          .map(({ text }) => text)
          .join("; ") || null,
    })),
  };
}

/** Return the texts of a metric's medians. All figures of the column share a unit where possible. */
function medianTexts(study: Study, { name, unit }: Metric, cells: CellFigures[]): MedianText[] {
  const { text, interval } = compared(
    unit,
    cells.map((cell) => cell.figures[name]?.median),
  );
  return cells.map((cell) => {
    const spread = cell.figures[name];
    if (!spread) return { median: NONE, interval: "", counted: "" };
    const counted = cell.attempts.filter(counts);
    const values = counted.flatMap((attempt) => figureOf(study, attempt, name) ?? []);
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const { n, median, interval_low, interval_high } = spread;
    return {
      median: text(median),
      interval:
        interval_low === null || interval_high === null
          ? "interval: cannot tell"
          : `interval ${interval(interval_low, interval_high, median)}`,
      counted: [
        // a figure that some attempts lack is the median of the others only
        n < counted.length ? `n ${n} of ${counted.length}` : `n ${n}`,
        ...(least < most ? [`all ${interval(least, most, median)}`] : []),
      ].join(", "),
    };
  });
}

/** Describe the attempts of a cell that do not count, each text once. */
function failuresOf({ attempts }: CellFigures): TableLine["failures"] {
  const texts = new Map<string, { n: number; broken: boolean }>();
  for (const attempt of brokenFirst(
    attempts.filter((attempt) => !counts(attempt)),
    (attempt) => attempt,
  )) {
    const text = `${SIGNS[soundness(attempt)]} ${remark(attempt)}${attempt.error ? `: ${attempt.error}` : ""}`;
    texts.set(text, { n: (texts.get(text)?.n ?? 0) + 1, broken: isBroken(attempt) });
  }
  return [...texts].map(([text, { n, broken }]) => ({ text: n > 1 ? `${n} × ${text}` : text, broken }));
}

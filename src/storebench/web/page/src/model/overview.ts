/** Sum up a ranking in a sentence, and choose the next step. The sentence never says more than the ranking's verdicts. */
import type { RankedCell, Ranking, Run, Study } from "../api/types";
import { figuresOf, medianText, namer, type Ranked } from "./ranking";
import { titleOfOperation } from "./study";
import { digits } from "./units";

/** The state of the answer: nothing measured, nothing to compare with, undecided, equal, or decided. */
export type Outcome = "nothing" | "alone" | "undecided" | "equal" | "decided";

export interface Summary {
  outcome: Outcome;
  /** The answer in a few words, such as "Write: mongodb reference is fastest." */
  headline: string;
  /** The figures of the answer. */
  text: string;
  /** What an undecided verdict lacks; empty if nothing. */
  missing: string;
}

/** Return the sentence about a ranking. */
export function summaryOf({ study, ranking }: Ranked): Summary {
  const { outcome, answer, text, missing = "" } = answerOf(study, ranking);
  return {
    outcome,
    headline: `${titleOfOperation(ranking.operation)}: ${answer}.`,
    text: [text, ...unlikeText(ranking)].filter(Boolean).join(" "),
    missing,
  };
}

/** Name the guarantees of the ranked cells if they differ. */
function unlikeText({ ranked }: Ranking): string[] {
  const guarantees = [...new Set(ranked.flatMap(({ guarantee }) => guarantee ?? []))].sort();
  return guarantees.length > 1 ? [`The guarantees differ: ${guarantees.join(", ")}.`] : [];
}

function answerOf(
  study: Study,
  ranking: Ranking,
): Pick<Summary, "outcome" | "text"> & { answer: string; missing?: string } {
  const { ranked, excluded, title } = ranking;
  const name = namer(study, [...ranked, ...excluded]);
  const [best, ...others] = ranked;
  if (!best)
    return excluded.length
      ? { outcome: "nothing", answer: "nothing can be ranked yet", text: "All measured cells are excluded." }
      : { outcome: "nothing", answer: "nothing is measured yet", text: "" };
  const figure = figureText(ranking, best);
  if (!others.length)
    return {
      outcome: "alone",
      answer: `only ${name(best)} can be ranked`,
      text: `${sentence(title)}: ${figure}. Nothing to compare with.`,
    };
  const open = others.filter(({ verdict }) => verdict === "cannot tell" || verdict === "better");
  const equal = others.filter(({ verdict }) => verdict === "the same");
  if (open.length) {
    const count = open.length === others.length ? "all" : `${open.length} of`;
    const rivals = open.length > 2 ? `${count} ${others.length} other cells` : listed(open.map(name));
    const reason = open.find(({ reason }) => reason)?.reason;
    return {
      outcome: "undecided",
      answer: "no winner yet",
      text: `${name(best)} has the best median of ${title} (${figure}), but no verdict separates it from ${rivals}.`,
      missing: reason ? `Missing, with A for ${name(best)}: ${reason}.` : "",
    };
  }
  const rest = restText(ranking, others, name);
  if (equal.length)
    return {
      outcome: "equal",
      answer: `${listed([best, ...equal].map(name))} are equal, within ${ranking.margin_percent} %`,
      text: `${sentence(title)}: ${figure} for ${name(best)}${rest}.`,
    };
  return {
    outcome: "decided",
    answer: `${name(best)} is ${bestWord(ranking)}`,
    text: `${sentence(title)}: ${figure}${rest}.`,
  };
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** Describe the next cell that is worse than the best cell, by the interval of the ratio. */
function restText(ranking: Ranking, others: RankedCell[], name: (cell: RankedCell) => string): string {
  const next = others.find(({ verdict }) => verdict === "worse");
  if (!next) return "";
  const times = timesText(ranking, next);
  return times ? `. Next: ${name(next)}, ${times}` : "";
}

/** Describe a median with its interval and the number of attempts. */
function figureText(ranking: Ranking, { spread }: RankedCell): string {
  if (!spread) return "";
  const figures = figuresOf(ranking);
  const { interval_low: low, interval_high: high, median, n } = spread;
  const interval =
    low === null || high === null ? "no interval" : `95 % interval ${figures.interval(low, high, median)}`;
  return `${figures.text(median)}, ${interval}, n = ${n}`;
}

/** Return the word for the best cell: `fastest` for times. */
const bestWord = ({ unit, better }: Ranking) =>
  unit === "s" ? "fastest" : better === "higher" ? "highest" : "lowest";

/** Return the word for a worse figure. */
export const worseWord = ({ unit, better }: Ranking) =>
  unit === "s" ? "slower" : better === "higher" ? "lower" : "higher";

/** Describe how much worse a cell is than the best cell, by the interval of the ratio; empty without an interval. */
export function timesText(ranking: Ranking, { ratio_low, ratio_high }: RankedCell): string {
  if (ratio_low === null || ratio_high === null) return "";
  const [low, high] = ranking.better === "higher" ? [1 / ratio_high, 1 / ratio_low] : [ratio_low, ratio_high];
  const ends = [...new Set([low, high].map((ratio) => digits(ratio, 3)))];
  return `${ends.join(" to ")} × ${worseWord(ranking)}`;
}

const listed = (names: string[]) =>
  names.length < 2 ? (names[0] ?? "") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;

/** Return the medians of the bars in the ranking's order, as texts that share a unit. */
export const barTexts = (ranking: Ranking) => {
  const figures = figuresOf(ranking);
  return (cell: RankedCell) => medianText(cell, figures);
};

/** The attempts that each side of a verdict needs, and an interval of a median (storebench.results.statistics). */
export const REPEATS = 6;

/** Return the parameters of a run that repeats the cells of a ranking, as an earlier run of these cells measured them. */
export function repeatOf(ranking: Ranking, runs: Run[]): Record<string, unknown> {
  const cells = ranking.ranked;
  const values = (of: (cell: RankedCell) => string | undefined) => [
    ...new Set(cells.map(of).filter((value) => value !== undefined)),
  ];
  const stores = values(({ store }) => store);
  const axes = [...new Set(cells.flatMap(({ axes }) => Object.keys(axes)))];
  const before = runs.find(
    (run) =>
      run.rows === ranking.rows &&
      run.seed === ranking.seed &&
      run.stores.some((store) => stores.includes(store)),
  );
  const {
    skip_done: _,
    order_seed: __,
    precision_percent: ___,
    budget_min: ____,
    ...params
  } = before?.params ?? {};
  return {
    ...params,
    stores,
    clients: values(({ client }) => client),
    rows: ranking.rows,
    seed: ranking.seed,
    ...Object.fromEntries(axes.map((name) => [name, values((cell) => cell.axes[name])])),
    repeats: REPEATS,
  };
}

/** Return two runs to compare: the newest that has ended with results, and an earlier run with the same dataset and a store in common. */
export function pairOf(runs: Run[]): { before: string; after: string } | undefined {
  const ended = runs.filter(
    ({ state, verified }) => (state === "success" || state === "failed") && verified > 0,
  );
  for (const [place, after] of ended.entries()) {
    const before = ended
      .slice(place + 1)
      .find(
        (run) =>
          run.rows === after.rows &&
          run.seed === after.seed &&
          run.stores.some((store) => after.stores.includes(store)),
      );
    if (before) return { before: before.id, after: after.id };
  }
  return undefined;
}

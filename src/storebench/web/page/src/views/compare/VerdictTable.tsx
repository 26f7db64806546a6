import { useState } from "react";
import type { Comparison, NoVerdict, Study, Verdict } from "../../api/types";
import { labelText, serversOfA } from "../../charts/charts";
import { labels } from "../../model/cells";
import type { Choice } from "../../model/choice";
import { toHistory } from "../../model/lead";
import { alignedRows, compared, NONE, ratioText } from "../../model/units";
import { whyLines } from "../../model/why";
import { Lead } from "../../ui/Lead";
import { Common } from "../../ui/Provenance";
import { Reason } from "../../ui/Reason";
import { NumberCells, ScrollTable } from "../../ui/ScrollTable";

/** A comparison and its study. */
export interface StudyComparison {
  study: Study;
  comparison: Comparison;
}

/**
 * Show a line for each cell and operation, with its verdict or the reason why there is none. Columns that few users read are folded.
 * `place` is the name of the compared values; undefined if the sides are runs.
 */
export function VerdictTable({
  study,
  comparison,
  place,
  choice,
}: StudyComparison & { place?: string | undefined; choice: Choice }) {
  const [all, setAll] = useState(false);
  const { verdicts, no_verdict } = comparison;
  const cells = [...verdicts, ...no_verdict];
  const name = labels(study, cells, serversOfA);
  const isUnsound = cells.some(({ remarks }) => remarks.length);
  const more = all ? ["A: geometric mean", "B: geometric mean", "p, adjusted"] : [];
  const figures = ["B / A", "95 % interval", "A: median (n)", "B: median (n)", ...more];
  const named = (cell: Verdict | NoVerdict, metric?: string | null) => (
    <th scope="row">
      <Lead choice={choice} to={toHistory(cell as Verdict, metric ?? "")}>
        {name(cell)}
      </Lead>
    </th>
  );
  const numbers = alignedRows(verdicts.map((verdict) => figuresOf(verdict, all)));
  const remarks = (texts: string[]) => (isUnsound ? <td>{texts.join("; ") || NONE}</td> : null);
  return (
    <>
      <Common study={study} cells={cells} serversOf={serversOfA} place={place} />
      <p className="sb-line">
        <button type="button" aria-pressed={all} onClick={() => setAll(!all)}>
          all columns
        </button>
      </p>
      <ScrollTable
        label="Verdicts"
        className="sb-verdicts"
        columns={["cell", "operation", "B is", ...figures, ...(isUnsound ? ["unsound"] : [])]}
      >
        {verdicts.map((verdict, index) => (
          <tr key={`${verdict.cell_key} ${verdict.operation}`}>
            {named(verdict, verdict.metric)}
            <td>{verdict.operation}</td>
            <td className={`sb-verdict sb-${verdict.verdict.replace(" ", "-")}`}>
              {labelText(verdict)}
              <Reason text={verdict.reason} />
              <Why of={verdict.why} units={comparison.units} />
            </td>
            <NumberCells of={numbers[index]} />
            {remarks(verdict.remarks)}
          </tr>
        ))}
        {no_verdict.map((pair) => (
          <tr key={`${pair.cell_key} ${pair.operation}`}>
            {named(pair)}
            <td>{pair.operation}</td>
            <td className="sb-verdict">no verdict</td>
            <td colSpan={figures.length}>{pair.reason}</td>
            {remarks(pair.remarks)}
          </tr>
        ))}
      </ScrollTable>
    </>
  );
}

/** Show on request what differs together with a verdict. */
function Why({ of, units }: { of: Verdict["why"]; units: string }) {
  if (!of) return null;
  return (
    <details>
      <summary>goes along with</summary>
      <ul className="sb-reason">
        {whyLines(of, units).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </details>
  );
}

/** Return the table of verdicts in a form that fits into a picture. */
export function textsOf(study: Study, { verdicts, no_verdict }: Comparison): Record<string, string>[] {
  const name = labels(study, [...verdicts, ...no_verdict], serversOfA);
  const line = (pair: Verdict | NoVerdict, a: string, b: string, ratio: string, said: string) => ({
    cell: name(pair),
    operation: pair.operation,
    "A (n)": a,
    "B (n)": b,
    "B / A": ratio,
    "B is": said,
  });
  return [
    ...verdicts.map((verdict) => {
      const { before, after } = mediansOf(verdict);
      return line(verdict, before, after, timesText(verdict), labelText(verdict));
    }),
    ...no_verdict.map((pair) => line(pair, NONE, NONE, NONE, pair.reason)),
  ];
}

const sideFigures = ({ unit, median_before, median_after }: Verdict) =>
  compared(unit, [median_before, median_after]);

/** Format the medians of both sides, with the number of repeats. */
function mediansOf(verdict: Verdict): { before: string; after: string } {
  const { text } = sideFigures(verdict);
  return {
    before: `${text(verdict.median_before)} (${verdict.n_before})`,
    after: `${text(verdict.median_after)} (${verdict.n_after})`,
  };
}

/** Format the figures of a verdict, in the order of their columns. `all`: also the means that the ratio is made of, and the probability. */
function figuresOf(verdict: Verdict, all: boolean): string[] {
  const { ratio_low, ratio_high, mean_before, mean_after, p_adjusted } = verdict;
  const { before, after } = mediansOf(verdict);
  const { text } = sideFigures(verdict);
  const interval =
    ratio_low === null || ratio_high === null ? NONE : `${ratioText(ratio_low)} to ${ratioText(ratio_high)}`;
  const few = [timesText(verdict), interval, before, after];
  return all ? [...few, text(mean_before), text(mean_after), chanceText(p_adjusted)] : few;
}

const timesText = ({ ratio }: Verdict) => (ratio === null ? NONE : ratioText(ratio));

/** Format a probability, which is never 0. */
function chanceText(p: number | null): string {
  if (p === null) return NONE;
  return p < 0.0001 ? "< 0.0001" : p.toFixed(4);
}

import type { Comparison, NoVerdict, Study, Verdict } from "../../api/types";
import { labelText } from "../../charts/charts";
import {
  type CellName,
  cellLabel,
  datasetNamesOf,
  isNumeric,
  placeOf,
  titleOf,
  valueText,
} from "../../model/cells";
import type { Choice } from "../../model/choice";
import { toHistory } from "../../model/lead";
import { compared, NONE, ratioText } from "../../model/units";
import { Lead } from "../../ui/Lead";
import { ScrollTable } from "../../ui/ScrollTable";

/** A comparison and its study. */
export interface StudyComparison {
  study: Study;
  comparison: Comparison;
}

/** Show a line for each cell and operation, with its verdict or the reason why there is none. */
export function VerdictTable({ study, comparison, choice }: StudyComparison & { choice: Choice }) {
  const names = datasetNamesOf(study);
  const place = (cell: CellName) =>
    names.map((name) => (
      <td key={name} className={isNumeric(study, name) ? "sb-number" : undefined}>
        {valueText(placeOf(cell, name))}
      </td>
    ));
  return (
    <ScrollTable
      label="Verdicts"
      columns={[
        "cell",
        ...names.map((name) => titleOf(study, name)),
        "operation",
        "A: median (n)",
        "B: median (n)",
        "A: geometric mean",
        "B: geometric mean",
        "B / A",
        "95 % interval",
        "p, adjusted",
        "B is",
        "unsound",
      ]}
    >
      {comparison.verdicts.map((verdict) => (
        <tr key={`${verdict.cell_key} ${verdict.operation}`}>
          <th scope="row">
            <Lead choice={choice} to={toHistory(verdict, verdict.metric ?? "")}>
              {cellLabel(study, verdict)}
            </Lead>
          </th>
          {place(verdict)}
          <td>{verdict.operation}</td>
          {sidesOf(verdict).map(([side, text]) => (
            <td key={side} className="sb-number">
              {text}
            </td>
          ))}
          <td className="sb-number">{timesText(verdict)}</td>
          <td className="sb-number">
            {verdict.ratio_low === null || verdict.ratio_high === null
              ? NONE
              : `${ratioText(verdict.ratio_low)} to ${ratioText(verdict.ratio_high)}`}
          </td>
          <td className="sb-number">{chanceText(verdict.p_adjusted)}</td>
          <td className={`sb-verdict sb-${verdict.verdict.replace(" ", "-")}`}>
            {labelText(verdict)}
            {verdict.reason ? <span className="sb-reason">{verdict.reason}</span> : null}
          </td>
          <td>{verdict.remarks.join("; ") || NONE}</td>
        </tr>
      ))}
      {comparison.no_verdict.map((pair) => (
        <tr key={`${pair.cell_key} ${pair.operation}`}>
          <th scope="row">
            <Lead choice={choice} to={toHistory(pair)}>
              {cellLabel(study, pair)}
            </Lead>
          </th>
          {place(pair)}
          <td>{pair.operation}</td>
          <td colSpan={7}>{pair.reason}</td>
          <td className="sb-verdict">no verdict</td>
          <td>{pair.remarks.join("; ") || NONE}</td>
        </tr>
      ))}
    </ScrollTable>
  );
}

/** Return the table of verdicts in a form that fits into a picture. */
export function textsOf(study: Study, { verdicts, no_verdict }: Comparison): Record<string, string>[] {
  const line = (pair: Verdict | NoVerdict, a: string, b: string, ratio: string, said: string) => ({
    cell: cellLabel(study, pair),
    operation: pair.operation,
    "A (n)": a,
    "B (n)": b,
    "B / A": ratio,
    "B is": said,
  });
  return [
    ...verdicts.map((verdict) => {
      const [[, a], [, b]] = sidesOf(verdict);
      return line(verdict, a, b, timesText(verdict), labelText(verdict));
    }),
    ...no_verdict.map((pair) => line(pair, NONE, NONE, NONE, pair.reason)),
  ];
}

/** Format the figures of both sides: medians with the number of repeats, then means. */
function sidesOf(verdict: Verdict): [[string, string], [string, string], [string, string], [string, string]] {
  const { text } = compared(verdict.unit, [verdict.median_before, verdict.median_after]);
  return [
    ["median A", `${text(verdict.median_before)} (${verdict.n_before})`],
    ["median B", `${text(verdict.median_after)} (${verdict.n_after})`],
    ["mean A", text(verdict.mean_before)],
    ["mean B", text(verdict.mean_after)],
  ];
}

const timesText = ({ ratio }: Verdict) => (ratio === null ? NONE : ratioText(ratio));

/** Format a probability, which is never 0. */
function chanceText(p: number | null): string {
  if (p === null) return NONE;
  return p < 0.0001 ? "< 0.0001" : p.toFixed(4);
}

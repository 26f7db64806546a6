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
export interface Found {
  study: Study;
  found: Comparison;
}

/** Show a line for each cell and operation, with its verdict or the reason why there is none. */
export function VerdictTable({ study, found, choice }: Found & { choice: Choice }) {
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
      {found.verdicts.map((verdict) => (
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
      {found.no_verdict.map((one) => (
        <tr key={`${one.cell_key} ${one.operation}`}>
          <th scope="row">
            <Lead choice={choice} to={toHistory(one)}>
              {cellLabel(study, one)}
            </Lead>
          </th>
          {place(one)}
          <td>{one.operation}</td>
          <td colSpan={7}>{one.reason}</td>
          <td className="sb-verdict">no verdict</td>
          <td>{one.remarks.join("; ") || NONE}</td>
        </tr>
      ))}
    </ScrollTable>
  );
}

/** Return the table of verdicts in a form that fits into a picture. */
export function textsOf(study: Study, { verdicts, no_verdict }: Comparison): Record<string, string>[] {
  const line = (one: Verdict | NoVerdict, a: string, b: string, ratio: string, said: string) => ({
    cell: cellLabel(study, one),
    operation: one.operation,
    "A (n)": a,
    "B (n)": b,
    "B / A": ratio,
    "B is": said,
  });
  return [
    ...verdicts.map((one) => {
      const [[, a], [, b]] = sidesOf(one);
      return line(one, a, b, timesText(one), labelText(one));
    }),
    ...no_verdict.map((one) => line(one, NONE, NONE, NONE, one.reason)),
  ];
}

/** Format the figures of both sides: medians with the number of repeats, then means. */
function sidesOf(one: Verdict): [[string, string], [string, string], [string, string], [string, string]] {
  const { text } = compared(one.unit, [one.median_before, one.median_after]);
  return [
    ["median A", `${text(one.median_before)} (${one.n_before})`],
    ["median B", `${text(one.median_after)} (${one.n_after})`],
    ["mean A", text(one.mean_before)],
    ["mean B", text(one.mean_after)],
  ];
}

const timesText = ({ ratio }: Verdict) => (ratio === null ? NONE : ratioText(ratio));

/** Format a probability, which is never 0. */
function chanceText(p: number | null): string {
  if (p === null) return NONE;
  return p < 0.0001 ? "< 0.0001" : p.toFixed(4);
}

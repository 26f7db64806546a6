import { Link } from "react-router-dom";
import type { CellHistory, Series } from "../../api/types";
import { moment } from "../../model/format";
import { alignedRows, compared } from "../../model/units";
import { NumberCells, ScrollTable } from "../../ui/ScrollTable";
import { changeText } from "./history";

const COLUMNS = [
  "first run after the change",
  "recorded, UTC",
  "before",
  "after",
  "change",
  "measured in",
  "compare",
];

/** Show the changes of a history's level, or why there are none. */
export function Changes({
  history: { unit, fewest, method },
  series,
}: {
  history: CellHistory;
  series: (Series & { measured: string })[];
}) {
  const most = Math.max(0, ...series.map(({ runs }) => runs));
  const listed = series.flatMap(({ changes, measured }) => changes.map((change) => ({ change, measured })));
  const { text } = compared(
    unit,
    listed.flatMap(({ change }) => [change.before.median, change.after.median]),
  );
  if (!listed.length)
    return (
      <p className="sb-line">
        <strong>No change</strong>
        {most < fewest
          ? ` can be detected: that takes ${fewest} comparable runs, and there are ${most}.`
          : ` is detected (${method}).`}
      </p>
    );
  const medians = alignedRows(
    listed.map(({ change }) => [text(change.before.median), text(change.after.median)]),
  );
  return (
    <>
      <ScrollTable label="Changes" columns={COLUMNS}>
        {listed.map(({ change, measured }, index) => (
          <tr key={`${measured} ${change.after.first.run_id}`}>
            <td>{change.after.first.run_id}</td>
            <td className="sb-short">{moment(change.after.first.at)}</td>
            <NumberCells of={medians[index]} />
            <td className="sb-short">{changeText(change, unit)}</td>
            <td>{measured}</td>
            <td>
              <Link to={comparing(change.before.last.run_id, change.after.first.run_id)}>both sides</Link>
            </td>
          </tr>
        ))}
      </ScrollTable>
      <p className="sb-note">
        Dotted lines mark changes, broad lines the median of the runs between changes, and dashed lines
        baselines. Method: {method}.
      </p>
    </>
  );
}

const comparing = (before: string, after: string) =>
  `?${new URLSearchParams({ view: "compare", before, after })}`;

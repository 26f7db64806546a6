import type { AttemptCounters } from "../../api/types";
import { COLUMNS, counterRows, NUMBERS, unknownTexts } from "../../model/counters";
import { alignedRows } from "../../model/units";
import { Card } from "../../ui/Card";
import { NumberCells, ScrollTable } from "../../ui/ScrollTable";

/** Show what a store reported about itself right before and right after an attempt's operation. */
export function Counters({ counters }: AttemptCounters) {
  const rows = counterRows(counters);
  const numbers = alignedRows(rows.map((texts) => texts.slice(NUMBERS)));
  return (
    <Card title="Counters">
      {rows.length ? (
        <ScrollTable label="Values of each counter" columns={COLUMNS} dense>
          {rows.map((texts, row) => (
            <tr key={texts[0]}>
              {texts.slice(0, NUMBERS).map((text, column) => (
                <td key={COLUMNS[column]}>{text}</td>
              ))}
              <NumberCells of={numbers[row]} />
            </tr>
          ))}
        </ScrollTable>
      ) : null}
      {unknownTexts(counters).map((text) => (
        <p key={text} className="sb-line">
          {text}
        </p>
      ))}
      <p className="sb-note">
        Read right before and right after the operation, outside the measured time. A counter counts all work
        of the server, also work for others. A gauge is the state of a moment.
      </p>
    </Card>
  );
}

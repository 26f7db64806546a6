import type { AttemptCounters } from "../../api/types";
import { COLUMNS, counterRows, NUMBERS, unknownTexts } from "../../model/counters";
import { Card } from "../../ui/Card";
import { TextTable } from "../../ui/ScrollTable";

/** Show what a store reported about itself right before and right after an attempt's operation. */
export function Counters({ counters }: AttemptCounters) {
  const rows = counterRows(counters);
  return (
    <Card title="Counters">
      {rows.length ? (
        <TextTable label="Values of each counter" columns={COLUMNS} numbersFrom={NUMBERS} rows={rows} />
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

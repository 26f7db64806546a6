import type { Attempt, PodUsage } from "../../api/types";
import { COLUMNS, NUMBERS, partRows, partsOf, partsText } from "../../model/parts";
import { alignedRows } from "../../model/units";
import { Card } from "../../ui/Card";
import { NumberCells, ScrollTable } from "../../ui/ScrollTable";

/** Show the pods that did an attempt's operation together. */
export function Parts({ attempt, pods }: { attempt: Attempt; pods: PodUsage[] }) {
  const parts = partsOf(pods);
  const rows = partRows(parts);
  const numbers = alignedRows(rows.map((texts) => texts.slice(NUMBERS)));
  return (
    <Card title="Parts">
      <p className="sb-line">{partsText(attempt, parts)}</p>
      <ScrollTable label="Figures of each part" columns={COLUMNS} dense>
        {parts.map(({ part, client_bound }, row) => (
          <tr key={part} className={client_bound ? "sb-client-bound" : undefined}>
            {rows[row]?.slice(0, NUMBERS).map((text, column) => (
              <td key={COLUMNS[column]}>{text}</td>
            ))}
            <NumberCells of={numbers[row]} />
          </tr>
        ))}
      </ScrollTable>
      <p className="sb-note">
        The start delay is relative to the common begin; the leader's is not recorded. Waited at the end: from
        the end of the part to the end of the last part. The leader's memory and CPU are the attempt's own.
      </p>
    </Card>
  );
}

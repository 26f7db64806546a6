import type { Attempt, PodUsage } from "../../api/types";
import { COLUMNS, NUMBERS, partRows, partsOf, partsText } from "../../model/parts";
import { Card } from "../../ui/Card";
import { TextTable } from "../../ui/ScrollTable";

/** Show the pods that did an attempt's operation together. */
export function Parts({ attempt, pods }: { attempt: Attempt; pods: PodUsage[] }) {
  const parts = partsOf(pods);
  return (
    <Card title="Parts">
      <p className="sb-line">{partsText(attempt, parts)}</p>
      <TextTable
        label="Figures of each part"
        columns={COLUMNS}
        numbersFrom={NUMBERS}
        rows={partRows(parts)}
        classOf={(row) => (parts[row]?.client_bound ? "sb-client-bound" : undefined)}
      />
      <p className="sb-note">
        The start delay is relative to the common begin; the leader's is not recorded. Waited at the end: from
        the end of the part to the end of the last part. The leader's memory and CPU are the attempt's own.
      </p>
    </Card>
  );
}

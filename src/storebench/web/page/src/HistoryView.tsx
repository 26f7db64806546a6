import { useCallback, useMemo } from "react";
import { address, all, get, useLoaded } from "./api";
import { Chart } from "./Chart";
import { historySpec, type Theme } from "./charts";
import type { HistoryRow } from "./figures";
import { moment, remark, soundness } from "./format";
import { Ready } from "./States";
import type { Attempt, Operation } from "./types";

/** Of one cell's attempts, the newest. */
const MOST = 5000;

interface Props {
  cell: string | undefined;
  operation: Operation;
  choose: (changes: Record<string, string>) => void;
}

/** One cell's operation over time, in all runs. */
export function HistoryView({ cell, operation, choose }: Props) {
  const keys = useLoaded(
    (signal) => get<string[]>(address("cell-keys", { limit: 500 }), signal),
    "cell keys",
  );
  return (
    <>
      <div className="sb-fields">
        <label className="sb-field">
          Cell
          <input
            list="sb-cells"
            className="sb-long"
            defaultValue={cell ?? ""}
            key={cell}
            onChange={(event) => {
              const typed = event.target.value;
              if (keys.data?.includes(typed)) choose({ cell: typed });
            }}
            placeholder="type a part of its key"
          />
        </label>
        <datalist id="sb-cells">
          {keys.data?.map((key) => (
            <option key={key} value={key} />
          ))}
        </datalist>
        <label className="sb-field">
          Operation
          <select value={operation} onChange={(event) => choose({ operation: event.target.value })}>
            <option>write</option>
            <option>read</option>
          </select>
        </label>
      </div>
      {cell ? (
        <History cell={cell} operation={operation} />
      ) : (
        <p className="sb-state">Choose a cell to see all that was ever measured of it.</p>
      )}
    </>
  );
}

function History({ cell, operation }: { cell: string; operation: Operation }) {
  const loaded = useLoaded(
    (signal) => all<Attempt>("attempts", { cell, operation, limit: 500 }, signal, MOST),
    `history ${cell} ${operation}`,
  );
  const empty = (
    <p className="sb-state">
      <strong>No attempts</strong> of this cell's {operation}.
    </p>
  );
  return (
    <Ready of={loaded} empty={empty}>
      {(attempts) => <HistoryChart attempts={attempts} cell={cell} operation={operation} />}
    </Ready>
  );
}

function HistoryChart({
  attempts,
  cell,
  operation,
}: {
  attempts: Attempt[];
  cell: string;
  operation: Operation;
}) {
  const rows: (HistoryRow & Record<string, unknown>)[] = useMemo(
    () =>
      attempts
        .filter((attempt) => !attempt.warm_up)
        .map((attempt) => ({
          recorded_at: attempt.recorded_at,
          recorded: moment(attempt.recorded_at),
          seconds: attempt.only_s,
          at: attempt.only_s ?? 0,
          environment: attempt.environment_hash?.slice(0, 8) ?? "unknown",
          state: soundness(attempt),
          remark: remark(attempt),
          run: attempt.run,
        }))
        .reverse(),
    [attempts],
  );
  const title = `${operation === "write" ? "Write" : "Read"}-only time of ${cell}`;
  const description = `${title}: ${rows.length} attempts over time, seconds; a colour for each environment.`;
  const spec = useCallback(
    (width: number, theme: Theme) => historySpec(rows, description, width, theme),
    [rows, description],
  );
  return (
    <>
      <Chart
        title={title}
        source="all runs"
        name={`history-${operation}`}
        description={description}
        spec={spec}
        rows={rows.map(({ at, recorded, ...row }) => row)}
      />
      <p className="sb-note">
        A cross has failed, and is at 0 if it has no time; a triangle was bound by its client; a diamond was
        disturbed, and its time compares with nothing. Warm-ups are left out.
      </p>
      {attempts.length === MOST ? (
        <p className="sb-note">Only the newest {MOST.toLocaleString("en")} attempts are shown.</p>
      ) : null}
    </>
  );
}

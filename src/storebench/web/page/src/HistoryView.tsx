import { useCallback, useMemo } from "react";
import { address, all, get, useLoaded } from "./api";
import { Chart } from "./Chart";
import { historySpec } from "./charts";
import { type Choice, hiddenOf } from "./choice";
import type { HistoryRow } from "./figures";
import { moment, remark, soundness } from "./format";
import { colourOf, type Theme } from "./frame";
import { Legend } from "./Legend";
import { Ready } from "./States";
import type { Attempt, Operation } from "./types";

/** Of one cell's attempts, the newest. */
const MOST = 5000;

interface Props {
  cell: string | undefined;
  operation: Operation;
  choice: Choice;
}

/** One cell's operation over time, in all runs. */
export function HistoryView({ cell, operation, choice }: Props) {
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
              if (keys.data?.includes(typed)) choice.choose({ cell: typed });
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
          <select value={operation} onChange={(event) => choice.choose({ operation: event.target.value })}>
            <option>write</option>
            <option>read</option>
          </select>
        </label>
      </div>
      {cell ? (
        <History cell={cell} operation={operation} choice={choice} />
      ) : (
        <p className="sb-state">Choose a cell to see all that was ever measured of it.</p>
      )}
    </>
  );
}

interface Of {
  cell: string;
  operation: Operation;
  choice: Choice;
}

function History({ cell, operation, choice }: Of) {
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
      {(attempts) => <HistoryChart attempts={attempts} {...{ cell, operation, choice }} />}
    </Ready>
  );
}

/** One cell's attempts; a superseded one is there, and marked. */
export function HistoryChart({ attempts, cell, operation, choice }: Of & { attempts: Attempt[] }) {
  const { asked } = choice;
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
          cell_key: attempt.cell_key,
          rows: attempt.rows,
          seed: attempt.seed,
        }))
        .reverse(),
    [attempts],
  );
  const environments = useMemo(() => [...new Set(rows.map((row) => row.environment))], [rows]);
  const shown = useMemo(() => {
    const hidden = hiddenOf(asked, "environment");
    return rows.filter((row) => !hidden.has(row.environment));
  }, [rows, asked]);
  const title = `${operation === "write" ? "Write" : "Read"}-only time of ${cell}`;
  const description = `${title}: ${shown.length} attempts over time, seconds; a colour for each environment.`;
  const spec = useCallback(
    (width: number, theme: Theme, picture: boolean) =>
      historySpec(shown, environments, description, width, theme, picture),
    [shown, environments, description],
  );
  return (
    <>
      <Chart
        title={title}
        source="all runs"
        name={`history-${operation}`}
        description={description}
        legend={
          <Legend
            title="environment"
            kind="environment"
            entries={environments.map((name, place) => ({
              name,
              label: name,
              colour: (theme) => colourOf(theme, place),
            }))}
            choice={choice}
          />
        }
        spec={spec}
        rows={shown.map(({ at, recorded, ...row }) => row)}
      />
      <p className="sb-note">
        A cross has failed, a dash was not run; without a time they are at 0. A triangle was bound by its
        client; a diamond was disturbed, and its time compares with nothing; a square was superseded by a
        later try, and counts nowhere. Warm-ups are left out.
      </p>
      {attempts.length === MOST ? (
        <p className="sb-note">Only the newest {MOST.toLocaleString("en")} attempts are shown.</p>
      ) : null}
    </>
  );
}

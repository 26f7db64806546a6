import { useRef } from "react";
import { isOver, phaseOf, type Task, taskLink, tasksOf } from "./airflow";
import { address, all, get, useLoaded } from "./api";
import { Exports } from "./Chart";
import { tableSpec } from "./charts";
import { SIGNS } from "./figures";
import { cellLabel, datasetSuffix, duration, rate, seconds } from "./format";
import { operationsOfTurns, type Square, type State, secondsLeft, square } from "./matrix";
import { RunLine } from "./Runs";
import { ScrollTable } from "./ScrollTable";
import { Ready } from "./States";
import type { Attempt, Operation, Run, Turn } from "./types";

const EVERY_MS = 5000;
/** The states in the order of a run's life, with their signs. */
const STATES: Record<State, string> = {
  queued: "…",
  running: "▶",
  verified: SIGNS.verified,
  "client-bound": SIGNS["client-bound"],
  disturbed: SIGNS.disturbed,
  failed: SIGNS.failed,
  stopped: SIGNS.stopped,
  "not run": SIGNS["not run"],
  "left out": "–",
};

export interface Live {
  run: Run;
  turns: Turn[];
  /** All tries, oldest first. */
  attempts: Attempt[];
  squares: Map<string, Square>;
  /** It ended in Airflow, and nothing was there to write that down. */
  broken: boolean;
}

const place = (of: { cell_key: string; repeat: number }, operation: Operation) =>
  `${of.cell_key}\n${of.repeat}\n${operation}`;
export const runKey = (name: string) => `run ${name}`;
const done = (run: Run) => run.verified + run.failed + run.not_run;

/** The run as it is now. Attempts are only ever added: those that came after `before` are asked for. */
export async function loadRun(name: string, before?: Live, signal?: AbortSignal): Promise<Live> {
  const run = await get<Run>(address("run", { run: name }), signal);
  const known = before?.run.id === run.id ? before : undefined;
  const query = {
    run: run.id,
    sort: "recorded_at",
    descending: false,
    limit: 500,
    offset: known?.attempts.length ?? 0,
  };
  const going = run.state === "running";
  const [turns, added, tasks, broken] = await Promise.all([
    known?.turns ?? all<Turn>("turns", { run: run.id, limit: 500 }, signal),
    all<Attempt>("attempts", query, signal),
    going
      ? tasksOf(run.dag_id, run.airflow_run_id, signal).catch(() => new Map<string, Task>())
      : new Map<string, Task>(),
    going && isOver(run.dag_id, run.airflow_run_id, signal),
  ]);
  const attempts = [...(known?.attempts ?? []), ...added];
  const newest = new Map(attempts.map((attempt) => [place(attempt, attempt.operation), attempt] as const));
  const squares = new Map<string, Square>();
  const operations = operationsOfTurns(turns);
  for (const turn of turns) {
    for (const operation of operations) {
      const task = tasks.get(`${turn.task_group}.${operation} ${turn.map_index}`);
      const found = square(turn, operation, newest.get(place(turn, operation)), task, !going || broken);
      if (found.state === "running" && task)
        found.detail = await phaseOf(run.dag_id, run.airflow_run_id, task, signal).catch(() => null);
      squares.set(place(turn, operation), found);
    }
  }
  return { run, turns, attempts, squares, broken };
}

/** The grid of a run as it fills: a line for each turn, a square for each operation. */
export function RunView({ run: name }: { run: string }) {
  const before = useRef<Live>(undefined);
  const loaded = useLoaded(
    async (signal) => {
      before.current = await loadRun(name, before.current, signal);
      return before.current;
    },
    runKey(name),
    EVERY_MS,
  );
  return <Ready of={loaded}>{(live) => <Grid live={live} />}</Ready>;
}

/** A run and its squares. */
export function Grid({ live: { run, turns, squares, broken } }: { live: Live }) {
  if (run.state === "refused") return <RunLine run={run} />;
  const left =
    run.state === "running" && !broken
      ? secondsLeft(done(run), run.planned, (Date.now() - Date.parse(run.started_at)) / 1000, run.expected_s)
      : null;
  const operations = operationsOfTurns(turns);
  const suffix = datasetSuffix(turns);
  const label = (turn: Turn) => cellLabel(turn) + suffix(turn);
  const rows = turns.flatMap((turn) =>
    operations.map((operation) => {
      const found = squares.get(place(turn, operation)) as Square;
      return {
        run: run.id,
        cell: turn.cell_key,
        rows: turn.rows,
        seed: turn.seed,
        repeat: turn.repeat,
        operation,
        state: found.state,
        detail: found.detail,
        only_s: found.attempt?.only_s ?? null,
        rows_per_s: found.attempt?.rows_per_s ?? null,
      };
    }),
  );
  const shown = turns.map((turn) => ({
    cell: label(turn),
    repeat: repeatLabel(turn),
    ...Object.fromEntries(
      operations.map((operation) => [operation, squareText(squares.get(place(turn, operation)) as Square)]),
    ),
  }));
  return (
    <>
      <RunLine run={run} />
      {run.reason ? (
        <p className="sb-state sb-problem">
          <strong>This run ended before it had done all.</strong> {run.reason}
        </p>
      ) : null}
      {broken ? (
        <p className="sb-state sb-problem">
          <strong>This run has ended in Airflow</strong> before it was through: it was marked so, or deleted.
          A run with the same parameters and <code>skip_done</code> does what it has left.
        </p>
      ) : null}
      <div className="sb-progress">
        <progress max={run.planned || 1} value={done(run)} aria-label="Operations done" />{" "}
        {left === null ? "" : `about ${duration(left)} left`}
        <Exports
          name="run"
          title="the run"
          source={run.id}
          rows={rows}
          spec={(_, theme) => tableSpec(shown, theme)}
        />
      </div>
      <p className="sb-legend">
        {Object.entries(STATES).map(([state, sign]) => (
          <span key={state} className={`sb-square sb-${state.replace(" ", "-")}`}>
            <span aria-hidden="true">{sign}</span> {state}
          </span>
        ))}
      </p>
      <ScrollTable label="The run's cells" columns={["cell", "repeat", ...operations]} className="sb-grid">
        {turns.map((turn) => (
          <tr key={`${turn.cell_key} ${turn.repeat}`}>
            <th scope="row">{label(turn)}</th>
            <td>{repeatLabel(turn)}</td>
            {operations.map((operation) => (
              <SquareCell
                key={operation}
                run={run}
                turn={turn}
                operation={operation}
                of={squares.get(place(turn, operation)) as Square}
              />
            ))}
          </tr>
        ))}
      </ScrollTable>
    </>
  );
}

function repeatLabel(turn: Turn): string {
  return turn.warm_up ? "warm-up" : `${turn.repeat}${turn.arm ? ` ${turn.arm}` : ""}`;
}

/** The states of which a square says why. */
const WITH_REASON = new Set<State>(["disturbed", "failed", "stopped", "not run"]);

/** What stands in a square: its sign, and the seconds, the phase or the state. */
function squareText(of: Square): string {
  const figure =
    of.attempt?.status === "verified"
      ? [seconds(of.attempt.only_s), ...(of.attempt.rows_per_s ? [rate(of.attempt.rows_per_s)] : [])].join(
          " · ",
        )
      : of.state;
  const text = of.state === "running" && of.detail ? `running: ${of.detail.replaceAll("_", " ")}` : figure;
  const marked = of.state === "client-bound" || of.state === "disturbed";
  return `${STATES[of.state]} ${text}${marked ? ` (${of.state})` : ""}`;
}

function SquareCell({
  run,
  turn,
  operation,
  of,
}: {
  run: Run;
  turn: Turn;
  operation: Operation;
  of: Square;
}) {
  const content = (
    <>
      {squareText(of)}
      {WITH_REASON.has(of.state) ? <span className="sb-reason">{of.detail}</span> : null}
    </>
  );
  return (
    <td className={`sb-square sb-${of.state.replace(" ", "-")}`} title={of.detail ?? undefined}>
      {turn.map_index === null || of.state === "left out" || of.state === "not run" ? (
        <span>{content}</span>
      ) : (
        <a href={taskLink(run.dag_id, run.airflow_run_id, operation, turn)}>{content}</a>
      )}
    </td>
  );
}

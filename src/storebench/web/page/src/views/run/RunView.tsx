import { memo, useRef } from "react";
import { type Heard, phaseOf, type Task, taskLink, tasksOf } from "../../api/airflow";
import { all, get } from "../../api/api";
import { useLoaded } from "../../api/loading";
import { studyNamed } from "../../api/study";
import type { Attempt, Run, Study, Turn } from "../../api/types";
import { tableSpec } from "../../charts/charts";
import { Exports } from "../../charts/Exports";
import { columns, datasetsText, labels, namesOf } from "../../model/cells";
import { type Choice, isShown } from "../../model/choice";
import { estimateText, isBroken, SIGNS } from "../../model/format";
import { type Square, type State, secondsLeft, square } from "../../model/matrix";
import { originColumns, originOf, sourceOf } from "../../model/provenance";
import { sqlOf } from "../../model/sql";
import { metricsByRank, operationsOf, resultText } from "../../model/study";
import { Filters } from "../../ui/Controls";
import { Common } from "../../ui/Provenance";
import { ScrollTable } from "../../ui/ScrollTable";
import { Ready } from "../../ui/States";
import { type Failure, Failures } from "./Failures";
import { LiveCharts } from "./LiveChart";
import { RunActions } from "./RunActions";
import { ended, RunLine, took } from "./Runs";

const EVERY_MS = 5000;
/** The states in the order of a run's life, with their signs. */
const STATES: Record<State, string> = {
  queued: "…",
  running: "▶",
  verified: SIGNS.verified,
  "client-bound": SIGNS["client-bound"],
  "service-bound": SIGNS["service-bound"],
  disturbed: SIGNS.disturbed,
  failed: SIGNS.failed,
  stopped: SIGNS.stopped,
  "not run": SIGNS["not run"],
  excluded: "–",
};

export interface Live {
  run: Run;
  study: Study;
  turns: Turn[];
  /** All tries, oldest first. */
  attempts: Attempt[];
  squares: Map<string, Square>;
}

/** A run that the page reloads periodically. */
interface Followed extends Live {
  /** The phases in the logs of the running tasks so far. */
  heard: Map<string, Heard>;
}

const place = (of: { cell_key: string; repeat: number }, operation: string) =>
  `${of.cell_key}\n${of.repeat}\n${operation}`;
export const runKey = (name: string) => `run ${name}`;

/** Return the DAG in a run's ID; other names, such as `latest`, have no DAG. */
const dagIn = (name: string) => /^([\w.~-]+)\//.exec(name)?.[1];

/**
 * Load a run, or complete the run `told`. Attempts and lines of logs are only ever added: requests continue after `before`.
 *
 * The first time, all requests run in parallel if the name contains the DAG. Otherwise the run's request comes first, so that the run is
 * never newer than its attempts.
 */
export async function loadRun(
  name: string,
  before?: Followed,
  signal?: AbortSignal,
  given?: Run,
): Promise<Followed> {
  const asking = given ? Promise.resolve(given) : get("/api/run", { run: name }, signal);
  const dag = before || given ? undefined : dagIn(name);
  const studying = dag ? studyNamed(dag, signal) : undefined;
  const id = dag ? name : (await asking).id;
  const known = before?.run.id === id ? before : undefined;
  const query = {
    run: id,
    sort: "recorded_at",
    descending: false,
    limit: 500,
    offset: known?.attempts.length ?? 0,
  };
  const studyOf = async (run: Run) => {
    if (known?.turns.length) return known.study;
    return studying && run.study === dag ? studying : studyNamed(run.study, signal);
  };
  const tasksNow = async (run: Run) =>
    run.state === "running"
      ? tasksOf(run.dag_id, run.airflow_run_id, signal).catch(() => new Map<string, Task>())
      : new Map<string, Task>();
  const [run, study, turns, added, tasks] = await Promise.all([
    asking,
    asking.then(studyOf),
    known?.turns ?? all("/api/turns", { run: id, limit: 500 }, signal),
    all("/api/attempts", query, signal),
    asking.then(tasksNow),
    studying,
  ]);
  const attempts = [...(known?.attempts ?? []), ...added];
  const squares = squaresOf(run, study, turns, attempts, tasks);
  const heard = new Map<string, Heard>();
  for (const turn of turns)
    for (const operation of turn.operations) {
      const running = squares.get(place(turn, operation));
      const name = taskOf(turn, operation);
      const task = tasks.get(name);
      if (running?.state !== "running" || !task) continue;
      const log = await phaseOf(run.dag_id, run.airflow_run_id, task, known?.heard.get(name), signal);
      heard.set(name, log);
      running.detail = log.phase;
    }
  return { run, study, turns, attempts, squares, heard };
}

/** Return the name of an operation's task in Airflow, with its map index. */
const taskOf = (turn: Turn, operation: string) => `${turn.task_group}.${operation} ${turn.map_index}`;

/** Return the state of each operation of each turn. `attempts` are sorted from oldest to newest; `tasks` are the tasks that Airflow returned. */
export function squaresOf(
  run: Run,
  study: Study,
  turns: Turn[],
  attempts: Attempt[],
  tasks: Map<string, Task>,
): Map<string, Square> {
  const newest = new Map(attempts.map((attempt) => [place(attempt, attempt.operation), attempt] as const));
  const squares = new Map<string, Square>();
  const [operations, over] = [runOperations(study, turns), run.state !== "running"];
  for (const turn of turns)
    for (const { name, needs } of operations) {
      const needed = needs
        .map((dependency) => squares.get(place(turn, dependency)))
        .filter((square) => square !== undefined);
      const [attempt, task] = [newest.get(place(turn, name)), tasks.get(taskOf(turn, name))];
      squares.set(place(turn, name), square(turn, name, attempt, task, over, needed));
    }
  return squares;
}

/** Return the operations of a run, in the study's order. */
const runOperations = (study: Study, turns: Turn[]) =>
  operationsOf(
    study,
    turns.flatMap((turn) => turn.operations),
  );

/** Show the grid of a run as it fills: a line for each turn, a square for each operation. */
export const RunView = memo(function RunView({ run: name, choice }: { run: string; choice: Choice }) {
  const before = useRef<Followed>(undefined);
  const loaded = useLoaded(
    async (signal) => {
      before.current = await loadRun(name, before.current, signal);
      return before.current;
    },
    runKey(name),
    EVERY_MS,
  );
  return <Ready of={loaded}>{(live) => <Grid live={live} choice={choice} />}</Ready>;
});

interface Shown {
  live: Live;
  choice: Choice;
  /** Whether the run is in a file, which is never updated and has no links to Airflow. */
  written?: boolean;
}

/** Show a run and its squares. */
export function Grid({ live, choice, written = false }: Shown) {
  const { run, study, squares } = live;
  if (run.state === "refused") return <RunLine run={run} />;
  const isLive = run.state === "running" && !written;
  const remaining = isLive
    ? [run.expected_s, run.expected_most_s ?? run.expected_s]
        .map((expected_s) => secondsLeft(ended(run), run.planned, took(run), expected_s))
        .filter((seconds) => seconds !== null)
    : [];
  const operations = runOperations(study, live.turns).map((operation) => operation.name);
  const names = namesOf(study, live.turns);
  const turns = live.turns.filter(isShown(choice.asked, names));
  const servers = serversByCell(live.attempts);
  const serversOf = ({ cell_key }: Turn) => [...(servers.get(cell_key) ?? [])];
  const label = labels(study, live.turns, serversOf);
  const { second } = metricsByRank(study, live.attempts);
  const table = turns.flatMap((turn) =>
    operations.map((operation) => {
      const outcome = squares.get(place(turn, operation)) as Square;
      const { attempt } = outcome;
      return {
        run: run.id,
        cell: turn.cell_key,
        store: turn.store,
        client: turn.client,
        ...columns(study, turn, names),
        repeat: turn.repeat,
        operation,
        state: outcome.state,
        detail: outcome.detail,
        metric: attempt?.metric ?? null,
        value: attempt?.value ?? null,
        unit: attempt?.unit ?? null,
        ...Object.fromEntries(second.map(({ name }) => [name, attempt?.metrics[name] ?? null])),
        ...originColumns(originOf(attempt ? [attempt] : [])),
      };
    }),
  );
  const texts = turns.map((turn) => ({
    cell: label(turn),
    repeat: repeatLabel(turn),
    ...Object.fromEntries(
      operations.map((operation) => [
        operation,
        squareText(study, squares.get(place(turn, operation)) as Square),
      ]),
    ),
  }));
  const linkTo = (turn: Turn, operation: string) =>
    written || turn.map_index === null ? null : taskLink(run.dag_id, run.airflow_run_id, operation, turn);
  const all = live.turns.flatMap((turn) =>
    operations.map((operation) => ({
      turn,
      operation,
      square: squares.get(place(turn, operation)) as Square,
    })),
  );
  const failures = all
    .filter(({ square }) => square.state === "failed")
    .map(
      ({ turn, operation, square }): Failure => ({
        operation,
        cell: label(turn),
        repeat: repeatLabel(turn),
        square,
        link: linkTo(turn, operation),
      }),
    );
  const missing = all.filter(({ square }) => MISSING.has(square.state)).length;
  const states = new Set(all.map(({ square }) => square.state));
  return (
    <>
      <RunLine run={run} />
      <div className="sb-progress">
        <progress max={run.planned || 1} value={ended(run)} aria-label="Operations done" />{" "}
        {remaining.length ? `${estimateText(Math.min(...remaining), Math.max(...remaining))} left` : ""}
        {written ? null : <RunActions run={run} missing={missing} />}
        <Exports
          run={run.id}
          sql={sqlOf({ study, cells: live.turns, runs: [run.id] })}
          name="run"
          title="the run"
          source={sourceOf(run.id, datasetsText(study, live.turns), live.attempts)}
          table={table}
          spec={(_, theme) => tableSpec(texts, theme)}
        />
      </div>
      {isLive ? (
        <Now
          running={all
            .filter(({ square }) => square.state === "running")
            .map(
              ({ turn, operation, square }) =>
                `${operation} of ${label(turn)}, repeat ${repeatLabel(turn)}${phaseText(square)}`,
            )}
        />
      ) : null}
      <Failures failures={failures} />
      {run.reason ? (
        <p className="sb-state sb-problem">
          <strong>This run ended early.</strong> {run.reason}
        </p>
      ) : null}
      {run.to_close ? (
        <p className="sb-state sb-problem">
          A run with the same parameters and <code>skip_done</code> does the remaining operations.
        </p>
      ) : null}
      {written ? null : (
        <LiveCharts
          {...{ study, operations, choice }}
          attempts={live.attempts.filter(isShown(choice.asked, names))}
        />
      )}
      <p className="sb-legend">
        {Object.entries(STATES)
          .filter(([state]) => states.has(state as State))
          .map(([state, sign]) => (
            <span key={state} className={`sb-square sb-${state.replace(" ", "-")}`}>
              <span aria-hidden="true">{sign}</span> {state}
            </span>
          ))}
      </p>
      <div className="sb-fields">
        <Filters study={study} cells={live.turns} choice={choice} />
      </div>
      <Common study={study} cells={live.turns} serversOf={serversOf} />
      <ScrollTable label="The run's cells" columns={["cell", "repeat", ...operations]} className="sb-grid">
        {turns.map((turn) => (
          <tr key={`${turn.cell_key} ${turn.repeat}`}>
            <th scope="row">{label(turn)}</th>
            <td>{repeatLabel(turn)}</td>
            {operations.map((operation) => (
              <SquareCell
                key={operation}
                study={study}
                link={linkTo(turn, operation)}
                of={squares.get(place(turn, operation)) as Square}
              />
            ))}
          </tr>
        ))}
      </ScrollTable>
    </>
  );
}

/** Return the names of the servers that answered, by the key of the cell. */
function serversByCell(attempts: Attempt[]): Map<string, Set<string | null>> {
  const servers = new Map<string, Set<string | null>>();
  for (const { cell_key, server_name } of attempts)
    servers.set(cell_key, (servers.get(cell_key) ?? new Set()).add(server_name));
  return servers;
}

/** The states of operations that a run with `skip_done` measures. */
const MISSING = new Set<State>(["failed", "stopped", "not run", "disturbed"]);

/** Describe the phase of a running operation. */
const phaseText = ({ detail }: Square) => (detail ? `: ${detail.replaceAll("_", " ")}` : "");

/** Show the operations that are measured now, with their phases. */
function Now({ running }: { running: string[] }) {
  return (
    <p className="sb-now">
      <strong>Now:</strong>{" "}
      {running.length ? running.join("; ") : "no operation is running; Airflow prepares the next step"}
    </p>
  );
}

function repeatLabel(turn: Turn): string {
  return turn.warm_up ? "warm-up" : `${turn.repeat}${turn.arm ? ` ${turn.arm}` : ""}`;
}

/** The states that a square shows with a reason. */
const WITH_REASON = new Set<State>(["disturbed", "failed", "stopped", "not run"]);

/** The states that a square shows beside the figure. */
const MARKED = new Set<State>(["client-bound", "service-bound", "disturbed"]);

/** Return a square's text: its sign, and the figure, the phase or the state. */
function squareText(study: Study, of: Square): string {
  const figure = of.attempt?.status === "verified" ? resultText(study, of.attempt) : of.state;
  const text = of.state === "running" && of.detail ? `running: ${of.detail.replaceAll("_", " ")}` : figure;
  const marked = MARKED.has(of.state);
  return `${STATES[of.state]} ${text}${marked ? ` (${of.state})` : ""}`;
}

function SquareCell({ study, link, of }: { study: Study; link: string | null; of: Square }) {
  const content = (
    <>
      {squareText(study, of)}
      {WITH_REASON.has(of.state) ? <span className="sb-reason">{of.detail}</span> : null}
    </>
  );
  return (
    <td
      className={`sb-square sb-${of.state.replace(" ", "-")}${of.attempt && isBroken(of.attempt) ? " sb-broken" : ""}`}
      title={of.detail ?? undefined}
    >
      {link === null || of.state === "excluded" || of.state === "not run" ? (
        <span>{content}</span>
      ) : (
        <a href={link}>{content}</a>
      )}
    </td>
  );
}

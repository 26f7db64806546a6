import { useState } from "react";
import { Link } from "react-router-dom";
import { type ActiveRun, activeRuns, runLink, runsLink, startCell } from "../../api/airflow";
import { get, Problem } from "../../api/api";
import { useLoaded, useSettled } from "../../api/loading";
import type { Grid, GridCell } from "../../api/types";
import { tableSpec } from "../../charts/charts";
import { Exports } from "../../charts/Exports";
import type { Choose } from "../../model/choice";
import { estimateText, moment } from "../../model/format";
import { sqlOfGrid } from "../../model/sql";
import { NONE } from "../../model/units";
import { ParameterFields, type Typed, textOf, typedOf } from "../../ui/Parameters";
import { ScrollTable } from "../../ui/ScrollTable";
import { Ready } from "../../ui/States";
import { NoPermission, OfDag } from "../start/Dags";

const GRID_EVERY_MS = 15_000;
const RUNS_EVERY_MS = 5_000;

interface Props {
  dagId?: string;
  asked: URLSearchParams;
  choose: Choose;
}

/** Show a study's grid and the cells that remain to measure, and start their runs. */
export function BackfillView({ dagId, asked, choose }: Props) {
  return (
    <OfDag {...{ dagId, asked, choose }} clears="params">
      {(dag) => <StudyGrid key={dag} dag={dag} asked={asked} choose={choose} />}
    </OfDag>
  );
}

/** Show the parameters and their grid. The parameters are in the address, so that a link shares them. */
function StudyGrid({ dag, asked, choose }: { dag: string; asked: URLSearchParams; choose: Choose }) {
  const [typed, setTyped] = useState(() => typedOf(asked.get("params")));
  const text = textOf(typed);
  const params = useSettled(text);
  const loaded = useLoaded((signal) => get("/api/parameters", { dag }, signal), `parameters ${dag}`);
  const change = (after: Typed) => {
    setTyped(after);
    choose({ params: textOf(after) }, true);
  };
  return (
    <Ready of={loaded}>
      {(parameters) => (
        <>
          <p className="sb-line">
            Measure cells of the study's grid that have no verified result with these parameters.
          </p>
          <section className="sb-step" aria-labelledby="sb-how-much">
            <h3 id="sb-how-much">1. How much</h3>
            <ParameterFields parameters={parameters} typed={typed} change={change} />
          </section>
          <GridOf dag={dag} params={params} settled={params === text} />
        </>
      )}
    </Ready>
  );
}

/** Show the grid of these parameters. `settled`: the parameters equal the fields' current values. */
function GridOf({ dag, params, settled }: { dag: string; params: string; settled: boolean }) {
  const loaded = useLoaded(
    (signal) => get("/api/grid", { dag, params: params || undefined }, signal),
    `grid ${dag} ${params}`,
    GRID_EVERY_MS,
  );
  const runs = useLoaded((signal) => activeRuns(dag, signal), `active ${dag}`, RUNS_EVERY_MS);
  // the chosen cells stay chosen while the grid of other parameters loads
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  return (
    <Ready of={loaded}>
      {(grid) => <Cells dag={dag} grid={grid} runs={runs.data ?? []} {...{ settled, chosen, setChosen }} />}
    </Ready>
  );
}

/** Show the cells, start the runs of chosen cells, and show the result of the start. */
export function Cells({
  dag,
  grid,
  runs,
  settled,
  chosen,
  setChosen,
}: {
  dag: string;
  grid: Grid;
  runs: ActiveRun[];
  settled: boolean;
  chosen: ReadonlySet<string>;
  setChosen: (keys: ReadonlySet<string>) => void;
}) {
  const [sending, setSending] = useState(false);
  const [sent, setSent] = useState<Sent>();
  const underWay = new Map(
    runs.filter(({ conf }) => measures(conf, grid.conf)).map((run) => [run.partition_key, run]),
  );
  const open = grid.cells.filter((cell) => cell.operations > 0);
  const isChosen = ({ key }: GridCell) => chosen.has(key);
  const waiting = open.filter(({ key }) => !underWay.has(key));
  const picked = open.filter(isChosen);
  const toggle = ({ key }: GridCell) => {
    const keys = new Set(picked.map((cell) => cell.key));
    if (!keys.delete(key)) keys.add(key);
    setChosen(keys);
  };
  const start = async () => {
    setSending(true);
    const outcome = await startAll(dag, picked, grid.conf);
    setSent(outcome);
    setChosen(new Set(picked.slice(outcome.started).map((cell) => cell.key)));
    setSending(false);
  };
  return (
    <>
      <section className="sb-step" aria-labelledby="sb-cells">
        <h3 id="sb-cells">2. Cells</h3>
        <div className="sb-line">
          <button
            type="button"
            disabled={!waiting.length}
            onClick={() => setChosen(new Set(waiting.map((cell) => cell.key)))}
          >
            choose all missing cells
          </button>
          <button type="button" disabled={!picked.length} onClick={() => setChosen(new Set())}>
            choose none
          </button>
          <GridExports dag={dag} grid={grid} />
        </div>
        <CellTable {...{ dag, cells: grid.cells, underWay, isChosen, toggle, sent }} />
        <details className="sb-note">
          <summary>How the runs go</summary>
          Each cell becomes a separate run, and runs execute one after the other. Airflow's own Backfill
          dialog takes a range of these dates. There, choose <strong>All Runs</strong>, and tick{" "}
          <strong>Override parameters on existing runs</strong>: otherwise the dialog ignores its form.
        </details>
      </section>
      <section className="sb-step sb-go" aria-labelledby="sb-go">
        <h3 id="sb-go">3. Go</h3>
        {grid.may_start ? null : <NoPermission />}
        {sent ? <Outcome dag={dag} sent={sent} /> : null}
        <div className="sb-go-line">
          <div className="sb-state sb-go-status">{amountText(grid.cells, open, picked)}</div>
          <button
            type="button"
            className="sb-start"
            disabled={!grid.may_start || !settled || sending || picked.length === 0}
            onClick={start}
          >
            {sending ? "Starting …" : `Start ${count(picked.length, "cell")}`}
          </button>
        </div>
      </section>
    </>
  );
}

/** Show a line for each cell. Parts of names and figures that all cells share fold into a sentence. */
function CellTable({
  dag,
  cells,
  underWay,
  isChosen,
  toggle,
  sent,
}: {
  dag: string;
  cells: GridCell[];
  /** The queued and running runs by the key of their cell. */
  underWay: Map<string | null, ActiveRun>;
  isChosen: (cell: GridCell) => boolean;
  toggle: (cell: GridCell) => void;
  sent: Sent | undefined;
}) {
  const shared = sharedParts(cells);
  const figures = ["operations", "time"].map((title, column) => ({
    title,
    texts: cells.map((cell) => figureTexts(cell)[column] as string),
  }));
  const isEqual = ({ texts }: { texts: string[] }) => texts.length > 1 && new Set(texts).size === 1;
  const shown = figures.filter((figure) => !isEqual(figure));
  const equal = [
    ...(shared.length ? [shared.join(" ")] : []),
    ...figures.filter(isEqual).map(({ title, texts }) => `${title} ${texts[0]}`),
  ];
  return (
    <>
      {equal.length ? <p className="sb-note">Equal in all cells: {equal.join(" · ")}</p> : null}
      <ScrollTable
        label="The grid's cells"
        columns={["measure", "cell", "date, UTC", "state", ...shown.map(({ title }) => title)]}
        className="sb-grid"
      >
        {cells.map((cell, line) => (
          <tr key={cell.key}>
            <td>
              <input
                type="checkbox"
                aria-label={`Measure ${label(cell)}`}
                disabled={cell.operations === 0}
                checked={cell.operations > 0 && isChosen(cell)}
                onChange={() => toggle(cell)}
              />
            </td>
            <th scope="row">
              {partsOf(cell)
                .filter((part) => !shared.includes(part))
                .join(" ")}
            </th>
            <td className="sb-short">{dateText(cell)}</td>
            <td className={`sb-square sb-${cell.refused ? "not-run" : cell.state.split(" ")[0]}`}>
              <State dag={dag} cell={cell} run={underWay.get(cell.key)} />
              {sent?.problem && sent.refused === cell.key ? (
                <span className="sb-reason" role="alert">
                  {sent.problem.message}
                </span>
              ) : null}
            </td>
            {shown.map(({ title, texts }) => (
              <td key={title} className="sb-number">
                {texts[line]}
              </td>
            ))}
          </tr>
        ))}
      </ScrollTable>
    </>
  );
}

/** Return the store, the client and the values on the axes in a cell's key. */
const partsOf = ({ key }: GridCell) => key.split("/");

/** Return the parts of their keys that all of several cells share. */
function sharedParts(cells: GridCell[]): string[] {
  const [first, ...others] = cells.map(partsOf);
  return others.length && first ? first.filter((part) => others.every((parts) => parts.includes(part))) : [];
}

/** Return the number of operations to measure, and their estimated time. */
const figureTexts = ({ operations, expected_s, expected_most_s }: GridCell): string[] =>
  operations ? [String(operations), estimateText(expected_s, expected_most_s)] : [NONE, NONE];

const dateText = ({ date }: GridCell) => new Date(date).toISOString().slice(0, 19);

/** Show the exports of the grid, whose source is a study with parameters instead of a run. */
function GridExports({ dag, grid }: { dag: string; grid: Grid }) {
  const measured = Object.entries(grid.conf).filter(([name]) => name !== "skip_done");
  const at = moment(new Date().toISOString());
  return (
    <Exports
      title="the grid"
      source={[dag, measured.map((pair) => pair.join(" ")).join(", "), `as of ${at} UTC`].join(" · ")}
      run={dag}
      name="grid"
      sql={sqlOfGrid(dag, grid.conf)}
      table={grid.cells.map((cell) => ({ study: dag, ...cell, ...Object.fromEntries(measured) }))}
      spec={(_, theme) =>
        tableSpec(
          grid.cells.map((cell) => ({
            cell: label(cell),
            "date, UTC": dateText(cell),
            state: cell.state,
            operations: figureTexts(cell)[0] as string,
            time: figureTexts(cell)[1] as string,
          })),
          theme,
        )
      }
    />
  );
}

function State({ dag, cell, run }: { dag: string; cell: GridCell; run: ActiveRun | undefined }) {
  return (
    <>
      {cell.state}
      {run ? (
        <>
          , <a href={runLink(dag, run.dag_run_id)}>{run.state}</a>
        </>
      ) : cell.refused ? (
        <>
          , refused <span className="sb-reason">{cell.refused}</span>
        </>
      ) : null}
    </>
  );
}

/** The result of a start: the number of started runs, and the problem that prevented further runs. */
interface Sent {
  started: number;
  problem?: Problem;
  /** The key of the cell whose run Airflow did not start. */
  refused?: string;
}

/** Start a run of each of these cells in order, until Airflow refuses a run. */
async function startAll(dag: string, cells: GridCell[], conf: Grid["conf"]): Promise<Sent> {
  let started = 0;
  try {
    for (const { key } of cells) {
      await startCell(dag, key, conf);
      started += 1;
    }
  } catch (error) {
    const problem = error instanceof Problem ? error : new Problem(0, String(error));
    return { started, problem, refused: cells[started]?.key };
  }
  return { started };
}

function Outcome({ dag, sent: { started, problem } }: { dag: string; sent: Sent }) {
  return (
    <>
      {problem?.status === 403 ? <NoPermission /> : null}
      {problem && problem.status !== 403 ? (
        <p className="sb-state sb-problem" role="alert">
          <strong>Airflow did not start the other cells.</strong> The first of these cells shows the reason.
          The cells are still chosen.
        </p>
      ) : null}
      {started ? (
        <p className="sb-state" role="status">
          <strong>{count(started, "run")} started.</strong> Follow each run under{" "}
          <Link to="?view=run">Run</Link>. <a href={runsLink(dag)}>Airflow lists the runs</a>, too.
        </p>
      ) : null}
    </>
  );
}

const count = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`;
const label = (cell: GridCell) => partsOf(cell).join(" ");

/** Describe the number of cells to measure, and the amount of work of the chosen cells. */
function amountText(all: GridCell[], open: GridCell[], picked: GridCell[]): string {
  if (!open.length) {
    const verified = all.length === 1 ? "The cell is verified" : `All ${all.length} cells are verified`;
    return `${verified}. For more measurements, increase the repeats, or choose another dataset.`;
  }
  return `${open.length} of ${all.length} cells are to be measured. ${chosenText(picked)}`;
}

function chosenText(cells: GridCell[]): string {
  const sum = (of: (cell: GridCell) => number) => cells.reduce((before, cell) => before + of(cell), 0);
  const unknown = sum((cell) => cell.unknown);
  const guess = unknown ? ` For ${unknown} of them, which are like none before, the time is a guess.` : "";
  return cells.length
    ? `Chosen: ${count(cells.length, "cell")} with ${count(
        sum((cell) => cell.operations),
        "operation",
      )}, ${estimateText(
        sum((cell) => cell.expected_s),
        sum((cell) => cell.expected_most_s),
      )}.${guess}`
    : "None is chosen.";
}

/** Return whether a run with `conf` measures what `wanted` asks for. A parameter that `conf` lacks has its default. */
function measures(conf: Record<string, unknown> | null, wanted: Grid["conf"]): boolean {
  return Object.entries(wanted).every(([name, value]) => String(conf?.[name] ?? value) === String(value));
}

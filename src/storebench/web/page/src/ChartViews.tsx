import { useCallback, useMemo, useState } from "react";
import type { Loaded } from "./api";
import { Chart } from "./Chart";
import { ScaleMenu, Stores } from "./Controls";
import { phaseColour, phasesOf, phasesSpec } from "./charts";
import { type Asked, type Choice, hiddenOf, ordered, scaleOf } from "./choice";
import {
  batchesOf,
  chartData,
  chartRows,
  chartTitle,
  type Figures,
  METRICS,
  type Metric,
  mixed,
} from "./figures";
import {
  batchLabel,
  byCell,
  cellLabel,
  datasetsText,
  heading,
  operationsOf,
  remark,
  soundness,
} from "./format";
import { colourOf, type Theme } from "./frame";
import { Legend } from "./Legend";
import { medianSpec } from "./medians";
import { Ready } from "./States";
import type { CellFigures, CellName, CellPhases, Operation } from "./types";

const NONE = (
  <p className="sb-state">
    <strong>No attempts yet.</strong> The charts fill as the run goes on.
  </p>
);

/** A choice for a page without an address. */
export function useOwnChoice(): Choice {
  const [asked, setAsked] = useState(new URLSearchParams());
  const choose = useCallback(
    (changes: Record<string, string>) =>
      setAsked((before) => new URLSearchParams({ ...Object.fromEntries(before), ...changes })),
    [],
  );
  return { asked, choose };
}

const storesOf = (cells: CellName[]) => [...new Set(cells.map((cell) => cell.store))].sort();

/** The operations that these cells have. */
function operations(cells: { cell_key: string; operation: Operation }[]): Operation[] {
  const lists = new Map<string, Operation[]>();
  for (const { cell_key, operation } of cells)
    lists.set(cell_key, [...(lists.get(cell_key) ?? []), operation]);
  return operationsOf([...lists.values()]);
}

/** In the order of the stores that was chosen. */
function inOrder<T extends CellName>(cells: T[], asked: Asked): T[] {
  const stores = ordered(asked, storesOf(cells));
  return [...cells].sort(
    (one, other) => stores.indexOf(one.store) - stores.indexOf(other.store) || byCell(one, other),
  );
}

/** The study's charts: times, rows a second, and memory, of clients and of engines apart. */
export function Charts({ of, choice }: { of: Loaded<CellFigures[]>; choice: Choice }) {
  return (
    <Ready of={of} empty={NONE}>
      {(cells) => (
        <>
          <p className="sb-line">{datasetsText(cells)}</p>
          <Unsound cells={cells} />
          <div className="sb-fields">
            <ScaleMenu choice={choice} />
            <Stores stores={storesOf(cells)} choice={choice} />
          </div>
          <MetricCharts cells={cells} metrics={METRICS} choice={choice} />
          <p className="sb-note">
            Bars: medians of verified attempts that were not disturbed. Lines: their confidence intervals (95
            % or more), from 6 repeats on. Marks: every attempt; a triangle was bound by its client, a diamond
            was disturbed and is in no median, a cross has failed, a dash was not run; without a figure they
            are at the beginning of the axis. On a logarithmic scale there is no zero for a bar to begin at:
            medians are dots. Relative to the best, bars begin at the best of those shown. Warm-ups are left
            out.
          </p>
        </>
      )}
    </Ready>
  );
}

/** A chart for each operation and metric; those of one figure, as of memory, stand one below the other. */
export function MetricCharts({
  cells,
  metrics,
  choice,
}: {
  cells: Figures[];
  metrics: Metric[];
  choice: Choice;
}) {
  const names = [...new Set(metrics.map((metric) => metric.name))];
  return (
    <div className="sb-charts">
      {operations(cells).flatMap((operation) =>
        names.map((name) => (
          <div key={`${operation} ${name}`}>
            {metrics
              .filter((metric) => metric.name === name)
              .map((metric) => (
                <MedianChart
                  key={metric.title}
                  cells={cells}
                  operation={operation}
                  metric={metric}
                  choice={choice}
                />
              ))}
          </div>
        )),
      )}
    </div>
  );
}

function MedianChart({
  cells,
  operation,
  metric,
  choice,
}: {
  cells: Figures[];
  operation: Operation;
  metric: Metric;
  choice: Choice;
}) {
  const { asked } = choice;
  const scale = scaleOf(asked);
  const batches = useMemo(() => batchesOf(cells), [cells]);
  const [all, data] = useMemo(() => {
    const [stores, sizes] = [hiddenOf(asked, "store"), hiddenOf(asked, "batch")];
    const shown = (cell: CellName) => !stores.has(cell.store) && !sizes.has(String(cell.batch_size));
    const sorted = inOrder(cells, asked);
    return [chartData(sorted, operation, metric), chartData(sorted, operation, metric, shown)] as const;
  }, [cells, operation, metric, asked]);
  const rows = chartRows(data, metric);
  const title = chartTitle(operation, metric);
  const description = `${title}, ${metric.axis}: medians of ${rows.length} cells by batch size, store and client.`;
  const spec = useCallback(
    (width: number, theme: Theme, picture: boolean) =>
      medianSpec(data, { metric, scale, batches, description }, width, theme, picture),
    [data, metric, scale, batches, description],
  );
  if (all.lines.length === 0) return null;
  const used = batchesOf(all.lines.flatMap((line) => line.bars.map((bar) => bar.cell)));
  return (
    <Chart
      title={title}
      source={sourceOf(cells)}
      name={[operation, metric.name, metric.cover].filter(Boolean).join("-")}
      description={description}
      legend={
        <Legend
          title="batch size"
          kind="batch"
          entries={used.map((size) => ({
            name: String(size),
            label: batchLabel(size),
            colour: (theme) => colourOf(theme, batches.indexOf(size)),
          }))}
          choice={choice}
        />
      }
      spec={spec}
      rows={rows}
      note={data.note}
    />
  );
}

/** The run and the dataset: said in pictures. */
function sourceOf(cells: CellFigures[]): string {
  return `${cells[0]?.attempts[0]?.run_id ?? ""} · ${datasetsText(cells)}`;
}

/** What is not verified, or was disturbed, in words: no chart may hide it. */
function Unsound({ cells }: { cells: CellFigures[] }) {
  const attempts = cells.flatMap((cell) => cell.attempts);
  const notRun = attempts.filter((attempt) => attempt.status === "not_run");
  const failed = attempts.filter((attempt) => attempt.status === "failed");
  const disturbed = attempts.filter((attempt) => soundness(attempt) === "disturbed");
  const left = [...failed, ...notRun, ...disturbed];
  if (left.length === 0) return null;
  const why = [
    failed.length ? `${failed.length} failed` : "",
    notRun.length ? `${notRun.length} not run` : "",
    disturbed.length ? `${disturbed.length} disturbed` : "",
  ];
  return (
    <details className="sb-state sb-problem" open={left.length <= 5}>
      <summary>
        {left.length} attempt{left.length === 1 ? " is" : "s are"} in no median:{" "}
        {why.filter(Boolean).join(", ")}
      </summary>
      <ul>
        {left.map((attempt) => (
          <li key={attempt.attempt_id}>
            {attempt.operation} {cellLabel(attempt)}, repeat {attempt.repeat}: {remark(attempt)}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Where the time went, a bar for each cell. */
export function Phases({ of, choice }: { of: Loaded<CellPhases[]>; choice: Choice }) {
  return (
    <Ready of={of} empty={NONE}>
      {(cells) => (
        <>
          <p className="sb-line">{datasetsText(cells)}</p>
          <div className="sb-fields">
            <Stores stores={storesOf(cells)} choice={choice} />
          </div>
          {operations(cells).map((operation) => (
            <PhaseChart key={operation} operation={operation} of={cells} choice={choice} />
          ))}
          <p className="sb-note">
            Each bar is the verified, undisturbed attempt whose total is nearest to its cell's median: phases
            of one attempt add up, medians of phases would not. Where there is none it is the last. ▲ was
            bound by its client, ◆ was disturbed, ✕ has failed, ■ was stopped, ○ was not run.
          </p>
        </>
      )}
    </Ready>
  );
}

function PhaseChart({ operation, of, choice }: { operation: Operation; of: CellPhases[]; choice: Choice }) {
  const { asked } = choice;
  const [cells, used, phases] = useMemo(() => {
    const [stores, hidden] = [hiddenOf(asked, "store"), hiddenOf(asked, "phase")];
    const own = of.filter((cell) => cell.operation === operation && !stores.has(cell.store));
    const used = phasesOf(own);
    return [inOrder(own, asked), used, used.filter((phase) => !hidden.has(phase))] as const;
  }, [of, operation, asked]);
  const title = `Where the time of ${operation}s went`;
  const description = `${title}: seconds by phase, for ${cells.length} cells.`;
  const spec = useCallback(
    (width: number, theme: Theme, picture: boolean) =>
      phasesSpec(cells, phases, description, width, theme, picture),
    [cells, phases, description],
  );
  if (cells.length === 0) return null;
  const run = cells[0]?.attempt.run_id ?? "";
  return (
    <Chart
      title={title}
      source={`${run} · ${datasetsText(cells)}`}
      name={`phases-${operation}`}
      description={description}
      legend={
        <Legend
          title="phase"
          kind="phase"
          entries={used.map((phase) => ({
            name: phase,
            label: heading(phase),
            colour: () => phaseColour(phase),
          }))}
          choice={choice}
        />
      }
      spec={spec}
      rows={cells.map((cell) => ({
        cell: cellLabel(cell),
        rows: cell.rows,
        seed: cell.seed,
        repeat: cell.attempt.repeat,
        state: soundness(cell.attempt),
        remark: remark(cell.attempt),
        total_s: cell.attempt.total_s,
        ...Object.fromEntries(used.map((phase) => [`${phase}_s`, cell.phases[phase] ?? null])),
        run,
      }))}
      note={mixed(
        operation,
        cells.map((cell) => cell.attempt),
      )}
    />
  );
}

import { useCallback, useMemo, useState } from "react";
import type { Loaded } from "../api/loading";
import type { CellArtifacts, CellFigures, Operation, Study } from "../api/types";
import {
  byCell,
  type CellName,
  cellLabel,
  datasetsText,
  differing,
  namesOf,
  placesText,
  titleOf,
} from "../model/cells";
import { type Asked, type Choice, isByValue, isShown, ordered, scaleOf, scaleOfAll } from "../model/choice";
import {
  apart,
  barsOf,
  type ChartData,
  chartData,
  chartTable,
  chartTitle,
  countsText,
  type Figure,
  figuresOf,
  type Layout,
  linkTargetsIn,
  operationsIn,
  reporting,
  scaledBy,
  serversOfCell,
  spreadsText,
  unitText,
} from "../model/figures";
import { brokenFirst, isBroken, remark, soundness } from "../model/format";
import { toNext } from "../model/lead";
import { sourceOf } from "../model/provenance";
import { sqlOf } from "../model/sql";
import { chartsOf, metricNamed, operationsOf, titleOfOperation } from "../model/study";
import { Filters, OrderMenu, ScaleMenu, storesOf } from "../ui/Controls";
import { painter } from "../ui/colours";
import { Common, Provenance } from "../ui/Provenance";
import { Ready } from "../ui/States";
import type { Theme } from "../ui/theme";
import { Chart } from "./Chart";
import { CurveCharts } from "./CurveCharts";
import { hasCurves } from "./curves";
import { medianSpec } from "./medians";
import { StudyTables } from "./Tables";

export const NONE = (
  <p className="sb-state">
    <strong>No attempts yet.</strong> The charts fill as the run goes on.
  </p>
);

/** Cells and their study. */
export interface Of<T> {
  study: Study;
  cells: T[];
}

/** The data of a run's charts. */
export interface Charted extends Of<CellFigures> {
  artifacts: CellArtifacts[];
}

/** Return a choice that is kept in memory, for a page without an address. */
export function useOwnChoice(): Choice {
  const [asked, setAsked] = useState(new URLSearchParams());
  const choose = useCallback(
    (changes: Record<string, string>) =>
      setAsked((before) => new URLSearchParams({ ...Object.fromEntries(before), ...changes })),
    [],
  );
  return { asked, choose };
}

/** Sort cells by the chosen order of stores. */
export function inOrder<T extends CellName>(cells: T[], asked: Asked): T[] {
  const stores = ordered(asked, storesOf(cells));
  return [...cells].sort(
    (one, other) => stores.indexOf(one.store) - stores.indexOf(other.store) || byCell(one, other),
  );
}

/** Return the operations of these cells, in the study's order. */
export const operations = (study: Study, cells: { operation: string }[]) =>
  operationsOf(
    study,
    cells.map((cell) => cell.operation),
  );

/** Show the study's charts, in the study's order. */
export function Charts({ of, choice }: { of: Loaded<Charted>; choice: Choice }) {
  return (
    <Ready of={of}>
      {({ study, cells, artifacts }) =>
        cells.length === 0 ? (
          NONE
        ) : (
          <>
            <Common study={study} cells={cells} serversOf={serversOfCell} said={countsOf(cells)} />
            <Unsound study={study} cells={cells} />
            <div className="sb-fields">
              <ScaleMenu choice={choice} />
              <OrderMenu choice={choice} />
              <Filters
                study={study}
                cells={cells}
                choice={choice}
                coloured={chartsOf(study).map(({ colour }) => colour)}
              />
            </div>
            <StudyTables study={study} cells={inOrder(cells, choice.asked)} choice={choice} />
            <StudyCharts {...{ study, cells, artifacts, choice }} />
            <Reading />
            <Provenance study={study} cells={cells} attempts={cells.flatMap((cell) => cell.attempts)} />
          </>
        )
      }
    </Ready>
  );
}

/** Explain the charts' marks and scales. */
const Reading = () => (
  <details className="sb-note">
    <summary>How to read the charts</summary>
    Bars: medians of verified, undisturbed attempts; hollow if only one attempt counts. Lines: confidence
    intervals (95 % or more), for at least 6 repeats. Marks: every attempt. A triangle is client-bound, or, if
    it points down, service-bound; a diamond was disturbed and is in no median; a cross failed; a dash was not
    run. Attempts without a figure are at the beginning of the axis. A logarithmic scale has no zero for a bar
    to begin at: medians are dots. Relative to the best, bars begin at the best median of their panel.
    Warm-ups are excluded.
  </details>
);

/** Describe the numbers of repeats behind the medians of these cells. */
function countsOf(cells: CellFigures[]): string {
  const spreads = cells.flatMap((cell) => Object.values(cell.figures).flatMap((spread) => spread ?? []));
  return spreads.length ? spreadsText(spreads) : "";
}

/** Lay out the charts: one for each chart of the study, or for each operation where a chart shows a single operation. */
function StudyCharts({ study, cells, artifacts, choice }: Charted & { choice: Choice }) {
  const charts = useMemo(
    () =>
      chartsOf(study).flatMap((chart, place) => {
        const metric = metricNamed(study, chart.metric);
        if (!metric) return [];
        const over = metricNamed(study, chart.over);
        const figures = metric.kind === "scalar" ? figuresOf(metric) : null;
        const applicable = figures ? reporting(study, metric, cells) : cells;
        const operationsShown = operationsIn(study, chart, operations(study, applicable));
        const some = apart(chart, operationsShown).filter(
          (some) => figures || hasCurves(artifacts, metric, some, over),
        );
        return some.map((operations) => ({
          key: [place, ...operations.map(({ name }) => name)].join(" "),
          metric,
          over,
          figures,
          applicable,
          operations,
          beside: some,
          chart,
        }));
      }),
    [study, cells, artifacts],
  );
  const run = cells[0]?.attempts[0]?.run_id ?? "";
  return (
    <div className="sb-charts">
      {charts.map(({ key, metric, over, figures, applicable, ...drawn }) =>
        figures ? (
          <FigureCharts
            key={key}
            {...drawn}
            {...{ study, cells: applicable, painted: cells, figures, choice }}
          />
        ) : (
          <CurveCharts
            key={key}
            {...drawn}
            {...{ study, run, metric, over, cells: artifacts, measured: cells, choice }}
          />
        ),
      )}
    </div>
  );
}

/** The settings of charts of medians. */
interface Drawn extends Of<CellFigures> {
  /** The cells that decide the colours, if not only these cells do. */
  painted?: CellFigures[];
  operations: Operation[];
  /** The operations of all charts of the same metric, whose scale is the same. */
  beside?: Operation[][];
  chart: Layout;
  choice: Choice;
}

/** Show the charts of one metric, stacked: a metric such as memory has one each for clients and engines. */
export function FigureCharts({ figures, ...drawn }: Drawn & { figures: Figure[] }) {
  return (
    <div>
      {figures.map((figure) => (
        <MedianChart key={figure.title} figure={figure} {...drawn} />
      ))}
    </div>
  );
}

function MedianChart({
  study,
  cells,
  painted = cells,
  operations,
  beside = [operations],
  figure,
  chart,
  choice,
}: Drawn & { figure: Figure }) {
  const { asked } = choice;
  const { colour, panel } = chart;
  const names = useMemo(() => namesOf(study, cells), [study, cells]);
  const [empty, data, scale] = useMemo(() => {
    const shown = isShown(asked, names);
    const sorted = inOrder(cells, asked);
    const of = (operations: Operation[]) =>
      chartData(study, sorted, operations, figure, chart, { shown, byFigure: isByValue(asked) });
    return [
      chartData(study, sorted, operations, figure, chart).panels.length === 0,
      of(operations),
      scaleOfAll(
        scaleOf(asked),
        beside.map((operations) => scaledBy(of(operations))),
        figure.better,
      ),
    ] as const;
  }, [study, cells, names, operations, beside, figure, chart, asked]);
  const used = barsOf(data).map((bar) => bar.cell);
  const table = chartTable(study, data, figure, names);
  const title = chartTitle(operations, figure.title);
  const by = [panel === "operation" ? "" : panel, ...data.names].filter(Boolean);
  const description = `${title}, ${unitText(figure)}: medians of ${table.length} cells by ${by.map((name) => titleOf(study, name)).join(", ")}.`;
  const paint = useMemo(() => painter(study, painted, colour), [study, painted, colour]);
  const spec = useCallback(
    (width: number, theme: Theme) =>
      medianSpec(data, { study, figure, scale, colour, paint, description }, width, theme),
    [data, study, figure, scale, colour, paint, description],
  );
  if (empty) return null;
  const run = cells[0]?.attempts[0]?.run_id ?? "";
  return (
    <Chart
      title={title}
      source={sourceOf(
        run,
        datasetsText(study, used),
        used.flatMap((cell) => cell.attempts),
      )}
      run={run}
      sql={sqlOf({
        study,
        cells: used,
        runs: [run],
        operations: operations.map(({ name }) => name),
        ...(figure.ofAttempts ? { metrics: [figure.name] } : {}),
      })}
      name={[...operations.map(({ name }) => name), figure.name, figure.cover].filter(Boolean).join("-")}
      description={description}
      spec={spec}
      table={table}
      units={{ median: figure.unit, interval_low: figure.unit, interval_high: figure.unit }}
      places={names}
      leads={{ choice, of: linkTargetsIn(data), to: toNext, what: "attempts" }}
      // for the exported picture, which has no page around it
      note={[data.note, countsText(data, figure), floorsText(data)].filter(Boolean).join(" ")}
      caption={[
        figure.better === "neither" ? "" : `${titleOfOperation(figure.better)} is better.`,
        commonHere(study, cells, used, panel),
        figure.ofAttempts && countsOf(cells) === countsOf(used) ? "" : countsText(data, figure),
        data.note,
        floorsText(data),
      ]
        .filter(Boolean)
        .join(" ")}
    />
  );
}

/** Describe the values that the cells of a chart share, although other cells of the page have other values. */
function commonHere(study: Study, all: CellName[], used: CellName[], panel: string): string {
  const names = ["store", "client", ...namesOf(study, used)].filter((name) => name !== panel);
  const here = differing(used, names);
  const text = placesText(
    used[0] ?? (all[0] as CellName),
    differing(all, names).filter((name) => !here.includes(name)),
  );
  return used.length && text ? `All: ${text}.` : "";
}

/** Explain the dashed lines of floors. */
function floorsText(data: ChartData): string {
  const floors = [...new Set(barsOf(data).flatMap(({ cell, limit }) => (limit ? [cell.store] : [])))];
  return floors.length ? `Dashed: ${floors.join(", ")}, the floor (the client without a store).` : "";
}

/** List failed, not run and disturbed attempts: no chart may hide them. */
function Unsound({ study, cells }: Of<CellFigures>) {
  const attempts = cells.flatMap((cell) => cell.attempts);
  const notRun = attempts.filter((attempt) => attempt.status === "not_run");
  const failed = attempts.filter((attempt) => attempt.status === "failed");
  const disturbed = attempts.filter((attempt) => soundness(attempt) === "disturbed");
  const uncounted = brokenFirst([...failed, ...notRun, ...disturbed], (attempt) => attempt);
  if (uncounted.length === 0) return null;
  const why = [
    failed.length ? `${failed.length} failed` : "",
    notRun.length ? `${notRun.length} not run` : "",
    disturbed.length ? `${disturbed.length} disturbed` : "",
  ];
  return (
    <details className="sb-state sb-problem" open={uncounted.length <= 5}>
      <summary>
        {uncounted.length} attempt{uncounted.length === 1 ? " is" : "s are"} in no median:{" "}
        {why.filter(Boolean).join(", ")}
      </summary>
      <ul>
        {uncounted.map((attempt) => (
          <li key={attempt.attempt_id} className={isBroken(attempt) ? "sb-broken" : undefined}>
            {attempt.operation} {cellLabel(study, attempt)}, repeat {attempt.repeat}: {remark(attempt)}
            {isBroken(attempt) ? `: ${attempt.error}` : ""}
          </li>
        ))}
      </ul>
    </details>
  );
}

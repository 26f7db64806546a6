import { useCallback, useMemo, useState } from "react";
import type { Loaded } from "../api/loading";
import type { CellArtifacts, CellFigures, Operation, Study } from "../api/types";
import { byCell, type CellName, cellLabel, datasetsText, namesOf, titleOf } from "../model/cells";
import {
  type Asked,
  type Choice,
  isByValue,
  isShown,
  kindOf,
  ordered,
  scaleFor,
  scaleOf,
  valueLabel,
} from "../model/choice";
import {
  apart,
  barsOf,
  chartData,
  chartTable,
  chartTitle,
  countsText,
  type Figure,
  figuresOf,
  type Layout,
  lineNames,
  linkTargetsIn,
  operationsIn,
  scaledBy,
} from "../model/figures";
import { remark, soundness } from "../model/format";
import { toNext } from "../model/lead";
import { sourceOf } from "../model/provenance";
import { sqlOf } from "../model/sql";
import { chartsOf, isLimit, metricNamed, operationsOf } from "../model/study";
import { Filters, OrderMenu, ScaleMenu, storesOf, valuesOf } from "../ui/Controls";
import { Legend } from "../ui/Legend";
import { Ready } from "../ui/States";
import { colourOf, type Theme } from "../ui/theme";
import { Chart } from "./Chart";
import { CurveCharts } from "./CurveCharts";
import { hasCurves } from "./curves";
import { medianSpec } from "./medians";

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
            <p className="sb-line">{datasetsText(study, cells)}</p>
            <Unsound study={study} cells={cells} />
            <div className="sb-fields">
              <ScaleMenu choice={choice} />
              <OrderMenu choice={choice} />
              <Filters study={study} cells={cells} choice={choice} />
            </div>
            <StudyCharts {...{ study, cells, artifacts, choice }} />
            <p className="sb-note">
              Bars: medians of verified, undisturbed attempts. Lines: confidence intervals (95 % or more), for
              at least 6 repeats. Marks: every attempt. A triangle is client-bound, or, if it points down,
              service-bound; a diamond was disturbed and is in no median; a cross failed; a dash was not run.
              Attempts without a figure are at the beginning of the axis. A logarithmic scale has no zero for
              a bar to begin at: medians are dots. Relative to the best, bars begin at the best median shown.
              Warm-ups are excluded.
            </p>
          </>
        )
      }
    </Ready>
  );
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
        const operationsShown = operationsIn(study, chart, operations(study, cells));
        return apart(chart, operationsShown)
          .filter((some) => figures || hasCurves(artifacts, metric, some, over))
          .map((some) => ({
            key: [place, ...some.map(({ name }) => name)].join(" "),
            metric,
            over,
            figures,
            operations: some,
            chart,
          }));
      }),
    [study, cells, artifacts],
  );
  const run = cells[0]?.attempts[0]?.run_id ?? "";
  return (
    <div className="sb-charts">
      {charts.map(({ key, metric, over, figures, ...drawn }) =>
        figures ? (
          <FigureCharts key={key} {...drawn} {...{ study, cells, figures, choice }} />
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
  operations: Operation[];
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

function MedianChart({ study, cells, operations, figure, chart, choice }: Drawn & { figure: Figure }) {
  const { asked } = choice;
  const { colour, panel } = chart;
  const names = useMemo(() => namesOf(study, cells), [study, cells]);
  const values = useMemo(() => valuesOf(cells, colour), [cells, colour]);
  const [all, data] = useMemo(() => {
    const shown = isShown(asked, names);
    const sorted = inOrder(cells, asked);
    return [
      chartData(study, sorted, operations, figure, chart),
      chartData(study, sorted, operations, figure, chart, { shown, byFigure: isByValue(asked) }),
    ] as const;
  }, [study, cells, names, operations, figure, chart, asked]);
  const table = chartTable(study, data, figure, names);
  const title = chartTitle(operations, figure.title);
  const used = barsOf(all).map((bar) => bar.cell);
  const by = [colour, ...lineNames(study, used, chart), panel].filter((name) => name && name !== "operation");
  const description = `${title}, ${figure.axis}: medians of ${table.length} cells by ${[...new Set(by)].map((name) => titleOf(study, name)).join(", ")}.`;
  const scale = scaleFor(scaleOf(asked), scaledBy(data), figure.better);
  const spec = useCallback(
    (width: number, theme: Theme, picture: boolean) =>
      medianSpec(data, { study, figure, scale, colour, values, description }, width, theme, picture),
    [data, study, figure, scale, colour, values, description],
  );
  if (all.panels.length === 0) return null;
  const run = cells[0]?.attempts[0]?.run_id ?? "";
  return (
    <Chart
      title={title}
      source={sourceOf(
        run,
        datasetsText(study, used),
        barsOf(all).flatMap((bar) => bar.cell.attempts),
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
      legend={
        <Legend
          title={titleOf(study, colour)}
          kind={kindOf(colour)}
          entries={valuesOf(used, colour).map((name) => ({
            name,
            label: valueLabel(name),
            colour: (theme) => colourOf(theme, values.indexOf(name)),
          }))}
          choice={choice}
        />
      }
      spec={spec}
      table={table}
      places={names}
      leads={{ choice, of: linkTargetsIn(data), to: toNext, what: "attempts" }}
      note={[data.note, countsText(data, figure), limitsText(study, used)].filter(Boolean).join(" ")}
    />
  );
}

/** Explain the dashed lines of floors. */
function limitsText(study: Study, cells: CellName[]): string {
  const limits = [...new Set(cells.map((cell) => cell.store).filter((store) => isLimit(study, store)))];
  if (!limits.length || limits.length === storesOf(cells).length) return "";
  return `Dashed: ${limits.join(", ")}. Floor: the client without a store.`;
}

/** List failed, not run and disturbed attempts: no chart may hide them. */
function Unsound({ study, cells }: Of<CellFigures>) {
  const attempts = cells.flatMap((cell) => cell.attempts);
  const notRun = attempts.filter((attempt) => attempt.status === "not_run");
  const failed = attempts.filter((attempt) => attempt.status === "failed");
  const disturbed = attempts.filter((attempt) => soundness(attempt) === "disturbed");
  const uncounted = [...failed, ...notRun, ...disturbed];
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
          <li key={attempt.attempt_id}>
            {attempt.operation} {cellLabel(study, attempt)}, repeat {attempt.repeat}: {remark(attempt)}
          </li>
        ))}
      </ul>
    </details>
  );
}

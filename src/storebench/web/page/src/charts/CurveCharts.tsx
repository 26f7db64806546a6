import { useCallback, useMemo } from "react";
import type { CellArtifacts, CellFigures, Chart as ChartOf, Metric, Operation, Study } from "../api/types";
import { datasetsText, namesOf, titleOf } from "../model/cells";
import { type Choice, isShown, kindOf, type Scale, scaleOf, scaleOfAll } from "../model/choice";
import { chartTitle, mixed } from "../model/figures";
import { linkTargetOf, toNext } from "../model/lead";
import { sourceOf } from "../model/provenance";
import { sqlBeside } from "../model/sql";
import { limitsOf, metricNamed } from "../model/study";
import { figureIn } from "../model/units";
import { legendOf, painter } from "../ui/colours";
import { Legend } from "../ui/Legend";
import type { Theme } from "../ui/theme";
import { bandsOf, bandsText } from "./bands";
import { Chart } from "./Chart";
import { type Curve, type CurvesShown, curvePanels, curveSpec, curveTable, limitsNear } from "./curves";

interface Drawn {
  study: Study;
  run: string;
  /** The run's attempts by cell and operation, from which the curves come. */
  measured: CellFigures[];
  operations: Operation[];
  /** The operations of all charts of the same metric, whose scale is the same. */
  beside?: Operation[][];
  metric: Metric;
  over?: Metric;
  chart: ChartOf;
  choice: Choice;
}

/** Show distributions or series of some operations: a chart for each panel, stacked. */
export function CurveCharts({ cells, ...drawn }: Drawn & { cells: CellArtifacts[] }) {
  const { study, operations, beside = [operations], metric, over, chart, choice } = drawn;
  const panelsOf = useCallback(
    (operations: Operation[]) => curvePanels(study, cells, operations, metric, chart, over),
    [study, cells, metric, chart, over],
  );
  const panels = useMemo(() => panelsOf(operations), [panelsOf, operations]);
  const scale = useMemo(() => {
    const shown = isShown(choice.asked, namesOf(study, cells));
    const values = beside
      .flatMap(panelsOf)
      .map(({ curves }) =>
        curves.flatMap(({ cell, points }) => (shown(cell) ? points.map(([, value]) => value) : [])),
      );
    // a curve has no best
    return scaleOfAll(scaleOf(choice.asked), values, "neither");
  }, [study, cells, beside, panelsOf, choice.asked]);
  return (
    <div>
      {panels.map(({ name, curves }) => (
        <CurveChart key={name} panel={name} all={curves} {...drawn} scale={scale} cells={cells} />
      ))}
    </div>
  );
}

/** Return what a chart draws around its curves: limits, the time before the measurement, bands, and the series at the second axis. */
export function aroundCurves(
  study: Study,
  chart: ChartOf,
  measured: CellFigures[],
  cells: CellArtifacts[],
): Pick<CurvesShown, "limits" | "since" | "beside" | "bands"> {
  const { limit, since, beside } = chart;
  const bands = bandsOf(study, chart, measured, cells);
  const began = metricNamed(study, since);
  const seconds = measured.flatMap(({ figures }) => figures[since]?.median ?? []);
  const second = metricNamed(study, beside);
  return {
    limits: limitsOf(
      study,
      limit,
      measured.flatMap(({ attempts }) => attempts),
    ),
    ...(began && seconds.length ? { since: { title: began.title, seconds } } : {}),
    ...(second ? { beside: second } : {}),
    ...(bands ? { bands } : {}),
  };
}

function CurveChart({
  panel,
  all,
  scale,
  cells: painted,
  study,
  run,
  measured,
  operations,
  metric,
  over,
  chart,
  choice,
}: Drawn & { panel: string; all: Curve[]; scale: Scale; cells: CellArtifacts[] }) {
  const { asked } = choice;
  const { colour } = chart;
  const names = useMemo(() => namesOf(study, painted), [study, painted]);
  const curves = useMemo(() => {
    const shown = isShown(asked, names);
    return all.filter(({ cell }) => shown(cell));
  }, [all, names, asked]);
  const cells = useMemo(() => curves.map(({ cell }) => cell), [curves]);
  const title = [chartTitle(operations, metric.title), panel].filter(Boolean).join(", ");
  const what = metric.kind === "histogram" ? "value by percentile" : `value over ${over?.title ?? "time"}`;
  const description = `${title}: ${what}, of ${curves.length} cells.`;
  const figuresOf = useMemo(() => {
    const figures = new Map(measured.map((cell) => [`${cell.cell_key} ${cell.operation}`, cell]));
    return (cell: CellArtifacts) => figures.get(`${cell.cell_key} ${cell.operation}`);
  }, [measured]);
  const attemptsOf = (cell: CellArtifacts) => figuresOf(cell)?.attempts ?? [];
  const attempts = cells.flatMap(attemptsOf);
  const around = useMemo(
    () =>
      aroundCurves(
        study,
        chart,
        cells.flatMap((cell) => figuresOf(cell) ?? []),
        cells,
      ),
    [study, chart, cells, figuresOf],
  );
  const paint = useMemo(() => painter(study, painted, colour), [study, painted, colour]);
  const spec = useCallback(
    (width: number, theme: Theme, picture: boolean) =>
      curveSpec(
        study,
        curves,
        { metric, over, scale, colour, paint, description, ...around },
        width,
        theme,
        picture,
      ),
    [study, curves, metric, over, scale, colour, paint, around, description],
  );
  const [, far] = limitsNear(
    around.limits,
    curves.flatMap((curve) => curve.points.map(([, value]) => value)),
  );
  const counted = metric.kind === "histogram" ? mergedText(curves) : OF_TYPICAL;
  const { bands } = around;
  const farText = far.map(
    ({ title, value }) => `${title}: ${figureIn(metric.unit, value)}, above the chart.`,
  );
  return (
    <Chart
      title={title}
      source={sourceOf(run, datasetsText(study, cells), attempts)}
      run={run}
      sql={sqlBeside(
        "artifact",
        { study, cells, runs: [run], operations: operations.map(({ name }) => name) },
        [metric, over].flatMap((shown) => shown?.name ?? []),
      )}
      name={[...operations.map(({ name }) => name), metric.name, panel].filter(Boolean).join("-")}
      description={description}
      legend={
        <Legend
          title={titleOf(study, colour)}
          kind={kindOf(colour)}
          entries={legendOf(
            study,
            painted,
            all.map(({ cell }) => cell),
            colour,
          )}
          choice={choice}
        />
      }
      spec={spec}
      table={curveTable(
        study,
        curves,
        { metric, ...(over ? { over } : {}), ...(bands ? { bands } : {}) },
        names,
        run,
        attemptsOf,
      )}
      units={Object.fromEntries(
        [metric, over, bands?.begin, bands?.end].flatMap((of) => (of ? [[of.name, of.unit]] : [])),
      )}
      leads={{
        choice,
        of: curves.flatMap(({ cell, points }) => points.map(() => linkTargetOf(cell))),
        to: toNext,
        what: "attempts",
      }}
      places={names}
      note={[counted, bands ? bandsText(bands) : "", ...farText, mixed(attempts)].filter(Boolean).join(" ")}
    />
  );
}

const OF_TYPICAL = "The repeat whose total pod time is nearest to the cell's median.";

/** Describe the number of repeats behind the distributions. */
function mergedText(curves: Curve[]): string {
  const counts = [...new Set(curves.map(({ cell }) => cell.n))].sort((one, other) => one - other);
  const repeats = counts.length < 2 ? `${counts[0] ?? 0}` : `${counts[0]} to ${counts.at(-1)}`;
  return `One distribution for each cell, from all counted repeats (${repeats} per cell). The last point of a line is the maximum.`;
}

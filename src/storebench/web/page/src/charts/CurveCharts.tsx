import { useCallback, useMemo } from "react";
import type { CellArtifacts, CellFigures, Chart as ChartOf, Metric, Operation, Study } from "../api/types";
import { datasetsText, namesOf, titleOf } from "../model/cells";
import { type Choice, isShown, kindOf, scaleFor, scaleOf, valueLabel } from "../model/choice";
import { chartTitle, mixed } from "../model/figures";
import { linkTargetOf, toNext } from "../model/lead";
import { sourceOf } from "../model/provenance";
import { sqlBeside } from "../model/sql";
import { valuesOf } from "../ui/Controls";
import { Legend } from "../ui/Legend";
import { colourOf, type Theme } from "../ui/theme";
import { Chart } from "./Chart";
import { type Curve, curvePanels, curveSpec, curveTable } from "./curves";

interface Drawn {
  study: Study;
  run: string;
  /** The run's attempts by cell and operation, from which the curves come. */
  measured: CellFigures[];
  operations: Operation[];
  metric: Metric;
  over?: Metric;
  chart: ChartOf;
  choice: Choice;
}

/** Show distributions or series of some operations: a chart for each panel, stacked. */
export function CurveCharts({ cells, ...drawn }: Drawn & { cells: CellArtifacts[] }) {
  const { study, operations, metric, over, chart, choice } = drawn;
  const panels = useMemo(
    () => curvePanels(study, cells, operations, metric, chart, over),
    [study, cells, operations, metric, chart, over],
  );
  const values = useMemo(() => valuesOf(cells, chart.colour), [cells, chart.colour]);
  return (
    <div>
      {panels.map(({ name, curves }) => (
        <CurveChart key={name} panel={name} all={curves} {...drawn} values={values} choice={choice} />
      ))}
    </div>
  );
}

function CurveChart({
  panel,
  all,
  values,
  study,
  run,
  measured,
  operations,
  metric,
  over,
  chart,
  choice,
}: Drawn & { panel: string; all: Curve[]; values: string[] }) {
  const { asked } = choice;
  const { colour } = chart;
  const cells = useMemo(() => all.map(({ cell }) => cell), [all]);
  const names = useMemo(() => namesOf(study, cells), [study, cells]);
  const curves = useMemo(() => {
    const shown = isShown(asked, names);
    return all.filter(({ cell }) => shown(cell));
  }, [all, names, asked]);
  const title = [chartTitle(operations, metric.title), panel].filter(Boolean).join(", ");
  const what = metric.kind === "histogram" ? "value by percentile" : `value over ${over?.title ?? "time"}`;
  const description = `${title}: ${what}, of ${curves.length} cells.`;
  const points = curves.flatMap((curve) => curve.points.map(([, value]) => value));
  // a curve has no best
  const scale = scaleFor(scaleOf(asked), points, "neither");
  const spec = useCallback(
    (width: number, theme: Theme, picture: boolean) =>
      curveSpec(study, curves, { metric, over, scale, colour, values, description }, width, theme, picture),
    [study, curves, metric, over, scale, colour, values, description],
  );
  const attemptsOf = useMemo(() => {
    const attempts = new Map(measured.map((cell) => [`${cell.cell_key} ${cell.operation}`, cell.attempts]));
    return (cell: CellArtifacts) => attempts.get(`${cell.cell_key} ${cell.operation}`) ?? [];
  }, [measured]);
  const attempts = cells.flatMap(attemptsOf);
  const counted = metric.kind === "histogram" ? mergedText(curves) : OF_TYPICAL;
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
          entries={valuesOf(cells, colour).map((name) => ({
            name,
            label: valueLabel(name),
            colour: (theme) => colourOf(theme, values.indexOf(name)),
          }))}
          choice={choice}
        />
      }
      spec={spec}
      table={curveTable(study, curves, metric, names, run, attemptsOf, over)}
      leads={{
        choice,
        of: curves.flatMap(({ cell, points }) => points.map(() => linkTargetOf(cell))),
        to: toNext,
        what: "attempts",
      }}
      places={names}
      note={[counted, mixed(attempts)].filter(Boolean).join(" ")}
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

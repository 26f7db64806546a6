import { useCallback, useMemo } from "react";
import { get } from "../../api/api";
import { useLoaded } from "../../api/loading";
import { studyNamed } from "../../api/study";
import type { Metric, ServerSizes, SizePoint, Study } from "../../api/types";
import { Chart } from "../../charts/Chart";
import { datasetsText, namesOf, titleOf } from "../../model/cells";
import { type Choice, isShown, kindOf } from "../../model/choice";
import { chartTitle, type Layout } from "../../model/figures";
import { toNext } from "../../model/lead";
import { originText, together } from "../../model/provenance";
import { sqlOf } from "../../model/sql";
import { operationsOf, titleOfOperation } from "../../model/study";
import { legendOf } from "../../ui/colours";
import { Legend } from "../../ui/Legend";
import { ProvenanceLine } from "../../ui/Provenance";
import { Select } from "../../ui/Select";
import { Ready } from "../../ui/States";
import type { Theme } from "../../ui/theme";
import { Excluded, Single } from "./Advice";
import { layoutFor, lineNames, sizeMarks, sizePanels, sizesKey, sizesTable, targetOf } from "./sizes";
import { sizesSpec } from "./sizesSpec";

/** Show a metric over the size of servers that the runs of a study have provisioned. */
export function SizesView({ study, choice }: { study: string; choice: Choice }) {
  const chosen = (name: Parameters<typeof sizesKey>[0]) => choice.asked.get(sizesKey(name)) ?? undefined;
  const asked = { study, operation: chosen("operation"), metric: chosen("metric"), run: runsIn(choice) };
  const loaded = useLoaded(
    async (signal) => ({
      sizes: await get("/api/server-sizes", asked, signal),
      study: await studyNamed(study, signal),
    }),
    `server sizes ${JSON.stringify(asked)}`,
  );
  return <Ready of={loaded}>{(answer) => <Sizes {...answer} choice={choice} />}</Ready>;
}

/** Return the runs to which the address limits the view; undefined for all runs of the study. */
const runsIn = ({ asked }: Choice) => asked.get(sizesKey("runs"))?.split(",");

/** Show the menus, the charts, what to run next, and the excluded runs. */
export function Sizes({ sizes, study, choice }: { sizes: ServerSizes; study: Study; choice: Choice }) {
  const { operation, metric: name, offered, points, excluded, single } = sizes;
  const metrics = offered[operation] ?? [];
  const metric = metrics.find((known) => known.name === name);
  const layout = useMemo(() => layoutFor(study, name), [study, name]);
  const panels = useMemo(() => sizePanels(points, layout), [points, layout]);
  const source = sourceText(study, points);
  return (
    <>
      <div className="sb-fields">
        <Select
          label="Operation"
          value={operation}
          options={Object.keys(offered).map((known) => [known, titleOfOperation(known)])}
          onChoose={(operation) =>
            choice.choose({ [sizesKey("operation")]: operation, [sizesKey("metric")]: "" })
          }
        />
        <Select
          label="Metric"
          value={name}
          options={metrics.map((known) => [known.name, known.title])}
          onChoose={(metric) =>
            choice.choose({ [sizesKey("operation")]: operation, [sizesKey("metric")]: metric })
          }
        />
      </div>
      {runsIn(choice) ? (
        <p className="sb-line">
          Only {runsIn(choice)?.length} chosen runs are used.{" "}
          <button type="button" onClick={() => choice.choose({ [sizesKey("runs")]: "" })}>
            Use all runs
          </button>
        </p>
      ) : null}
      {points.length ? null : (
        <p className="sb-state">
          <strong>No sizes to compare.</strong> This view needs runs that provision their servers (a store
          named STORE@TOPOLOGY) and set the parameter <code>server_cpu</code>.
        </p>
      )}
      {single ? <Single run={single} points={points} /> : null}
      {metric
        ? panels.map((panel) => (
            <SizesChart
              key={panel.name}
              {...{ study, operation, metric, layout, choice }}
              all={points}
              panel={panel.name}
              points={panel.points}
            />
          ))
        : null}
      <Excluded excluded={excluded} choice={choice} />
      {points.length ? <ProvenanceLine text={source} citation={`${study.title}. ${source}.`} /> : null}
    </>
  );
}

const runsOf = (points: SizePoint[]) => [...new Set(points.flatMap((point) => point.runs))];

/** Return the source of these points' figures in one line: runs, dataset and origin. */
function sourceText(study: Study, points: SizePoint[]): string {
  const origin = originText(together(points.map((point) => point.origin)));
  return [runsOf(points).join(", "), datasetsText(study, points), origin].filter(Boolean).join(" · ");
}

interface Drawn {
  study: Study;
  operation: string;
  metric: Metric;
  layout: Layout;
  choice: Choice;
  /** The points of all panels, which decide the colours. */
  all: SizePoint[];
  panel: string;
  points: SizePoint[];
}

function SizesChart({ study, operation, metric, layout, choice, all, panel, points }: Drawn) {
  const { asked } = choice;
  const { colour } = layout;
  const places = useMemo(() => namesOf(study, all), [study, all]);
  const shown = useMemo(() => points.filter(isShown(asked, places)), [points, asked, places]);
  const marks = useMemo(
    () => sizeMarks(study, shown, metric, colour, lineNames(study, shown, layout)),
    [study, shown, metric, colour, layout],
  );
  const title = [chartTitle(operationsOf(study, [operation]), metric.title), panel]
    .filter(Boolean)
    .join(", ");
  const lines = new Set(shown.map(({ line }) => line)).size;
  const description = `${title}, over the cores of each server that holds data: ${shown.length} sizes in ${lines} line${lines === 1 ? "" : "s"}.`;
  const entries = useMemo(() => legendOf(study, all, points, colour), [study, all, points, colour]);
  const spec = useCallback(
    (width: number, theme: Theme, picture: boolean) =>
      sizesSpec(
        marks,
        metric,
        entries.map((entry) => [entry.label, entry.colour(theme)]),
        description,
        width,
        theme,
        picture,
      ),
    [marks, metric, entries, description],
  );
  const { name, unit } = metric;
  return (
    <Chart
      title={title}
      source={sourceText(study, shown)}
      run={study.name}
      sql={sqlOf({ study, cells: shown, runs: runsOf(shown), operations: [operation], metrics: [name] })}
      name={["sizes", operation, name, panel].filter(Boolean).join("-")}
      description={description}
      legend={
        <Legend title={titleOf(study, colour)} kind={kindOf(colour)} entries={entries} choice={choice} />
      }
      spec={spec}
      table={sizesTable(study, shown, name)}
      units={{ [name]: unit, interval_low: unit, interval_high: unit }}
      places={places}
      leads={{ choice, of: shown.map(targetOf), to: toNext, what: "attempts" }}
      note="Higher is better. Medians of the attempts that count; the vertical lines are their intervals of at least 95 %, from 6 repeats on. The figures list the cores and the memory that all servers used together, as their agents measured."
    />
  );
}

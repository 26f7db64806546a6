import { useCallback, useMemo } from "react";
import type { Loaded } from "./api";
import { Chart } from "./Chart";
import { medianSpec, phasesSpec, type Theme } from "./charts";
import { type ChartData, chartData, chartTitle, METRICS, type Metric, mixed } from "./figures";
import { byCell, cellLabel, remark, soundness } from "./format";
import { Ready } from "./States";
import type { CellFigures, CellPhases, Operation } from "./types";

const NONE = (
  <p className="sb-state">
    <strong>No attempts yet.</strong> The charts fill as the run goes on.
  </p>
);

/** What has a place of its own on the screen; in that of memory the charts stand one below the other. */
const FIGURES = [...new Set(METRICS.map((metric) => metric.name))];

/** The study's charts: times, and memory, of clients and of engines apart. */
export function Charts({ of }: { of: Loaded<CellFigures[]> }) {
  return (
    <Ready of={of} empty={NONE}>
      {(cells) => (
        <>
          <Unsound cells={cells} />
          <div className="sb-charts">
            {(["write", "read"] as const).flatMap((operation) =>
              FIGURES.map((name) => (
                <div key={`${operation} ${name}`}>
                  {METRICS.filter((metric) => metric.name === name).map((metric) => (
                    <MedianChart key={metric.title} cells={cells} operation={operation} metric={metric} />
                  ))}
                </div>
              )),
            )}
          </div>
          <p className="sb-note">
            Bars: medians of verified attempts that were not disturbed. Lines: their confidence intervals (95
            % or more), from 6 repeats on. Marks: every attempt; a triangle was bound by its client, a diamond
            was disturbed and is in no median, a cross has failed (at 0 if it has no figure). Warm-ups are
            left out.
          </p>
        </>
      )}
    </Ready>
  );
}

function MedianChart({
  cells,
  operation,
  metric,
}: {
  cells: CellFigures[];
  operation: Operation;
  metric: Metric;
}) {
  const data: ChartData = useMemo(
    () => chartData([...cells].sort(byCell), operation, metric),
    [cells, operation, metric],
  );
  const title = chartTitle(operation, metric);
  const description = `${title}, ${metric.axis}: medians of ${data.medians.length} cells by batch size, store and client.`;
  const spec = useCallback(
    (width: number, theme: Theme) => medianSpec(data, metric, description, width, theme),
    [data, metric, description],
  );
  if (data.dots.length === 0) return null;
  return (
    <Chart
      title={title}
      source={cells[0]?.attempts[0]?.run_id ?? ""}
      name={[operation, metric.name, metric.cover].filter(Boolean).join("-")}
      description={description}
      spec={spec}
      rows={data.medians.map((row) => ({ ...row, unit: metric.axis }))}
      note={data.note}
    />
  );
}

/** What is not verified, or was disturbed, in words: no chart may hide it. */
function Unsound({ cells }: { cells: CellFigures[] }) {
  const attempts = cells.flatMap((cell) => cell.attempts);
  const unverified = attempts.filter((attempt) => attempt.status !== "verified");
  const disturbed = attempts.filter((attempt) => soundness(attempt) === "disturbed");
  const left = [...unverified, ...disturbed];
  if (left.length === 0) return null;
  const why = [
    unverified.length ? `${unverified.length} not verified` : "",
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
export function Phases({ of }: { of: Loaded<CellPhases[]> }) {
  return (
    <Ready of={of} empty={NONE}>
      {(cells) => (
        <>
          {(["write", "read"] as const).map((operation) => (
            <PhaseChart key={operation} operation={operation} of={cells} />
          ))}
          <p className="sb-note">
            Each bar is the verified, undisturbed attempt whose total is nearest to its cell's median: phases
            of one attempt add up, medians of phases would not. Where there is none it is the last. ▲ was
            bound by its client, ◆ was disturbed, ✕ has failed.
          </p>
        </>
      )}
    </Ready>
  );
}

function PhaseChart({ operation, of }: { operation: Operation; of: CellPhases[] }) {
  const cells = useMemo(
    () => of.filter((cell) => cell.operation === operation).sort(byCell),
    [of, operation],
  );
  const title = `Where the time of ${operation === "write" ? "writes" : "reads"} went`;
  const description = `${title}: seconds by phase, for ${cells.length} cells.`;
  const spec = useCallback(
    (width: number, theme: Theme) => phasesSpec(cells, description, width, theme),
    [cells, description],
  );
  if (cells.length === 0) return null;
  const used = [...new Set(cells.flatMap((cell) => Object.keys(cell.phases)))];
  return (
    <Chart
      title={title}
      source={cells[0]?.attempt.run_id ?? ""}
      name={`phases-${operation}`}
      description={description}
      spec={spec}
      rows={cells.map((cell) => ({
        cell: cellLabel(cell),
        repeat: cell.attempt.repeat,
        state: soundness(cell.attempt),
        remark: remark(cell.attempt),
        total_s: cell.attempt.total_s,
        ...Object.fromEntries(used.map((phase) => [`${phase}_s`, cell.phases[phase] ?? null])),
      }))}
      note={mixed(
        operation,
        cells.map((cell) => cell.attempt),
      )}
    />
  );
}

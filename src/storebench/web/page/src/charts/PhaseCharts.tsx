import { useCallback, useMemo } from "react";
import type { Loaded } from "../api/loading";
import type { CellPhases, Operation } from "../api/types";
import { columns, datasetsText, namesOf } from "../model/cells";
import { type Choice, hiddenOf, isByValue, isShown } from "../model/choice";
import { chartTitle, mixed } from "../model/figures";
import { heading, remark, soundness, WHOLE } from "../model/format";
import { linkTargetOf, toNext } from "../model/lead";
import { originColumns, originOf, sourceOf } from "../model/provenance";
import { sqlBeside } from "../model/sql";
import { Filters, OrderMenu } from "../ui/Controls";
import { Legend } from "../ui/Legend";
import { Common, Provenance } from "../ui/Provenance";
import { Ready } from "../ui/States";
import type { Theme } from "../ui/theme";
import { Chart } from "./Chart";
import { inOrder, NONE, type Of, operations } from "./ChartViews";
import { phaseColour, phaseFill, phasesOf, phasesSpec, serverOfTypical } from "./charts";

const TYPICAL =
  "Each bar is the verified, undisturbed attempt whose total is nearest to its cell's median: phases of one attempt add up, medians of phases would not. Without such an attempt, the bar is the last attempt. ";

/** Show the phases of each cell's typical attempt, or of a `single` attempt. */
export function Phases({
  of,
  choice,
  single = false,
}: {
  of: Loaded<Of<CellPhases>>;
  choice: Choice;
  single?: boolean;
}) {
  return (
    <Ready of={of}>
      {({ study, cells }) =>
        cells.length === 0 ? (
          NONE
        ) : (
          <>
            <Common study={study} cells={cells} serversOf={serverOfTypical} />
            {single ? null : (
              <div className="sb-fields">
                <OrderMenu choice={choice} />
                <Filters study={study} cells={cells} choice={choice} />
              </div>
            )}
            {operations(study, cells).map((operation) => (
              <PhaseChart key={operation.name} {...{ study, cells, operation, choice, single }} />
            ))}
            <details className="sb-note">
              <summary>How to read the charts</summary>
              {single ? "" : TYPICAL}
              The bars include the verification, which the charts of the total pod time exclude. Kubernetes
              reports the phases before the interpreter in whole seconds: they are pale, with a dashed edge. ▲
              client-bound, ▼ service-bound, ◆ disturbed, ✕ failed, ■ stopped, ○ not run.
            </details>
            <Provenance study={study} cells={cells} attempts={cells.map((cell) => cell.attempt)} />
          </>
        )
      }
    </Ready>
  );
}

/** Sort cells by the length of their bars, shortest first. */
function byLength(cells: CellPhases[], phases: [string, string][]): CellPhases[] {
  const length = (cell: CellPhases) => phases.reduce((sum, [phase]) => sum + (cell.phases[phase] ?? 0), 0);
  return [...cells].sort((one, other) => length(one) - length(other));
}

export function PhaseChart({
  study,
  cells: all,
  operation,
  choice,
  single,
}: Of<CellPhases> & { operation: Operation; choice: Choice; single: boolean }) {
  const { asked } = choice;
  const [cells, used, phases] = useMemo(() => {
    const [shown, hidden] = [isShown(asked, namesOf(study, all)), hiddenOf(asked, "phase")];
    const chosen = all.filter((cell) => cell.operation === operation.name && (single || shown(cell)));
    const names = phasesOf(all);
    const used = phasesOf(chosen).map((phase): [string, string] => [phase, phaseColour(phase, names)]);
    const phases = used.filter(([phase]) => !hidden.has(phase));
    const cells = inOrder(chosen, asked);
    return [isByValue(asked) ? byLength(cells, phases) : cells, used, phases] as const;
  }, [study, all, operation, asked, single]);
  const title = chartTitle([operation], "where the time went");
  const description = `${title}: seconds by phase, for ${cells.length} cells.`;
  const spec = useCallback(
    (width: number, theme: Theme, picture: boolean) =>
      phasesSpec(study, cells, phases, description, width, theme, picture),
    [study, cells, phases, description],
  );
  if (cells.length === 0) return null;
  const run = cells[0]?.attempt.run_id ?? "";
  const names = namesOf(study, cells);
  return (
    <Chart
      title={title}
      source={sourceOf(
        run,
        datasetsText(study, cells),
        cells.map((cell) => cell.attempt),
      )}
      run={run}
      sql={sqlBeside("phase", { study, cells, runs: [run], operations: [operation.name] })}
      name={`phases-${operation.name}`}
      description={description}
      legend={
        <Legend
          title="phase"
          kind="phase"
          entries={used.map(([name, colour]) => ({
            name,
            label: heading(name),
            colour: (theme: Theme) => phaseFill(theme, name, colour),
            dashed: WHOLE.has(name),
          }))}
          choice={choice}
        />
      }
      spec={spec}
      table={cells.map((cell) => ({
        store: cell.store,
        client: cell.client,
        ...columns(study, cell, names),
        repeat: cell.attempt.repeat,
        state: soundness(cell.attempt),
        remark: remark(cell.attempt),
        total_s: cell.attempt.total_s,
        ...Object.fromEntries(used.map(([phase]) => [`${phase}_s`, cell.phases[phase] ?? null])),
        run,
        ...originColumns(originOf([cell.attempt])),
      }))}
      places={names}
      leads={{
        choice,
        of: cells.map(({ attempt }) => linkTargetOf(attempt)),
        to: toNext,
        what: "the attempt",
      }}
      note={[
        single ? "" : "One attempt of each cell.",
        phases.some(([phase]) => WHOLE.has(phase))
          ? "Pale and dashed: reported by Kubernetes, to the second."
          : "",
        mixed(cells.map((cell) => cell.attempt)),
      ]
        .filter(Boolean)
        .join(" ")}
    />
  );
}

import { useCallback, useMemo } from "react";
import { all, get } from "../../api/api";
import { useLoaded } from "../../api/loading";
import { studyNamed } from "../../api/study";
import type { Attempt, CellHistory, Operation, Study } from "../../api/types";
import { Chart } from "../../charts/Chart";
import { datasetsText, namesOf } from "../../model/cells";
import { type Choice, hiddenOf } from "../../model/choice";
import { toNext } from "../../model/lead";
import { sourceOf } from "../../model/provenance";
import { sqlOf } from "../../model/sql";
import { metricNamed, reportedBy, titleOfOperation } from "../../model/study";
import { grouped } from "../../model/units";
import { MetricMenu } from "../../ui/Controls";
import { Legend } from "../../ui/Legend";
import { Provenance } from "../../ui/Provenance";
import { Select } from "../../ui/Select";
import { Ready } from "../../ui/States";
import { paint, type Theme } from "../../ui/theme";
import { Changes } from "./Changes";
import { historyLines, historyPoints, seriesShown } from "./history";
import { historySpec } from "./historySpec";

/** The maximum number of attempts in a history; the newest are shown. */
const MOST = 5000;

interface Props {
  cell: string | undefined;
  operation: string | undefined;
  metric: string | undefined;
  choice: Choice;
}

/** Return the study of a cell, with which the cell's key begins. */
const studyOf = (cell: string) => cell.split("/")[0] ?? "";

/** Show one cell's operation over time, in all runs. */
export function HistoryView({ cell, operation, metric, choice }: Props) {
  const keys = useLoaded((signal) => get("/api/cell-keys", { limit: 500 }, signal), "cell keys");
  return (
    <>
      <div className="sb-fields">
        <label className="sb-field">
          Cell
          <input
            list="sb-cells"
            className="sb-long"
            defaultValue={cell ?? ""}
            key={cell}
            onChange={(event) => {
              const typed = event.target.value;
              if (keys.data?.includes(typed)) choice.choose({ cell: typed });
            }}
            placeholder="type a part of its key"
          />
        </label>
        <datalist id="sb-cells">
          {keys.data?.map((key) => (
            <option key={key} value={key} />
          ))}
        </datalist>
      </div>
      {cell ? (
        <OfCell key={studyOf(cell)} {...{ cell, operation, metric, choice }} />
      ) : (
        <p className="sb-state">Choose a cell to see its measurements over time.</p>
      )}
    </>
  );
}

/** Show the menus of a cell's operations and metrics, and the history. */
function OfCell({ cell, operation: asked, metric, choice }: Props & { cell: string }) {
  const name = studyOf(cell);
  const loaded = useLoaded((signal) => studyNamed(name, signal), `study ${name}`);
  return (
    <Ready of={loaded}>
      {(study) => {
        const operation =
          study.operations.find((candidate) => candidate.name === asked) ?? study.operations[0];
        if (!operation) return <p className="sb-state">The study {name} is unknown.</p>;
        const known = metric && reportedBy(study, [operation.name]).has(metric) ? metric : undefined;
        return (
          <>
            <div className="sb-fields">
              <Select
                label="Operation"
                value={operation.name}
                options={study.operations.map(({ name }) => [name, titleOfOperation(name)])}
                onChoose={(operation) => choice.choose({ operation })}
              />
              <MetricMenu
                study={study}
                operations={[operation.name]}
                chosen={known}
                onChoose={(chosen) => choice.choose({ metric: chosen })}
              />
            </div>
            <History {...{ study, cell, operation, metric: known, choice }} />
          </>
        );
      }}
    </Ready>
  );
}

interface Of {
  study: Study;
  cell: string;
  operation: Operation;
  /** Undefined: the metric that ranks the operation. */
  metric: string | undefined;
  choice: Choice;
}

function History({ study, cell, operation, metric, choice }: Of) {
  const asked = { cell, operation: operation.name };
  const loaded = useLoaded(
    (signal) => all("/api/attempts", { ...asked, limit: 500 }, signal, MOST),
    `attempts ${cell} ${operation.name}`,
  );
  const history = useLoaded(
    (signal) => get("/api/history", { ...asked, metric }, signal),
    `history ${cell} ${operation.name} ${metric}`,
  );
  const empty = (
    <p className="sb-state">
      <strong>No attempts</strong> at this operation of the cell.
    </p>
  );
  return (
    <Ready of={loaded} empty={empty}>
      {(attempts) => (
        <Ready of={history}>
          {(history) => <HistoryChart {...{ attempts, history, study, cell, operation, metric, choice }} />}
        </Ready>
      )}
    </Ready>
  );
}

/** Show one cell's attempts over time, with levels, changes and baselines. Superseded attempts are shown with a mark. */
export function HistoryChart({
  attempts,
  history,
  study,
  cell,
  operation,
  metric: asked,
  choice,
}: Of & { attempts: Attempt[]; history: CellHistory }) {
  const { asked: address } = choice;
  const name = asked ?? operation.metrics[0] ?? "";
  const metric = metricNamed(study, name);
  const unit = metric?.unit ?? "";
  const names = useMemo(() => namesOf(study, attempts), [study, attempts]);
  const points = useMemo(() => historyPoints(study, attempts, name), [study, attempts, name]);
  const kinds = useMemo(() => [...new Set(points.map((point) => point.measured))], [points]);
  const shown = useMemo(() => {
    const hidden = hiddenOf(address, "environment");
    return points.filter((point) => !hidden.has(point.measured));
  }, [points, address]);
  const series = useMemo(() => {
    const hidden = hiddenOf(address, "environment");
    return seriesShown(history, attempts, (measured) => !hidden.has(measured));
  }, [history, attempts, address]);
  const lines = useMemo(() => historyLines(metric?.unit ?? "", series), [metric, series]);
  const what = metric?.title ?? name;
  const title = `${titleOfOperation(operation.name)}: ${what} of ${cell}`;
  const description = `${title}: ${shown.length} attempts over time, ${unit || what}; a colour for each environment and set of parameters; ${lines.breaks.length} change${lines.breaks.length === 1 ? "" : "s"}.`;
  const spec = useCallback(
    (width: number, theme: Theme, picture: boolean) =>
      historySpec(shown, lines, kinds, { unit, title: what }, description, width, theme, picture),
    [shown, lines, kinds, unit, what, description],
  );
  return (
    <>
      <Chart
        title={title}
        source={sourceOf("all runs", datasetsText(study, attempts.slice(0, 1)), attempts)}
        run={cell}
        sql={sqlOf({ study, cells: attempts, cell, operations: [operation.name], metrics: [name] })}
        name={`history-${operation.name}`}
        description={description}
        legend={
          <Legend
            title="environment and parameters"
            kind="environment"
            entries={kinds.map((kind, place) => ({
              name: kind,
              label: kind,
              colour: (theme) => paint(theme, place),
            }))}
            choice={choice}
          />
        }
        spec={spec}
        table={shown.map(({ at, recorded, measured, target, text, ...point }) => point)}
        units={{ value: unit }}
        places={names}
        leads={{ choice, of: shown.map(({ target }) => target), to: toNext, what: "phases" }}
      />
      <Changes history={history} series={series} />
      <Provenance study={study} cells={attempts.slice(0, 1)} attempts={attempts} />
      <p className="sb-note">
        A cross failed, a dash was not run; attempts without a figure are at 0. A triangle is client-bound,
        or, if it points down, service-bound; a diamond was disturbed, and is not comparable; a square was
        superseded by a later try, and never counts. Warm-ups are excluded. Figures of different colours were
        measured in another environment or with other parameters: they show no change over time.
      </p>
      {attempts.length === MOST ? (
        <p className="sb-note">Only the newest {grouped(MOST)} attempts are shown.</p>
      ) : null}
    </>
  );
}

import { logLink } from "../../api/airflow";
import { all, get } from "../../api/api";
import { useLoaded } from "../../api/loading";
import { withStudy } from "../../api/study";
import type { CellPhases, Study, Turn } from "../../api/types";
import { Phases } from "../../charts/PhaseCharts";
import { cellLabel } from "../../model/cells";
import type { Choice } from "../../model/choice";
import { moment, remark } from "../../model/format";
import { toAttempts, toHistory } from "../../model/lead";
import { titleOfOperation } from "../../model/study";
import { Lead } from "../../ui/Lead";
import { Ready } from "../../ui/States";

interface Loaded {
  study: Study;
  cells: CellPhases[];
  turns: Turn[];
}

async function load(run: string, attempt: string, signal: AbortSignal): Promise<Loaded> {
  const [found, turns] = await Promise.all([
    get("/api/phases", { run, attempt }, signal),
    all("/api/turns", { run, limit: 500 }, signal),
  ]);
  const { study, items } = await withStudy(found.items, signal);
  return { study, cells: items, turns };
}

/** Show the phases of one attempt, and links to its log, cell and run. */
export function AttemptView({ run, attempt, choice }: { run: string; attempt: string; choice: Choice }) {
  const loaded = useLoaded((signal) => load(run, attempt, signal), `attempt ${run} ${attempt}`);
  return (
    <Ready of={loaded}>
      {(found) => (
        <>
          <About {...found} choice={choice} />
          {found.cells.length ? <Phases of={{ data: found }} choice={choice} single /> : null}
        </>
      )}
    </Ready>
  );
}

function About({ study, cells, turns, choice }: Loaded & { choice: Choice }) {
  const found = cells[0]?.attempt;
  if (!found)
    return (
      <p className="sb-state">
        <strong>There is no such attempt</strong> in this run.
      </p>
    );
  const log = logLink(found, turns);
  return (
    <>
      <p className="sb-line">
        {titleOfOperation(found.operation)} {cellLabel(study, found)}, repeat {found.repeat}, try{" "}
        {found.try_number}, {moment(found.recorded_at)} UTC: {remark(found)}
        {found.error ? `: ${found.error}` : ""}
      </p>
      <p className="sb-line">
        {log ? <a href={log}>its log in Airflow</a> : null}
        <Lead choice={choice} to={toAttempts(found)}>
          the attempts of its cell
        </Lead>
        <Lead choice={choice} to={toHistory(found)}>
          the cell's history
        </Lead>
        <Lead choice={choice} to={{ attempt: "" }}>
          all cells of the run
        </Lead>
      </p>
    </>
  );
}

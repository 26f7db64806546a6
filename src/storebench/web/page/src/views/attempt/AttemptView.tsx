import { logLink } from "../../api/airflow";
import { all, get } from "../../api/api";
import { useLoaded } from "../../api/loading";
import { withStudy } from "../../api/study";
import type { AttemptCounters, AttemptProfiles, CellPhases, PodUsage, Study, Turn } from "../../api/types";
import { Phases } from "../../charts/PhaseCharts";
import { cellLabel, labelled } from "../../model/cells";
import type { Choice } from "../../model/choice";
import { moment, remark } from "../../model/format";
import { toAttempts, toHistory } from "../../model/lead";
import { isDivided } from "../../model/parts";
import { titleOfOperation } from "../../model/study";
import { Lead } from "../../ui/Lead";
import { Ready } from "../../ui/States";
import { Counters } from "./Counters";
import { Parts } from "./Parts";
import { Profiles } from "./Profiles";

interface Loaded {
  study: Study;
  cells: CellPhases[];
  turns: Turn[];
  /** The pods of an attempt whose operation several pods did; else empty. */
  pods: PodUsage[];
  /** The counters of the attempt's server; empty without counters. */
  counters: AttemptCounters[];
  /** The profiles of the attempt; empty without profiles. */
  profiles: AttemptProfiles[];
}

async function load(run: string, attempt: string, signal: AbortSignal): Promise<Loaded> {
  const [phases, turns, counters, profiles] = await Promise.all([
    get("/api/phases", { run, attempt }, signal),
    all("/api/turns", { run, limit: 500 }, signal),
    all("/api/counters", { run, attempt }, signal),
    get("/api/profiles", { run, attempt }, signal),
  ]);
  const { study, items } = await withStudy(phases.items, signal);
  const divided = items.some(({ attempt }) => isDivided(attempt));
  const pods = divided ? await all("/api/pods", { run, attempt, limit: 500 }, signal) : [];
  return { study, cells: items, turns, pods, counters, profiles };
}

/** Show one attempt: its phases, the parts of an operation that several pods did, its profile, the counters of its server, and links to its log, cell and run. */
export function AttemptView({ run, attempt, choice }: { run: string; attempt: string; choice: Choice }) {
  const loaded = useLoaded((signal) => load(run, attempt, signal), `attempt ${run} ${attempt}`);
  return (
    <Ready of={loaded}>
      {(shown) => (
        <>
          <About {...shown} choice={choice} />
          {shown.cells.slice(0, shown.pods.length ? 1 : 0).map(({ attempt }) => (
            <Parts key={attempt.attempt_id} attempt={attempt} pods={shown.pods} />
          ))}
          {shown.cells.length ? <Phases of={{ data: shown }} choice={choice} single /> : null}
          {shown.profiles.map((of) => (
            <Profiles key={of.attempt_id} {...of} />
          ))}
          {shown.counters.map((of) => (
            <Counters key={of.attempt_id} {...of} />
          ))}
        </>
      )}
    </Ready>
  );
}

function About({ study, cells, turns, choice }: Loaded & { choice: Choice }) {
  const attempt = cells[0]?.attempt;
  if (!attempt)
    return (
      <p className="sb-state">
        <strong>There is no such attempt</strong> in this run.
      </p>
    );
  const log = logLink(attempt, turns);
  return (
    <>
      <p className="sb-line">
        {titleOfOperation(attempt.operation)}{" "}
        {cellLabel(study, labelled(study, attempt, [attempt.server_name]))}, repeat {attempt.repeat}, try{" "}
        {attempt.try_number}, {moment(attempt.recorded_at)} UTC: {remark(attempt)}
        {attempt.error ? `: ${attempt.error}` : ""}
      </p>
      <p className="sb-line">
        {log ? <a href={log}>its log in Airflow</a> : null}
        <Lead choice={choice} to={toAttempts(attempt)}>
          the attempts of its cell
        </Lead>
        <Lead choice={choice} to={toHistory(attempt)}>
          the cell's history
        </Lead>
        <Lead choice={choice} to={{ attempt: "" }}>
          all cells of the run
        </Lead>
      </p>
    </>
  );
}

import { Link, useSearchParams } from "react-router-dom";
import { all, useLoaded } from "./api";
import { BackfillView } from "./BackfillView";
import { Charts, Phases } from "./ChartViews";
import { CompareView } from "./CompareView";
import { Costs } from "./Costs";
import type { Choice, Choose } from "./choice";
import { HistoryView } from "./HistoryView";
import { RunMenu, useRuns } from "./Runs";
import { RunView } from "./RunView";
import { NoResults, Ready } from "./States";
import { TableView } from "./TableView";
import type { CellFigures, CellPhases, Operation, Run } from "./types";

const VIEWS = {
  run: "Run",
  charts: "Charts",
  phases: "Where the time went",
  compare: "Compare",
  history: "History",
  table: "Table",
  backfill: "Backfill",
} as const;
type View = keyof typeof VIEWS;
/** The states of runs that have something to compare with. */
const ENDED = new Set<Run["state"]>(["success", "failed"]);

/** What Airflow tells a page that is on a DAG, or on a run of it. */
export interface Props {
  dagId?: string;
  runId?: string;
}

/** The page: what is looked at is in its address, so that it can be shared. */
export function Results({ dagId, runId }: Props) {
  const runs = useRuns(dagId);
  return (
    <div className="sb-page">
      <Ready of={runs}>{({ items }) => <Views runs={items} dagId={dagId} runId={runId} />}</Ready>
    </div>
  );
}

function Views({ runs, dagId, runId }: Props & { runs: Run[] }) {
  const [asked, setAsked] = useSearchParams();
  const view: View = (asked.get("view") as View) in VIEWS ? (asked.get("view") as View) : "run";
  const run = asked.get("run") ?? (dagId && runId ? `${dagId}/${runId}` : runs[0]?.id);
  const choose: Choose = (changes, replace = false) =>
    setAsked(
      (before) => {
        const after = new URLSearchParams(before);
        for (const [name, value] of Object.entries(changes))
          value ? after.set(name, value) : after.delete(name);
        return after;
      },
      { replace },
    );
  const choice = { asked, choose };
  const link = (name: string) => {
    const to = new URLSearchParams(asked);
    to.set("view", name);
    if (run) to.set("run", run);
    return `?${to}`;
  };
  return (
    <>
      <nav aria-label="Views" className="sb-views">
        {Object.entries(VIEWS).map(([name, title]) => (
          <Link key={name} to={link(name)} aria-current={name === view ? "page" : undefined}>
            {title}
          </Link>
        ))}
      </nav>
      <h2>{VIEWS[view]}</h2>
      {view === "backfill" ? <BackfillView dagId={dagId} asked={asked} choose={choose} /> : null}
      {view !== "backfill" && runs.length ? (
        <Measured view={view} run={run} runs={runs} choice={choice} />
      ) : null}
      {view !== "backfill" && !runs.length ? <NoResults /> : null}
    </>
  );
}

/** The views of what was measured. */
function Measured({
  view,
  run,
  runs,
  choice,
}: {
  view: View;
  run: string | undefined;
  runs: Run[];
  choice: Choice & { asked: URLSearchParams };
}) {
  const { asked, choose } = choice;
  return (
    <>
      {view === "compare" || view === "history" ? null : (
        <div className="sb-fields">
          <RunMenu label="Run" chosen={run} runs={runs} onChoose={(id) => choose({ run: id })} />
        </div>
      )}
      {view === "run" && run ? <RunView run={run} /> : null}
      {view === "charts" && run ? <ChartsOf run={run} choice={choice} /> : null}
      {view === "phases" && run ? <PhasesOf run={run} choice={choice} /> : null}
      {view === "compare" ? (
        <CompareView
          runs={runs}
          before={asked.get("before") ?? runs.find((one) => ENDED.has(one.state) && one.id !== run)?.id}
          after={asked.get("after") ?? run}
          choose={choose}
        />
      ) : null}
      {view === "history" ? (
        <HistoryView
          cell={asked.get("cell") ?? undefined}
          operation={asked.get("operation") === "read" ? "read" : ("write" as Operation)}
          choice={choice}
        />
      ) : null}
      {view === "table" ? <TableView run={run} asked={asked} choose={choose} /> : null}
    </>
  );
}

function ChartsOf({ run, choice }: { run: string; choice: Choice }) {
  const loaded = useLoaded((signal) => all<CellFigures>("cells", { run }, signal), `cells ${run}`, 30_000);
  return (
    <>
      <Charts of={loaded} choice={choice} />
      {loaded.data?.length ? <Costs run={run} cells={loaded.data} choice={choice} /> : null}
    </>
  );
}

function PhasesOf({ run, choice }: { run: string; choice: Choice }) {
  const loaded = useLoaded((signal) => all<CellPhases>("phases", { run }, signal), `phases ${run}`, 30_000);
  return <Phases of={loaded} choice={choice} />;
}

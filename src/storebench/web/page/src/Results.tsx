import { useEffect, useMemo, useRef } from "react";
import { Link, useSearchParams } from "react-router-dom";
import { all, get, type Item } from "./api/api";
import { type Loaded, useLoaded } from "./api/loading";
import { withStudy } from "./api/study";
import type { Run } from "./api/types";
import { type Charted, Charts, type Of } from "./charts/ChartViews";
import { Costs } from "./charts/Costs";
import { vega } from "./charts/drawing";
import { Phases } from "./charts/PhaseCharts";
import { type Choice, type Choose, changed } from "./model/choice";
import { NoResults, Ready } from "./ui/States";
import { AttemptView } from "./views/attempt/AttemptView";
import { BackfillView } from "./views/backfill/BackfillView";
import { CompareView } from "./views/compare/CompareView";
import { HistoryView } from "./views/history/HistoryView";
import { RankingView } from "./views/ranking/RankingView";
import { OfRun } from "./views/run/OfRun";
import { defaultRun, earlier, RunMenu, useNewest, useRuns } from "./views/run/Runs";
import { RunView } from "./views/run/RunView";
import { StartView } from "./views/start/StartView";
import { TableView } from "./views/table/TableView";

const VIEWS = {
  run: "Run",
  charts: "Charts",
  phases: "Where the time went",
  ranking: "Ranking",
  compare: "Compare",
  history: "History",
  table: "Table",
  start: "Start",
  backfill: "Backfill",
} as const;
type View = keyof typeof VIEWS;
/** The views of one run. */
const OF_RUN: Partial<Record<View, true>> = { run: true, charts: true, phases: true, table: true };
const OF_SEVERAL: Partial<Record<View, true>> = { ranking: true, compare: true, history: true };
/** The parameters that narrow a view to a single cell or attempt. The navigation's links reset them. */
const OF_ONE = { only: "", attempt: "" };

const WITH_CHARTS: Partial<Record<View, true>> = { charts: true, phases: true, compare: true, history: true };

/** The views of a study's DAG, whether it ever ran or not. */
const OF_A_DAG: Partial<Record<View, true>> = { start: true, backfill: true };

/** The properties that Airflow passes to a page of a DAG or of a run. */
export interface Props {
  dagId?: string;
  runId?: string;
}

/** Show the page. The view is in the page's address, so that a link shares it. */
export function Results({ dagId, runId }: Props) {
  const [asked] = useSearchParams();
  const runs = useRuns(dagId);
  const named = asked.get("run") ?? (dagId && runId ? `${dagId}/${runId}` : undefined);
  // a single run loads sooner than the list of runs
  const alone = viewIn(asked) === "run" && !runs.data;
  const newest = useNewest(alone && !named && !dagId);
  // until the list has loaded, the view of the run reports problems
  const known: Loaded<Parameters<typeof defaultRun>[0]> =
    alone && (named || newest) ? { data: onlyRun(newest) } : runs;
  return (
    <div className="sb-page">
      <Ready of={known}>
        {(list) => <Views runs={list.items} shown={named ?? defaultRun(list)} dagId={dagId} />}
      </Ready>
    </div>
  );
}

/** Return a list of at most one run, for use until the list of runs has loaded. */
const onlyRun = (run?: Run) => ({ items: run ? [run] : [], latest: run?.id });

function viewIn(asked: URLSearchParams): View {
  const view = asked.get("view") ?? "";
  return view in VIEWS ? (view as View) : "run";
}

function Views({
  runs,
  shown: run,
  dagId,
}: Pick<Props, "dagId"> & { runs: Run[]; shown: string | undefined }) {
  const [asked, setAsked] = useSearchParams();
  const view = viewIn(asked);
  useEffect(() => {
    // load Vega while the figures load
    if (view in WITH_CHARTS) vega().catch(() => {});
  }, [view]);
  // memoized, so that a new list of runs does not redraw the view
  const choice = useMemo(() => {
    const choose: Choose = (changes, replace = false) =>
      setAsked((before) => changed(before, changes), { replace });
    const link = (changes: Record<string, string>) =>
      `?${changed(asked, { ...(run ? { run } : {}), ...changes })}`;
    return { asked, choose, link };
  }, [asked, setAsked, run]);
  const { choose, link } = choice;
  return (
    <>
      <nav aria-label="Views" className="sb-views">
        {Object.entries(VIEWS).map(([name, title]) => (
          <Link
            key={name}
            to={link({ view: name, ...OF_ONE })}
            aria-current={name === view ? "page" : undefined}
          >
            {title}
          </Link>
        ))}
      </nav>
      <h2>{VIEWS[view]}</h2>
      {view === "start" ? <StartView dagId={dagId} asked={asked} choose={choose} /> : null}
      {view === "backfill" ? <BackfillView dagId={dagId} asked={asked} choose={choose} /> : null}
      {!(view in OF_A_DAG) && run ? (
        <Measured view={view} run={run} runs={runs} choice={choice} dagId={dagId} />
      ) : null}
      {!(view in OF_A_DAG) && !run ? <NoResults /> : null}
    </>
  );
}

/** Show a view of measurements. */
function Measured({
  view,
  run,
  runs,
  choice,
  dagId,
}: {
  view: View;
  run: string;
  runs: Run[];
  choice: Choice & { asked: URLSearchParams };
  dagId: string | undefined;
}) {
  const { asked, choose } = choice;
  return (
    <>
      {view in OF_SEVERAL ? null : (
        <div className="sb-fields">
          <RunMenu
            label="Run"
            chosen={run}
            runs={runs}
            onChoose={(id) => choose({ run: id, metric: "", ...OF_ONE })}
          />
        </div>
      )}
      {view in OF_RUN ? (
        <OfRun run={run} runs={runs}>
          {(measured) => (
            <>
              {view === "run" ? <RunView run={run} choice={choice} /> : null}
              {view === "charts" ? <ChartsOf run={measured} choice={choice} /> : null}
              {view === "phases" ? <PhasesOf run={measured} choice={choice} /> : null}
              {view === "table" ? <TableView run={run} {...choice} /> : null}
            </>
          )}
        </OfRun>
      ) : null}
      {view === "ranking" ? (
        <RankingView
          study={dagId ?? runs.find(({ id }) => id === run)?.study ?? run.split("/")[0] ?? ""}
          only={dagId !== undefined}
          asked={asked}
          choice={choice}
        />
      ) : null}
      {view === "compare" ? (
        <CompareView
          runs={runs}
          before={asked.get("before") ?? earlier(runs, asked.get("after") ?? run)?.id}
          after={asked.get("after") ?? run}
          metric={asked.get("metric") ?? undefined}
          by={asked.get("by") ?? undefined}
          choice={choice}
        />
      ) : null}
      {view === "history" ? (
        <HistoryView
          cell={asked.get("cell") ?? undefined}
          operation={asked.get("operation") ?? undefined}
          metric={asked.get("metric") ?? undefined}
          choice={choice}
        />
      ) : null}
    </>
  );
}

/** Load an answer about a run's cells, and their study. */
async function loadCells<P extends "/api/cells" | "/api/phases">(
  path: P,
  run: string,
  signal: AbortSignal,
): Promise<Of<Item<P>>> {
  const { study, items } = await withStudy(await all(path, { run }, signal), signal);
  return { study, cells: items };
}

/** Load the data of a run's charts. Distributions and series are requested only if the study has any. */
async function loadCharts(run: string, signal: AbortSignal): Promise<Charted> {
  const figures = await loadCells("/api/cells", run, signal);
  const more = figures.study.metrics.some((metric) => metric.kind !== "scalar");
  return { ...figures, artifacts: more ? await all("/api/artifacts", { run }, signal) : [] };
}

const isGoing = (run: Run) => run.state === "running";

/** Load data about a run's attempts, again only if a new attempt exists. The check is frequent while the run goes on. */
function useAttemptsOf<T>(what: string, run: Run, load: (run: string, signal: AbortSignal) => Promise<T>) {
  const before = useRef<{ key: string; data: T }>(undefined);
  return useLoaded(
    async (signal) => {
      const query = { run: run.id, limit: 1 };
      const [newest] = (await get("/api/attempts", query, signal)).items;
      const key = `${run.id} ${newest?.attempt_id}`;
      if (before.current?.key !== key) before.current = { key, data: await load(run.id, signal) };
      return before.current.data;
    },
    `${what} ${run.id}`,
    isGoing(run) ? 5000 : 30_000,
  );
}

function ChartsOf({ run, choice }: { run: Run; choice: Choice }) {
  const loaded = useAttemptsOf("cells", run, loadCharts);
  return (
    <>
      {isGoing(run) ? (
        <p className="sb-line">This run goes on: bars and lines appear when an attempt has ended.</p>
      ) : null}
      <Charts of={loaded} choice={choice} />
      {loaded.data?.cells.length ? <Costs choice={choice} {...loaded.data} /> : null}
    </>
  );
}

const loadPhases = (run: string, signal: AbortSignal) => loadCells("/api/phases", run, signal);

function PhasesOf({ run, choice }: { run: Run; choice: Choice }) {
  const attempt = choice.asked.get("attempt");
  return attempt ? (
    <AttemptView run={run.id} attempt={attempt} choice={choice} />
  ) : (
    <AllPhases run={run} choice={choice} />
  );
}

function AllPhases({ run, choice }: { run: Run; choice: Choice }) {
  return <Phases of={useAttemptsOf("phases", run, loadPhases)} choice={choice} />;
}

import { useEffect, useMemo, useRef } from "react";
import { useSearchParams } from "react-router-dom";
import { all, get, type Item } from "./api/api";
import { type Loaded, useLoaded } from "./api/loading";
import { withStudy } from "./api/study";
import type { Run } from "./api/types";
import { type Charted, Charts, type Of } from "./charts/ChartViews";
import { Costs } from "./charts/Costs";
import { vega } from "./charts/drawing";
import { Phases } from "./charts/PhaseCharts";
import { type Choice, type Choose, changed } from "./model/choice";
import { chosenStudy, OF_RUN, studyIn, titleOfView, type View, viewIn } from "./model/navigation";
import { Loading, NoResults, Ready } from "./ui/States";
import { AttemptView } from "./views/attempt/AttemptView";
import { BackfillView } from "./views/backfill/BackfillView";
import { CompareView } from "./views/compare/CompareView";
import { HistoryView } from "./views/history/HistoryView";
import { Navigation, OF_ONE, StudyMenu } from "./views/Navigation";
import { OverviewView } from "./views/overview/OverviewView";
import { RankingView } from "./views/ranking/RankingView";
import { OfRun } from "./views/run/OfRun";
import { RunMenu } from "./views/run/RunMenu";
import { defaultRun, earlier, useNewest, useRuns } from "./views/run/Runs";
import { RunView } from "./views/run/RunView";
import { SizesView } from "./views/sizes/SizesView";
import { StartView } from "./views/start/StartView";
import { TableView } from "./views/table/TableView";

const WITH_CHARTS: Partial<Record<View, true>> = {
  charts: true,
  phases: true,
  compare: true,
  history: true,
  sizes: true,
};

/** The views of a study that do not need a run. */
const WITHOUT_RUN: Partial<Record<View, true>> = { overview: true, start: true, backfill: true };

/** The properties that Airflow passes to a page of a DAG or of a run. */
export interface Props {
  dagId?: string;
  runId?: string;
}

/** Show the page. The view, the study and the run are in the page's address, so that a link shares them. */
export function Results({ dagId, runId }: Props) {
  const [asked] = useSearchParams();
  const runs = useRuns(dagId ?? asked.get("study") ?? undefined);
  const named = asked.get("run") ?? (dagId && runId ? `${dagId}/${runId}` : undefined);
  const view = viewIn(asked, named !== undefined);
  // a single run loads sooner than the list of runs
  const alone = view === "run" && !runs.data;
  const newest = useNewest(alone && !named && !dagId);
  // until the list has loaded, the view of the run reports problems
  const known: Loaded<Parameters<typeof defaultRun>[0]> =
    alone && (named || newest) ? { data: onlyRun(newest) } : runs;
  // while the list of another study loads, the navigation and its focus stay
  const before = useRef(known.data);
  if (known.data) before.current = known.data;
  const isOld = !known.data && !known.problem;
  return (
    <div className="sb-page">
      <Ready of={isOld && before.current ? { data: before.current } : known}>
        {(list) => (
          <Views
            view={view}
            runs={list.items}
            named={named}
            newest={list.latest}
            dagId={dagId}
            isOld={isOld}
          />
        )}
      </Ready>
    </div>
  );
}

/** Return a list of at most one run, for use until the list of runs has loaded. */
const onlyRun = (run?: Run) => ({ items: run ? [run] : [], latest: run?.id });

function Views({
  view,
  runs: all,
  named,
  newest,
  dagId,
  isOld,
}: Pick<Props, "dagId"> & {
  view: View;
  runs: Run[];
  /** The run that the address names. */
  named: string | undefined;
  newest: string | null | undefined;
  /** Whether the list is of the former study, because another list is loading. */
  isOld: boolean;
}) {
  const [asked, setAsked] = useSearchParams();
  const study = dagId ?? studyIn(asked, view, { named, newest: newest ?? all[0]?.id, runs: all });
  const runs = all.filter((run) => run.study === study || run.dag_id === study);
  const run = named ?? defaultRun({ items: runs, latest: runs.find(({ id }) => id === newest)?.id });
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
      <Navigation view={view} link={link} />
      <div className="sb-top">
        {dagId ? null : (
          <StudyMenu
            chosen={study}
            runs={all}
            onChoose={(name) => choose({ ...chosenStudy(asked, name), view })}
          />
        )}
        {view in OF_RUN && run ? (
          <RunMenu
            label="Run"
            chosen={run}
            runs={runs}
            dag={dagId ?? study}
            onChoose={(id) => choose({ run: id, view, metric: "", ...OF_ONE })}
          />
        ) : null}
      </div>
      <h2>{titleOfView(view)}</h2>
      {view === "start" ? <StartView dagId={study} asked={asked} choose={choose} /> : null}
      {view === "backfill" ? <BackfillView dagId={study} asked={asked} choose={choose} /> : null}
      {!(view in WITHOUT_RUN) && run ? (
        <Measured view={view} run={run} runs={runs} study={study ?? ""} choice={choice} />
      ) : null}
      {view === "overview" ? (
        <OverviewView
          study={study}
          runs={all}
          isListed={!isOld && (dagId ?? asked.get("study")) === study}
          only={dagId !== undefined}
          choice={choice}
        />
      ) : null}
      {!(view in WITHOUT_RUN) && !run ? isOld ? <Loading /> : <NoResults /> : null}
    </>
  );
}

/** Show a view of measurements. */
function Measured({
  view,
  run,
  runs,
  study,
  choice,
}: {
  view: View;
  run: string;
  runs: Run[];
  study: string;
  choice: Choice & { asked: URLSearchParams };
}) {
  const { asked } = choice;
  return (
    <>
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
      {view === "ranking" ? <RankingView study={study} only asked={asked} choice={choice} /> : null}
      {view === "sizes" ? <SizesView study={study} choice={choice} /> : null}
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

import { Link } from "react-router-dom";
import { studies } from "../../api/airflow";
import { useLoaded } from "../../api/loading";
import type { Run } from "../../api/types";
import { type Choice, changed } from "../../model/choice";
import { chosenStudy } from "../../model/navigation";
import { pairOf, repeatOf, summaryOf } from "../../model/overview";
import { type Ranked, rankKey } from "../../model/ranking";
import { titleOfOperation } from "../../model/study";
import { StateBadge } from "../../ui/Badge";
import { Card } from "../../ui/Card";
import { textOf, textsOf } from "../../ui/Parameters";
import { Ready } from "../../ui/States";
import { counts, runName, runParts } from "../run/Runs";
import { FirstRun, FirstRuns } from "./FirstRun";
import { loadFirst, loadOthers, loadRanking, overviewKey } from "./load";
import { AnswerBars, Answers } from "./StudyAnswer";

const NEWEST = 5;
const MOST_STUDIES = 6;

interface Props {
  study: string | undefined;
  /** The newest runs of all studies, or of the page's DAG. */
  runs: Run[];
  /** Whether the list of runs is complete for the study: without a run, the study has no results. */
  isListed: boolean;
  /** Whether the page shows only this study. */
  only: boolean;
  choice: Choice & { asked: URLSearchParams };
}

/** Show the answer of a study: who is best, the ranked bars, the newest runs, and the next step. Then the answers of other studies. */
export function OverviewView({ study, runs, isListed, only, choice }: Props) {
  if (study === undefined) return <FirstRuns choice={choice} />;
  const ofStudy = runs.filter((run) => run.study === study || run.dag_id === study);
  return (
    <>
      {isListed && !ofStudy.length ? (
        <FirstRun key={study} dag={study} choice={choice} />
      ) : (
        <StudyCard key={study} study={study} runs={ofStudy} choice={choice} />
      )}
      {ofStudy.length ? <NewestRuns runs={ofStudy.slice(0, NEWEST)} choice={choice} /> : null}
      {only ? null : <OtherStudies study={study} runs={runs} choice={choice} />}
    </>
  );
}

function StudyCard({ study, runs, choice }: { study: string; runs: Run[]; choice: Props["choice"] }) {
  const loaded = useLoaded((signal) => loadRanking(study, undefined, signal), overviewKey(study));
  return (
    <Ready of={loaded}>
      {(first) =>
        first && (first.ranking.ranked.length || first.ranking.excluded.length) ? (
          <Answered first={first} runs={runs} choice={choice} />
        ) : (
          <FirstRun dag={study} choice={choice} />
        )
      }
    </Ready>
  );
}

function Answered({ first, runs, choice }: { first: Ranked; runs: Run[]; choice: Props["choice"] }) {
  const { study } = first;
  const { data: others = [] } = useLoaded(
    (signal) => loadOthers(first, signal),
    `other operations ${study.name} ${first.ranking.operation}`,
  );
  const all = [first, ...others];
  const shown = all.find(({ ranking }) => ranking.operation === choice.asked.get("operation")) ?? first;
  return (
    <Card
      title={study.title || study.name}
      className="sb-overview"
      menu={
        <Link
          className="sb-button"
          to={link(choice, {
            view: "ranking",
            [rankKey("study")]: study.name,
            [rankKey("operation")]: shown.ranking.operation,
            [rankKey("include")]: shown.ranking.included.join(","),
          })}
        >
          Ranking
        </Link>
      }
    >
      <Answers of={all} />
      {all.length > 1 ? (
        <fieldset className="sb-key sb-segments" aria-label="Operation of the bars">
          {all.map(({ ranking: { operation } }) => (
            <button
              key={operation}
              type="button"
              aria-pressed={operation === shown.ranking.operation}
              onClick={() => choice.choose({ operation }, true)}
            >
              {titleOfOperation(operation)}
            </button>
          ))}
        </fieldset>
      ) : null}
      <AnswerBars {...shown} choice={choice} />
      <NextStep ranked={shown} runs={runs} choice={choice} />
    </Card>
  );
}

/** Return a link within the page. */
const link = (choice: Props["choice"], changes: Record<string, string>) =>
  choice.link ? choice.link(changes) : `?${changed(choice.asked, changes)}`;

/** Show the next sensible step as the first button: repeat what is undecided, or compare runs, or start a run. */
function NextStep({ ranked, runs, choice }: { ranked: Ranked; runs: Run[]; choice: Props["choice"] }) {
  const { outcome } = summaryOf(ranked);
  const dag = runs[0]?.dag_id ?? ranked.study.name;
  const pair = pairOf(runs);
  const start = link(choice, { view: "start", dag, conf: "" });
  const repeat = link(choice, {
    view: "start",
    dag,
    conf: textOf(textsOf(repeatOf(ranked.ranking, runs))),
  });
  const compare = pair && link(choice, { view: "compare", metric: "", by: "", ...pair });
  const steps = [
    ...(outcome === "undecided" ? [{ to: repeat, text: "Repeat to decide" }] : []),
    ...(outcome === "decided" || outcome === "equal" ? [{ to: compare, text: "Compare runs" }] : []),
    { to: start, text: "Start a run" },
    ...(outcome === "undecided" ? [{ to: compare, text: "Compare runs" }] : []),
  ].flatMap(({ to, text }) => (to ? [{ to, text }] : []));
  return (
    <p className="sb-steps">
      {steps.map(({ to, text }, place) => (
        <Link key={text} className={place === 0 ? "sb-button sb-primary" : "sb-button"} to={to}>
          {text}
        </Link>
      ))}
    </p>
  );
}

function NewestRuns({ runs, choice }: { runs: Run[]; choice: Props["choice"] }) {
  return (
    <Card title="Newest runs">
      <ul className="sb-runs">
        {runs.map((run) => (
          <li key={run.id}>
            <StateBadge state={run.state} />{" "}
            <Link to={link(choice, { view: "run", run: run.id })} title={run.id}>
              {runParts(run).slice(1).join(" · ")}
            </Link>{" "}
            <span className="sb-note">{run.state === "refused" ? run.reason : counts(run)}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Show other studies with the newest first, each with its first sentence. */
function OtherStudies({ study, runs, choice }: Omit<Props, "only" | "isListed">) {
  const { data: dags = [] } = useLoaded(studies, "studies of the overview");
  const names = [...new Set([...runs.map((run) => run.study), ...dags.map(({ dag_id }) => dag_id)])];
  const others = names.filter((name) => name !== study).slice(0, MOST_STUDIES);
  const measured = others.filter((name) => runs.some((run) => run.study === name));
  const { data: answers } = useLoaded(
    (signal) => loadFirst(measured, signal),
    `overview of ${measured.join(" ")}`,
  );
  if (!others.length) return null;
  return (
    <Card title="Other studies">
      <ul className="sb-studies">
        {others.map((name) => {
          const ranked = answers?.get(name);
          const newest = runs.find((run) => run.study === name);
          const summary = ranked ? summaryOf(ranked) : undefined;
          return (
            <li key={name}>
              <Link
                to={`?${changed(choice.asked, { ...chosenStudy(choice.asked, name), view: "overview" })}`}
              >
                {ranked?.study.title || name}
              </Link>{" "}
              {ranked?.study.title ? <code className="sb-muted">{name}</code> : null}{" "}
              {newest ? <StateBadge state={newest.state} /> : null}
              <div>
                {summary
                  ? `${summary.headline} ${summary.text}`
                  : newest
                    ? runName(newest)
                    : "Nothing is measured yet."}
              </div>
            </li>
          );
        })}
      </ul>
    </Card>
  );
}

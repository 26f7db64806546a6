import { Fragment } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import type {
  Attempt,
  CellArtifacts,
  CellFigures,
  CellPhases,
  Claims,
  Ranking,
  Run,
  Study,
  Turn,
} from "./api/types";
import { Figures } from "./charts/Chart";
import { Charts, useOwnChoice } from "./charts/ChartViews";
import { Costs } from "./charts/Costs";
import { tableSpec } from "./charts/charts";
import { drawWhileLoading } from "./charts/drawing";
import { Exports } from "./charts/Exports";
import { Phases } from "./charts/PhaseCharts";
import { common, shown, taken } from "./model/attempts";
import { byCell, datasetsText } from "./model/cells";
import type { Choice } from "./model/choice";
import { cellText } from "./model/format";
import { sourceOf } from "./model/provenance";
import { sqlOf, sqlOfEnvironments } from "./model/sql";
import styles from "./styles.css?inline";
import { Card } from "./ui/Card";
import { AnswerBars, Answers } from "./views/overview/StudyAnswer";
import { ClaimTable, measuredIn } from "./views/ranking/Claims";
import { runName } from "./views/run/Runs";
import { Grid, squaresOf } from "./views/run/RunView";
import { Site, type SiteContent } from "./views/site/Site";
import { type RankingsContent, SiteRankings } from "./views/site/SiteRankings";

/** The content of a run's page, which `storebench report` and `storebench site` write into the page's file. */
export interface Content {
  /** The address of the site's first page, on a site. */
  home?: string;
  run: Run;
  study: Study;
  turns: Turn[];
  cells: CellFigures[];
  /** The warm-ups, which are not in `cells`. */
  warm_ups: Attempt[];
  artifacts: CellArtifacts[];
  phases: CellPhases[];
  claims: Claims;
  /** The ranking of each operation by the attempts of this run alone. */
  overview: Ranking[];
  environments: Record<string, unknown>[];
}

export function Report({
  content: { home, run, study, turns, cells, warm_ups, artifacts, phases, claims, overview, environments },
}: {
  content: Content;
}) {
  const attempts = [...cells].sort(byCell).flatMap((cell) => cell.attempts);
  const choice = useOwnChoice();
  const tried = [...attempts, ...warm_ups];
  const squares = squaresOf(run, study, turns, tried, new Map());
  const [same, different] = common(shown(study, attempts));
  const source = sourceOf(run.id, datasetsText(study, cells), attempts);
  const details = [...new Set(environments.flatMap((environment) => Object.keys(environment)))];
  const described = details.map(
    (name): Record<string, string> => ({
      detail: name,
      ...Object.fromEntries(
        environments.map((environment) => [
          String(environment.hash).slice(0, 8),
          cellText(name, environment[name]),
        ]),
      ),
    }),
  );
  return (
    <main className="sb-page">
      {home ? (
        <nav aria-label="Site" className="sb-line">
          <a href={home}>All runs</a>
        </nav>
      ) : null}
      <h1>{runName(run)}</h1>
      <RunOverview study={study} overview={overview} choice={choice} />
      <h2>Run</h2>
      <Grid live={{ run, study, turns, attempts: tried, squares }} choice={choice} written />
      <h2>Charts</h2>
      <Charts of={{ data: { study, cells, artifacts } }} choice={choice} />
      {cells.length ? <Costs study={study} cells={cells} choice={choice} /> : null}
      <ClaimTable answer={measuredIn(claims)} />
      <h2>Where the time went</h2>
      <Phases of={{ data: { study, cells: phases } }} choice={choice} />
      <h2>Attempts</h2>
      <Exports
        run={run.id}
        sql={sqlOf({ study, cells, runs: [run.id] })}
        name="attempts"
        title="the attempts"
        source={source}
        table={taken(study, attempts)}
        spec={(_, theme) => tableSpec(shown(study, attempts), theme)}
      />
      {Object.keys(same).length ? (
        <p className="sb-line">
          Equal in all attempts:{" "}
          {Object.entries(same)
            .map(([name, text]) => `${name} ${text}`)
            .join(" · ")}
        </p>
      ) : null}
      <div className="sb-dense">
        <Figures table={different} caption="Every attempt" />
      </div>
      <h2>Environments</h2>
      <Exports
        run={run.id}
        sql={sqlOfEnvironments(run.id)}
        name="environments"
        title="the environments"
        source={source}
        table={environments.map((environment) => ({ run: run.id, ...environment }))}
        spec={(_, theme) => tableSpec(described, theme)}
      />
      <div className="sb-long">
        <Figures table={described} caption="The environments in which it was measured" />
      </div>
    </main>
  );
}

/** Show for each operation of a run a sentence, and the ranked bars; nothing if nothing can be ranked. */
function RunOverview({ study, overview, choice }: Pick<Content, "study" | "overview"> & { choice: Choice }) {
  if (!overview.length) return null;
  return (
    <Card title="Overview" heading="h2" className="sb-overview">
      <p className="sb-note">By the attempts of this run alone.</p>
      {overview.map((ranking) => (
        <Fragment key={ranking.operation}>
          <Answers of={[{ study, ranking }]} />
          <AnswerBars study={study} ranking={ranking} choice={choice} />
        </Fragment>
      ))}
    </Card>
  );
}

/** Show the content of a file: a site's first page, rankings, or a run. */
function Written({ content }: { content: Content | RankingsContent | { site: SiteContent } }) {
  if ("site" in content) return <Site site={content.site} />;
  return "rankings" in content ? <SiteRankings content={content} /> : <Report content={content} />;
}

const style = document.createElement("style");
style.textContent = styles;
document.head.append(style);
const content = document.getElementById("content");
const root = document.getElementById("report");
if (content?.textContent && root) {
  drawWhileLoading();
  const written = <Written content={JSON.parse(content.textContent)} />;
  // render synchronously, so that the charts begin to draw before the page has loaded
  flushSync(() => createRoot(root).render(written));
}

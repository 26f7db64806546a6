import type { Claims, Ranking, Study } from "../../api/types";
import { useOwnChoice } from "../../charts/ChartViews";
import { datasetsText } from "../../model/cells";
import { titleOfOperation } from "../../model/study";
import { ClaimTable } from "../ranking/Claims";
import { RankingTables, titleOfRanking } from "../ranking/RankingView";

/** The content of a page of rankings, which `storebench site` writes into the page's file. */
export interface RankingsContent {
  /** The address of the site's first page. */
  home: string;
  study: Study;
  rankings: Ranking[];
  claims: Claims;
}

/** Show all rankings of a study, stacked: a page without an API cannot offer choices. */
export function SiteRankings({ content: { home, study, rankings, claims } }: { content: RankingsContent }) {
  const choice = useOwnChoice();
  return (
    <main className="sb-page">
      <nav aria-label="Site" className="sb-line">
        <a href={home}>All runs</a>
      </nav>
      <h1>Ranking of {study.title}</h1>
      {rankings.map((ranking) => {
        const dataset = datasetsText(study, [...ranking.ranked, ...ranking.excluded]);
        const name = `${titleOfRanking(ranking)}, ${dataset}`;
        return (
          <section key={name} aria-label={name}>
            <h2>
              {titleOfOperation(ranking.operation)}, {dataset}
            </h2>
            <RankingTables study={study} ranking={ranking} choice={choice} among={`: ${name}`} />
          </section>
        );
      })}
      <ClaimTable answer={claims} />
    </main>
  );
}

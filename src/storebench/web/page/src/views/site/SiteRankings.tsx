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
      {rankings.map((found) => {
        const dataset = datasetsText(study, [...found.ranked, ...found.excluded]);
        const name = `${titleOfRanking(found)}, ${dataset}`;
        return (
          <section key={name} aria-label={name}>
            <h2>
              {titleOfOperation(found.operation)}, {dataset}
            </h2>
            <RankingTables study={study} found={found} choice={choice} among={`: ${name}`} />
          </section>
        );
      })}
      <ClaimTable found={claims} />
    </main>
  );
}

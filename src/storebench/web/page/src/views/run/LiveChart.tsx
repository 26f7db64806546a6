import type { Attempt, Study } from "../../api/types";
import { labels } from "../../model/cells";
import type { Choice } from "../../model/choice";
import { toAttempts } from "../../model/lead";
import { type LiveRanking, type LiveResult, liveRanking } from "../../model/live";
import { titleOfOperation } from "../../model/study";
import { compared, digits } from "../../model/units";
import { Lead } from "../../ui/Lead";
import { colourOf, useTheme } from "../../ui/theme";

const MOST = 12;

/** Show the results of a run so far: for each operation a bar for each cell, from best to worst. */
export function LiveCharts({
  study,
  attempts,
  operations,
  choice,
}: {
  study: Study;
  attempts: Attempt[];
  operations: string[];
  choice: Choice;
}) {
  const rankings = operations.flatMap((operation) => {
    const ranking = liveRanking(study, attempts, operation);
    return ranking ? [{ operation, ranking }] : [];
  });
  if (!rankings.length) return null;
  return (
    <div className="sb-live">
      {rankings.map(({ operation, ranking }) => (
        <Bars key={operation} {...{ study, operation, ranking, choice }} />
      ))}
    </div>
  );
}

/** Describe the place of a result: the best, the ratio to the best, or the reason why the result has no rank. */
function placeText({ ratio, limit, disturbed }: LiveResult, unit: string, several: boolean): string {
  if (limit) return "floor";
  if (disturbed) return "◆ disturbed";
  if (ratio === null || !several) return "";
  return ratio === 1 ? "best" : `${digits(ratio, 3)}× ${unit === "s" ? "slower" : "worse"}`;
}

function Bars({
  study,
  operation,
  ranking: { metric, results },
  choice,
}: {
  study: Study;
  operation: string;
  ranking: LiveRanking;
  choice: Choice;
}) {
  const theme = useTheme();
  const name = labels(
    study,
    results.map(({ cell }) => cell),
  );
  const figures = compared(
    metric.unit,
    results.map(({ value }) => value),
  );
  const several = results.filter(({ ratio }) => ratio !== null).length > 1;
  const most = Math.max(...results.map(({ value }) => value));
  const stores = study.stores.map((store) => store.name);
  const colour = ({ cell }: LiveResult) =>
    colourOf(theme, Math.max(0, stores.indexOf(cell.store.split("@")[0] as string)));
  return (
    <section aria-label={`Results of ${operation}`} className="sb-bars">
      <h3>
        {titleOfOperation(operation)}: {metric.title}
      </h3>
      <p className="sb-about">{metric.better} is better; median; a hollow bar is a single measurement</p>
      <ol>
        {results.slice(0, MOST).map((result) => (
          <li key={result.cell.cell_key} className={several && result.ratio === 1 ? "sb-best" : undefined}>
            <Lead choice={choice} to={toAttempts(result.cell)}>
              {name(result.cell)}
            </Lead>
            <span className="sb-bar-row">
              <span className="sb-track" aria-hidden="true">
                <span
                  className={result.n === 1 ? "sb-bar sb-hollow" : "sb-bar"}
                  style={{
                    borderColor: colour(result),
                    color: colour(result),
                    width: `${most > 0 ? Math.max(1, (100 * result.value) / most) : 1}%`,
                  }}
                />
              </span>
              <span className="sb-bar-text">
                {figures.text(result.value)} <span className="sb-about">n {result.n}</span>{" "}
                {placeText(result, metric.unit, several)}
              </span>
            </span>
          </li>
        ))}
      </ol>
      {results.length > MOST ? (
        <p className="sb-about">
          The best {MOST} of {results.length}.{" "}
          <Lead choice={choice} to={{ view: "charts" }}>
            Charts show all.
          </Lead>
        </p>
      ) : null}
    </section>
  );
}

import type { Attempt, Study } from "../../api/types";
import { labels } from "../../model/cells";
import type { Choice } from "../../model/choice";
import { toAttempts } from "../../model/lead";
import { type LiveRanking, type LiveResult, liveRanking } from "../../model/live";
import { titleOfOperation } from "../../model/study";
import { compared, digits } from "../../model/units";
import { Lead } from "../../ui/Lead";

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
function placeText({ ratio, floor, disturbed }: LiveResult, unit: string, several: boolean): string {
  if (floor) return "floor";
  if (disturbed) return "◆ disturbed";
  if (ratio === null || !several) return "";
  if (ratio === 1) return "best";
  const times = digits(ratio, 3);
  return times === "1" ? "as the best" : `${times}× ${unit === "s" ? "slower" : "worse"}`;
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
  const name = labels(
    study,
    results.map(({ cell }) => cell),
    ({ server_name }) => [server_name],
  );
  const figures = compared(
    metric.unit,
    results.map(({ value }) => value),
  );
  const several = results.filter(({ ratio }) => ratio !== null).length > 1;
  const most = Math.max(...results.map(({ value }) => value));
  return (
    <section aria-label={`Results of ${operation}`}>
      <h3>
        {titleOfOperation(operation)}: {metric.title}
      </h3>
      <p className="sb-about">{metric.better} is better; median; a hollow bar is a single measurement</p>
      <ol className="sb-bars">
        {results.slice(0, MOST).map((result, place) => (
          <li key={result.cell.cell_key} className={several && result.ratio === 1 ? "sb-best" : undefined}>
            <span className="sb-bar-place">{result.ratio === null ? "" : place + 1}</span>
            <span className="sb-bar-name">
              <Lead choice={choice} to={toAttempts(result.cell)}>
                {name(result.cell)}
              </Lead>
            </span>
            <span className="sb-bar" aria-hidden="true">
              <span
                className={result.n === 1 ? "sb-bar-fill sb-hollow" : "sb-bar-fill"}
                style={{ width: `${most > 0 ? (100 * Math.max(0, result.value)) / most : 0}%` }}
              />
            </span>
            <span className="sb-bar-value">{figures.text(result.value)}</span>
            <span className="sb-bar-verdict">
              {placeText(result, metric.unit, several)} <span className="sb-bar-count">n = {result.n}</span>
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

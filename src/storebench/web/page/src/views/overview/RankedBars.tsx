import type { RankedCell, Ranking } from "../../api/types";
import type { Choice } from "../../model/choice";
import { toHistory } from "../../model/lead";
import { barTexts, timesText } from "../../model/overview";
import { figuresOf, namer, type PlaceText, placeTextOf, type Ranked } from "../../model/ranking";
import { Badge } from "../../ui/Badge";
import { Lead } from "../../ui/Lead";

const MOST = 12;

/** Show the ranked cells as bars from the best to the worst: the median, its interval as a whisker, and the distance from the best. */
export function RankedBars({ study, ranking, choice }: Ranked & { choice: Choice }) {
  const shown = ranking.ranked.slice(0, MOST);
  const name = namer(study, [...ranking.ranked, ...ranking.excluded]);
  const placeText = placeTextOf(ranking.ranked);
  const text = barTexts(ranking);
  const most = Math.max(0, ...shown.map(({ spread }) => spread?.interval_high ?? spread?.median ?? 0));
  const isDecided = ranking.ranked.slice(1).every(({ verdict }) => verdict === "worse");
  return (
    <ol className="sb-bars" aria-label={`${ranking.title}, from the best to the worst`}>
      {shown.map((cell) => (
        <li key={cell.cell_key} className={isDecided && cell.verdict === "the best" ? "sb-best" : undefined}>
          <Place of={placeText(cell)} />
          <span className="sb-bar-name">
            <Lead
              choice={choice}
              to={toHistory({ cell_key: cell.cell_key, operation: ranking.operation }, ranking.metric)}
            >
              {name(cell)}
            </Lead>
          </span>
          <Bar cell={cell} most={most} />
          <span className="sb-bar-value" title={intervalOf(ranking, cell)}>
            {text(cell)}
          </span>
          <span className="sb-bar-verdict">
            <Verdict ranking={ranking} cell={cell} />
          </span>
        </li>
      ))}
    </ol>
  );
}

/** Show a place. Screen readers read a shared place in words. */
const Place = ({ of: { text, words } }: { of: PlaceText }) => (
  <span className="sb-bar-place" title={words} role="img" aria-label={words}>
    {text}
  </span>
);

/** Draw a bar from 0, and the interval as a whisker. The texts beside the bar have the figures. */
function Bar({ cell: { spread }, most }: { cell: RankedCell; most: number }) {
  const share = (value: number) => `${most > 0 ? (100 * Math.max(0, value)) / most : 0}%`;
  if (!spread) return <span className="sb-bar" aria-hidden="true" />;
  const { median, interval_low: low, interval_high: high } = spread;
  return (
    <span className="sb-bar" aria-hidden="true">
      <span
        className={spread.n > 1 ? "sb-bar-fill" : "sb-bar-fill sb-hollow"}
        style={{ width: share(median) }}
      />
      {low === null || high === null ? null : (
        <span
          className="sb-whisker"
          style={{ left: share(low), width: share(Math.max(0, high) - Math.max(0, low)) }}
        />
      )}
    </span>
  );
}

function intervalOf(ranking: Ranking, { spread }: RankedCell): string | undefined {
  if (!spread) return undefined;
  const { interval_low: low, interval_high: high, median, n } = spread;
  if (low === null || high === null) return `n = ${n}, no interval`;
  return `95 % interval ${figuresOf(ranking).interval(low, high, median)}, n = ${n}`;
}

function Verdict({ ranking, cell }: { ranking: Ranking; cell: RankedCell }) {
  const { verdict, reason, spread } = cell;
  const count = <span className="sb-bar-count">n = {spread?.n ?? 0}</span>;
  if (verdict === "the best") return count;
  if (verdict === "worse")
    return (
      <>
        {timesText(ranking, cell)} {count}
      </>
    );
  return (
    <>
      <Badge {...(reason ? { explanation: `${reason}.` } : {})}>{verdict}</Badge> {count}
    </>
  );
}

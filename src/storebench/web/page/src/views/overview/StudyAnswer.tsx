import type { Ranking, Study } from "../../api/types";
import { datasetsText, titleOf, valueText } from "../../model/cells";
import type { Choice } from "../../model/choice";
import { summaryOf } from "../../model/overview";
import { ANY, type Ranked } from "../../model/ranking";
import { RankedBars } from "./RankedBars";

/** Show a sentence for each operation. */
export function Answers({ of }: { of: Ranked[] }) {
  return of.map((ranked) => {
    const { headline, text, missing } = summaryOf(ranked);
    return (
      <p key={ranked.ranking.operation} className="sb-answer">
        <strong>{headline}</strong> {text}
        {missing ? <span className="sb-reason">{missing}</span> : null}
      </p>
    );
  });
}

/** Show the ranked bars of an operation, with the dataset, the values on the axes, and the limits of the comparison. */
export function AnswerBars({ study, ranking, choice }: Ranked & { choice: Choice }) {
  if (!ranking.ranked.length) return <Excluded ranking={ranking} />;
  return (
    <>
      <p className="sb-note">
        {ranking.title}, {ranking.better} is better · medians, whiskers: 95 % intervals ·{" "}
        {conditionsText(study, ranking)}
      </p>
      <RankedBars study={study} ranking={ranking} choice={choice} />
      <Excluded ranking={ranking} />
    </>
  );
}

/** Describe the conditions that all cells of a ranking share. */
function conditionsText(study: Study, ranking: Ranking): string {
  const axes = Object.entries(ranking.axes)
    .filter(([, value]) => value !== ANY)
    .map(([name, value]) => `${titleOf(study, name)} ${valueText(value)}`);
  return [datasetsText(study, ranking.ranked), ...axes].filter(Boolean).join(" · ");
}

/** Count the excluded cells by reason, and state the limits of the verdicts. */
function Excluded({ ranking: { excluded, caution } }: { ranking: Ranking }) {
  const reasons = new Map<string, number>();
  for (const {
    reasons: [first],
  } of excluded)
    if (first) reasons.set(first.reason, (reasons.get(first.reason) ?? 0) + 1);
  const counts = [...reasons].map(([reason, count]) => `${count} ${reason}`).join(", ");
  const notes = [...(caution ? [`${caution}.`] : []), ...(excluded.length ? [`Excluded: ${counts}.`] : [])];
  return notes.length ? <p className="sb-note">{notes.join(" ")}</p> : null;
}

/** Say what goes along with a verdict, a line for each setting and figure. */
import type { Verdict } from "../api/types";
import { compared, ratioText } from "./units";

type Why = NonNullable<Verdict["why"]>;

/** Return the lines about a verdict: settings that differ, figures that may explain most of the difference first, and the number of figures. */
export function whyLines({ differences, figures, looked_at, too_few }: Why, units: string): string[] {
  const tested = figures.filter(({ seen_in }) => seen_in === null).length;
  const few = too_few ? `; ${too_few} more have too few ${units}` : "";
  return [
    ...differences.map(
      ({ name, before, after }) => `differs: ${name}: ${before.join(", ")} → ${after.join(", ")}`,
    ),
    ...figures.map(figureText),
    `${tested} of ${looked_at} figures that vary differ${few}`,
  ];
}

function figureText(figure: Why["figures"][0]): string {
  const { median_before, median_after, ratio, ratio_low, ratio_high, share, seen_in } = figure;
  const { text } = compared(figure.unit, [median_before, median_after]);
  const parts = [`${text(median_before)} → ${text(median_after)}`];
  if (ratio !== null && ratio_low !== null && ratio_high !== null)
    parts.push(`B / A ${ratioText(ratio)} (${ratioText(ratio_low)} to ${ratioText(ratio_high)})`);
  if (share !== null) parts.push(`covers ${Math.round(share * 100)} % of the difference`);
  if (seen_in !== null) parts.push(`seen in ${seen_in} profiles, without an interval`);
  return `${figure.kind} ${figure.name}: ${parts.join(", ")}`;
}

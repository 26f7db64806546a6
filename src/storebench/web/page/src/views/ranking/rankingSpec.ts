import type { TopLevelSpec } from "vega-lite";
import type { Ranking, Study } from "../../api/types";
import { medianSpec } from "../../charts/medians";
import { scaleFor } from "../../model/choice";
import { type ChartData, scaledBy } from "../../model/figures";
import { namer, placeTextOf } from "../../model/ranking";
import { painter } from "../../ui/colours";
import type { Theme } from "../../ui/theme";

/** Return the ranked cells as a chart's bars, the best first. */
export function rankedBars(study: Study, { operation, metric, ranked, excluded }: Ranking): ChartData {
  const name = namer(study, [...ranked, ...excluded]);
  const placeText = placeTextOf(ranked);
  const bars = ranked.map((line) => ({
    cell: {
      ...line,
      operation,
      attempts: [],
      figures: line.spread ? { [metric]: line.spread } : {},
      used: null,
    },
    name: `${placeText(line).text}. ${name(line)}`,
    spread: line.spread,
    dots: [],
    limit: false,
  }));
  return { panels: bars.length ? [{ name: "", bars }] : [], names: [], note: null };
}

/** Draw a bar for each ranked cell, in the order of the places. */
export function rankingSpec(
  study: Study,
  { metric, title, unit, better }: Ranking,
  data: ChartData,
  description: string,
  width: number,
  theme: Theme,
): TopLevelSpec {
  const cells = data.panels.flatMap((panel) => panel.bars.map((bar) => bar.cell));
  return medianSpec(
    data,
    {
      study,
      figure: { name: metric, title, unit, addition: "", better, ofAttempts: false },
      scale: scaleFor(null, scaledBy(data), better),
      colour: "store",
      paint: painter(study, cells, "store"),
      description,
    },
    width,
    theme,
  );
}

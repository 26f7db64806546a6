import { useCallback, useEffect, useMemo, useRef } from "react";
import { get } from "../../api/api";
import { begin, useLoaded } from "../../api/loading";
import { studyNamed } from "../../api/study";
import type { ExcludedCell, RankedCell, Ranking, Study } from "../../api/types";
import { Chart } from "../../charts/Chart";
import { labelText } from "../../charts/charts";
import { type CellName, columns, datasetsText, namesOf, titleOf, valueText } from "../../model/cells";
import { type Choice, changed } from "../../model/choice";
import { toHistory } from "../../model/lead";
import { originColumns, originText, together } from "../../model/provenance";
import {
  ANY,
  countText,
  figuresOf,
  intervalText,
  isShared,
  type MeasuredCell,
  medianText,
  missingIn,
  namer,
  type PlaceText,
  placeTextOf,
  questionOf,
  type Ranked,
  rankKey,
} from "../../model/ranking";
import { sqlOfRanking } from "../../model/sql";
import { titleOfOperation } from "../../model/study";
import { alignedRows, digits, type Figures, NONE, ratioText } from "../../model/units";
import { Badge } from "../../ui/Badge";
import { Lead } from "../../ui/Lead";
import { ProvenanceLine } from "../../ui/Provenance";
import { NumberCells, ScrollTable } from "../../ui/ScrollTable";
import { Ready } from "../../ui/States";
import type { Theme } from "../../ui/theme";
import { ClaimsOf } from "./Claims";
import { RankingChoices } from "./RankingChoices";
import { rankedBars, rankingSpec } from "./rankingSpec";

interface Props {
  /** The study of the page's DAG, or of the shown run. */
  study: string;
  /** Whether the page shows only this study. */
  only: boolean;
  asked: URLSearchParams;
  choice: Choice;
}

/** Rank a study's stores and clients. Once the API has answered, the address also has the choices that the API made. */
export function RankingView({ study, only, asked, choice }: Props) {
  // on a DAG's own page, rank the DAG's study, whatever the address says
  const query = only ? changed(asked, { [rankKey("study")]: study }) : asked;
  const key = keyOf(query, study);
  const loaded = useLoaded(async (signal): Promise<Ranked> => {
    const ranking = await get("/api/ranking", questionOf(query, study), signal);
    return { ranking, study: await studyNamed(ranking.study, signal) };
  }, key);
  const { data, problem } = loaded;
  // keep the previous ranking while another loads, so that the focused element keeps the focus
  const before = useRef<Ranked>(undefined);
  if (data) before.current = data;
  const shown = data ?? (problem ? undefined : before.current);
  useEffect(() => {
    if (!data) return;
    const changes = missingIn(asked, data.ranking);
    if (!Object.keys(changes).length) return;
    begin(keyOf(changed(asked, changes), study), Promise.resolve(data)); // the changed address asks for the same ranking
    choice.choose(changes, true);
  }, [data, asked, study, choice]);
  return (
    <>
      {problem ? <StartAnew asked={asked} choice={choice} /> : null}
      <div aria-busy={!data && !problem}>
        <Ready of={{ data: shown, problem }}>
          {(ranked) => <Places {...ranked} only={only} choice={choice} />}
        </Ready>
      </div>
    </>
  );
}

const keyOf = (asked: URLSearchParams, study: string) =>
  `ranking ${JSON.stringify(questionOf(asked, study))}`;

/** Show a button that resets an address whose ranking does not exist. */
function StartAnew({ asked, choice }: { asked: URLSearchParams; choice: Choice }) {
  const keys = [...asked.keys()].filter((name) => name.startsWith(rankKey("")));
  return (
    <p className="sb-line">
      <button type="button" onClick={() => choice.choose(Object.fromEntries(keys.map((name) => [name, ""])))}>
        reset the choices
      </button>
    </p>
  );
}

/** Show the choices, the ranking, the excluded cells, and the claims. */
export function Places({ study, ranking, only, choice }: Ranked & { only: boolean; choice: Choice }) {
  return (
    <>
      <RankingChoices study={study} ranking={ranking} only={only} choice={choice} />
      <RankingTables study={study} ranking={ranking} choice={choice} />
      <ClaimsOf study={ranking.study} />
    </>
  );
}

/** Show the ranking and the excluded cells. `among` distinguishes the tables' labels from other rankings on the page. */
export function RankingTables({ study, ranking, choice, among = "" }: Shown & { among?: string }) {
  const { ranked, excluded } = ranking;
  const cells: CellName[] = [...ranked, ...excluded];
  const note = noteOf(ranking);
  const source = sourceOf(study, ranking);
  const title = `${titleOfRanking(ranking)}, ${ranking.better} is better`;
  const description = `${title}: ${ranked.length} ranked, ${excluded.length} excluded.`;
  const data = useMemo(() => rankedBars(study, ranking), [study, ranking]);
  const spec = useCallback(
    (width: number, theme: Theme) => rankingSpec(study, ranking, data, description, width, theme),
    [study, ranking, data, description],
  );
  return (
    <>
      <p className="sb-line">{whereText(study, ranking)}</p>
      {ranking.caution ? <p className="sb-state">{ranking.caution}.</p> : null}
      {ranked.length ? (
        <Chart
          title={title}
          source={source}
          note={note}
          caption=""
          run={ranking.study}
          name={`ranking-${ranking.operation}-${ranking.metric}`}
          sql={sqlOfRanking(ranking.study, ranking.operation, ranking.metric, [...ranked, ...excluded])}
          table={[
            ...ranked.map((cell) => takenOf(study, ranking, cell, cells)),
            ...excluded.map((cell) => takenOf(study, ranking, cell, cells)),
          ]}
          description={description}
          spec={spec}
        >
          <Lines study={study} ranking={ranking} choice={choice} label={`Places${among}`} />
        </Chart>
      ) : (
        <p className="sb-state">
          <strong>Nothing can be ranked.</strong> All measured cells are excluded, for the reasons below.
        </p>
      )}
      {excluded.length ? (
        <Excluded study={study} ranking={ranking} choice={choice} label={`Excluded${among}`} />
      ) : null}
      <details className="sb-note">
        <summary>How to read the ranking</summary>
        {note}
      </details>
      <ProvenanceLine text={source} citation={`${title}. ${source}.`} />
    </>
  );
}

export const titleOfRanking = ({ operation, title }: Ranking) => `${titleOfOperation(operation)}: ${title}`;

type Shown = Ranked & { choice: Choice };

/** The texts of badges, and the sentences that explain them. A cell with another guarantee has the guarantee as its badge. */
const BADGES: Record<RankedCell["differences"][number]["reason"], string> = {
  floor: "floor",
  "client-bound": "client-bound",
  "service-bound": "service-bound",
  unlike: "",
  few: "few attempts",
};

/** Show how a ranked cell differs from most cells. A click on a badge explains it. */
const Differences = ({ line }: { line: RankedCell }) => (
  <>
    {line.differences.map(({ reason, text }) => (
      <Badge key={reason} tone={reason === "few" ? "plain" : "warning"} explanation={`${text}.`}>
        {BADGES[reason] || (line.guarantee ?? "unknown guarantee")}
      </Badge>
    ))}
  </>
);

/** Show a line for each ranked cell, with a link to the cell's history. Columns without a difference are absent. */
function Lines({ study, ranking, choice, label }: Shown & { label: string }) {
  const figures = figuresOf(ranking);
  const { ranked } = ranking;
  const name = namer(study, [...ranked, ...ranking.excluded]);
  const differ = ranked.some(({ differences }) => differences.length);
  const unsound = ranked.some(({ remarks }) => remarks.length);
  const placeText = placeTextOf(ranked);
  const numbers = alignedRows(ranked.map((line) => [...figureTexts(line, figures), timesText(line)]));
  return (
    <ScrollTable
      label={label}
      columns={[
        ...["verdict", "place", "cell", ...(differ ? ["differs"] : []), "median", "interval", "n", RELATIVE],
        ...(unsound ? ["unsound"] : []),
      ]}
    >
      {ranked.map((line, index) => (
        <tr key={line.cell_key}>
          <td className={`sb-verdict sb-${line.verdict.replaceAll(" ", "-")}`}>
            {saidOf(ranking, line)}
            {rangeText(line) ? <span className="sb-reason">{rangeText(line)}</span> : null}
            {line.reason ? (
              <details className="sb-reason">
                <summary>why</summary>
                {line.reason}
              </details>
            ) : null}
          </td>
          <PlaceCell of={placeText(line)} />
          <th scope="row">
            <CellLead ranking={ranking} cell={line} name={name(line)} choice={choice} />
          </th>
          {differ ? (
            <td>
              <Differences line={line} />
            </td>
          ) : null}
          <NumberCells of={numbers[index]} />
          {unsound ? <td>{line.remarks.join("; ") || NONE}</td> : null}
        </tr>
      ))}
    </ScrollTable>
  );
}

/** Show a place. A shared place is read in words. */
const PlaceCell = ({ of: { text, words } }: { of: PlaceText }) => (
  <td className="sb-number" title={words} aria-label={words}>
    {text}
  </td>
);

function Excluded({ study, ranking, choice, label }: Shown & { label: string }) {
  const figures = figuresOf(ranking);
  const name = namer(study, [...ranking.ranked, ...ranking.excluded]);
  const numbers = alignedRows(ranking.excluded.map((cell) => figureTexts(cell, figures)));
  return (
    <details open={ranking.ranked.length === 0 || ranking.excluded.length <= 5}>
      <summary>
        <h3 className="sb-inline">Excluded: {ranking.excluded.length}</h3>
      </summary>
      <ScrollTable label={label} columns={["cell", "reason", "why", "median", "interval", "n"]}>
        {ranking.excluded.map((cell, index) => (
          <tr key={cell.cell_key}>
            <th scope="row">
              <CellLead ranking={ranking} cell={cell} name={name(cell)} choice={choice} />
            </th>
            <td>{cell.reasons.map(({ reason }) => reason).join(", ")}</td>
            <td className="sb-wide">{cell.reasons.map(({ text }) => text).join("; ")}</td>
            <NumberCells of={numbers[index]} />
          </tr>
        ))}
      </ScrollTable>
    </details>
  );
}

function CellLead({
  ranking: { operation, metric },
  cell: { cell_key },
  name,
  choice,
}: {
  ranking: Ranking;
  cell: MeasuredCell;
  name: string;
  choice: Choice;
}) {
  return (
    <Lead choice={choice} to={toHistory({ cell_key, operation }, metric)}>
      {name}
    </Lead>
  );
}

/** Return the texts of a cell's median, interval and counts. */
const figureTexts = (cell: MeasuredCell, figures: Figures): string[] => [
  medianText(cell, figures),
  intervalText(cell, figures),
  countText(cell),
];

const RELATIVE = "relative to the best";
const timesText = ({ relative_to_best: times }: RankedCell) =>
  times === null ? NONE : `${digits(times, 3)} ×`;

/** Return a line's verdict as a text: `faster` or `slower` for times. A best cell that shares its place only has the best median. */
const saidOf = ({ unit, ranked }: Ranking, cell: RankedCell) => {
  const { verdict } = cell;
  if (verdict !== "the best") return labelText({ verdict, unit });
  return isShared(ranked, cell) ? "best median" : verdict;
};

function rangeText({ ratio, ratio_low, ratio_high }: RankedCell): string {
  if (ratio === null || ratio_low === null || ratio_high === null) return "";
  return `ratio ${ratioText(ratio_low)} to ${ratioText(ratio_high)}`;
}

/** Explain how to read the table. */
function noteOf(ranking: Ranking): string {
  return `Medians of verified, undisturbed attempts of all runs in this environment, with intervals of 95 % or more for at least 6 attempts. Cells share a place if no difference from the first cell of the place is detected. The verdict compares the cell with the best cell (A) by the ratio of the geometric means, run by run where runs have both: cells with the verdicts the same, within ${ranking.margin_percent} %, and cannot tell share the place of the best. ${ranking.test}.`;
}

/** Describe the dataset, the axes' values, and the environment. */
function whereText(study: Study, ranking: Ranking): string {
  const axes = Object.entries(ranking.axes).map(
    ([name, value]) => `${titleOf(study, name)} ${value === ANY ? "any" : valueText(value)}`,
  );
  const environment = ranking.environments.find(({ id }) => id === ranking.environment);
  const cells = [...ranking.ranked, ...ranking.excluded];
  return [datasetsText(study, cells), ...axes, environment?.text].filter(Boolean).join(" · ");
}

/** Describe the choices and the origin of the figures. */
function sourceOf(study: Study, ranking: Ranking): string {
  return [
    ranking.study,
    whereText(study, ranking),
    originText(together(ranking.ranked.map(({ origin }) => origin))),
    ranking.environment ? `environment ${ranking.environment}` : "",
  ]
    .filter(Boolean)
    .join(" · ");
}

/** Return a cell for export. */
function takenOf(
  study: Study,
  ranking: Ranking,
  cell: RankedCell | ExcludedCell,
  cells: CellName[],
): Record<string, unknown> {
  const line = "place" in cell ? cell : null;
  return {
    study: ranking.study,
    operation: ranking.operation,
    place: line?.place ?? null,
    cell_key: cell.cell_key,
    store: cell.store,
    client: cell.client,
    ...columns(study, cell, namesOf(study, cells)),
    metric: ranking.metric,
    unit: ranking.unit,
    n: cell.spread?.n ?? 0,
    median: cell.spread?.median ?? null,
    interval_low: cell.spread?.interval_low ?? null,
    interval_high: cell.spread?.interval_high ?? null,
    interval_coverage: cell.spread?.interval_coverage ?? null,
    runs: cell.runs,
    verdict: line?.verdict ?? null,
    reason: line?.reason ?? null,
    relative_to_best: line?.relative_to_best ?? null,
    ratio: line?.ratio ?? null,
    ratio_low: line?.ratio_low ?? null,
    ratio_high: line?.ratio_high ?? null,
    guarantee: cell.guarantee,
    differences: line ? line.differences.map(({ reason, text }) => `${reason}: ${text}`).join("; ") : null,
    remarks: line ? line.remarks.join("; ") : null,
    excluded:
      "reasons" in cell ? cell.reasons.map(({ reason, text }) => `${reason}: ${text}`).join("; ") : null,
    environment: ranking.environment,
    ...originColumns(cell.origin),
  };
}

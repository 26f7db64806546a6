import { type ReactNode, useCallback, useMemo } from "react";
import { get } from "../../api/api";
import { useLoaded } from "../../api/loading";
import { studyNamed } from "../../api/study";
import type { Comparison, NoVerdict, Origin, Run, Study, Verdict } from "../../api/types";
import { Chart } from "../../charts/Chart";
import { hasRatio, labelText, ratiosSpec, saidOf, tableSpec, wordsOf } from "../../charts/charts";
import { Exports } from "../../charts/Exports";
import { type CellName, columns, datasetsText, namesOf } from "../../model/cells";
import { type Choice, isByValue, isShown } from "../../model/choice";
import { intervalsText, repeatsText } from "../../model/figures";
import { linkTargetOf, toHistory } from "../../model/lead";
import { originColumns, originText, together } from "../../model/provenance";
import { sqlOf } from "../../model/sql";
import { metricNamed } from "../../model/study";

import { Filters, MetricMenu, OrderMenu } from "../../ui/Controls";
import { ProvenanceLine } from "../../ui/Provenance";
import { optionsOf, Select } from "../../ui/Select";
import { Ready } from "../../ui/States";
import type { Theme } from "../../ui/theme";
import { OfRun } from "../run/OfRun";
import { RunMenu } from "../run/RunMenu";
import { DecidingPanel } from "./DecidingPanel";
import {
  type Asked,
  idsOf,
  isOfSeveral,
  OfValues,
  placeIn,
  SideLine,
  sideName,
  sideText,
  valuesText,
} from "./Sides";
import { type StudyComparison, textsOf, VerdictTable } from "./VerdictTable";
import { verdictParts } from "./verdicts";

interface Props {
  runs: Run[];
  before: string | undefined;
  after: string;
  metric: string | undefined;
  by: string | undefined;
  choice: Choice;
}

/** Compare two runs, or two values of one run, cell by cell. */
export function CompareView({ runs, before, after, metric, by, choice }: Props) {
  // the metric may belong to the study of other runs
  const choose = (changes: Record<string, string>) => choice.choose({ ...changes, metric: "" });
  return (
    <>
      <div className="sb-fields">
        <Select
          label="Compare"
          value={by === undefined ? RUNS : VALUES}
          options={optionsOf([RUNS, VALUES])}
          onChoose={(value) => choose({ by: value === VALUES ? FIRST : "" })}
        />
        {by === undefined ? (
          <RunMenu label="A" chosen={before} runs={runs} onChoose={(id) => choose({ before: id })} />
        ) : null}
        <RunMenu
          label={by === undefined ? "B" : "Run"}
          chosen={after}
          runs={runs}
          onChoose={(id) => choose({ after: id, ...(by === undefined ? {} : { before: id, by: FIRST }) })}
        />
      </div>
      <OfSide name={after} runs={runs} label={by === undefined ? "B" : undefined}>
        {by !== undefined ? (
          <OfValues run={after} asked={by} choose={choose}>
            {(values) => (
              <>
                <p className="sb-line">
                  A is {values.place} {values.before}, B is {values.place} {values.after}: each line is named
                  after A.
                </p>
                <Verdicts asked={{ before: after, after, metric, by: valuesText(values) }} choice={choice} />
              </>
            )}
          </OfValues>
        ) : before ? (
          <OfSide name={before} runs={runs} label="A">
            <Verdicts asked={{ before, after, metric, by }} choice={choice} />
          </OfSide>
        ) : (
          <p className="sb-state">Choose two runs: B is compared with A.</p>
        )}
      </OfSide>
    </>
  );
}

const [RUNS, VALUES] = ["two runs", "two values of one run"];
/** Stands for the first values of a run, in the address. */
const FIRST = "first";
const AGAIN_MS = 15_000;

/** Show the content once the side's run has begun. For a side of several runs, the API reports the state. */
function OfSide({
  name,
  runs,
  label,
  children,
}: {
  name: string;
  runs: Run[];
  label: string | undefined;
  children: ReactNode;
}) {
  if (isOfSeveral(name)) return children;
  return (
    <OfRun run={name} runs={runs} {...(label === undefined ? {} : { label })}>
      {() => children}
    </OfRun>
  );
}

function Verdicts({ asked, choice }: { asked: Asked; choice: Choice }) {
  const loaded = useLoaded(
    async (signal): Promise<StudyComparison> => {
      const comparison = await get("/api/compare", asked, signal);
      return { comparison, study: await studyNamed(comparison.after[0]?.study ?? "", signal) };
    },
    `compare ${JSON.stringify(asked)}`,
    isOfSeveral(asked.after) || asked.by ? AGAIN_MS : undefined, // further runs of the sides may still come
  );
  return (
    <Ready of={loaded}>
      {({ study, comparison }) => (
        <Compared {...{ study, comparison, asked, metric: asked.metric, choice }} />
      )}
    </Ready>
  );
}

/** Show the result of comparing two sides. */
export function Compared({
  study,
  comparison: all,
  asked: sides,
  metric,
  choice,
}: StudyComparison & { asked?: Asked; metric: string | undefined; choice: Choice }) {
  const { asked, choose } = choice;
  const cells: CellName[] = useMemo(() => [...all.verdicts, ...all.no_verdict], [all]);
  const comparison = useMemo(() => {
    const shown = isShown(asked, namesOf(study, cells));
    const verdicts = all.verdicts.filter(shown);
    if (isByValue(asked)) verdicts.sort(byRatio);
    return { ...all, verdicts, no_verdict: all.no_verdict.filter(shown) };
  }, [study, all, cells, asked]);
  const counts = countsOf(study, comparison.verdicts);
  const note = `${comparison.test}; B / A is the ratio of the geometric means, which an outlier moves more than a median; a difference within ${comparison.margin_percent} % does not count; the same: the whole interval is within ${comparison.margin_percent} %.`;
  const inconclusive = all.verdicts.filter(({ verdict }) => verdict === "cannot tell").length;
  return (
    <>
      <VerdictLine study={study} comparison={comparison} />
      {sides && inconclusive ? (
        <DecidingPanel key={JSON.stringify(sides)} asked={sides} inconclusive={inconclusive} />
      ) : null}
      {sides?.by ? (
        <SideLine runs={comparison.after} label="" />
      ) : (
        <>
          <SideLine runs={comparison.before} label="A" />
          <SideLine runs={comparison.after} label="B" />
        </>
      )}
      {comparison.differences.length ? (
        <div className="sb-state sb-problem">
          <strong>The sides also differ in other ways</strong> (A → B):
          <ul>
            {comparison.differences.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </div>
      ) : null}
      {comparison.caution ? <p className="sb-state">{comparison.caution}.</p> : null}
      <div className="sb-fields">
        <MetricMenu
          study={study}
          operations={operationsIn(study, all)}
          chosen={metric}
          onChoose={(name) => choose({ metric: name })}
        />
        <OrderMenu choice={choice} />
        <Filters study={study} cells={cells} choice={choice} />
      </div>
      {comparison.verdicts.some(hasRatio) ? <Ratios {...{ study, comparison, choice }} /> : null}
      <p className="sb-line">
        <span>
          {comparison.verdicts.length} compared: {counts.join(", ")}
        </span>
        <Exports
          title="the verdicts"
          source={sourceOf(study, comparison)}
          note={note}
          run={runsOf(comparison)}
          name="verdicts"
          sql={sqlOf({ study, cells, runs: allOf(comparison) })}
          table={[...comparison.verdicts, ...comparison.no_verdict].map((pair) =>
            takenOf(study, comparison, pair, namesOf(study, cells)),
          )}
          spec={(_, theme) => tableSpec(textsOf(study, comparison), theme)}
        />
      </p>
      <VerdictTable {...{ study, comparison, place: sides?.by && placeIn(sides.by), choice }} />
      <p className="sb-note">{note}</p>
    </>
  );
}

/** Say in a sentence where B differs from A. */
function VerdictLine({ study, comparison: { verdicts, no_verdict } }: StudyComparison) {
  if (!verdicts.length)
    return (
      <p className="sb-verdict-line">
        <strong>Nothing is compared.</strong>{" "}
        {no_verdict.length ? `The table has the reasons for ${no_verdict.length} cells.` : ""}
      </p>
    );
  const parts = verdictParts(study, verdicts);
  const open = verdicts.filter(({ verdict }) => verdict === "cannot tell").length;
  return (
    <p className="sb-verdict-line">
      <strong>
        {parts.length ? `B is ${parts.join("; ")}` : `No difference is sure at any of ${verdicts.length}`}
      </strong>
      {open && parts.length ? `; ${open} inconclusive` : ""}.
      {no_verdict.length ? ` ${no_verdict.length} cannot be compared.` : ""}
    </p>
  );
}

/** Return the operations that the compared runs measure, whatever the metric: the operations of their stores. */
function operationsIn(study: Study, { before, after }: Comparison): string[] {
  const stores = new Set(
    [...before, ...after].flatMap((run) => run.stores.map((name) => name.split("@")[0])),
  );
  const known = study.stores.filter(({ name }) => stores.has(name));
  return (known.length ? known : study.stores).flatMap(({ operations }) => operations);
}

/** Compare verdicts by B / A, smallest first; verdicts without a ratio come last. */
const byRatio = (one: Verdict, other: Verdict) =>
  (one.ratio ?? Number.MAX_VALUE) - (other.ratio ?? Number.MAX_VALUE);

/** Return the labels for a figure above and for a figure below the other side's, for this verdict's metric. */
const wordsFor = (study: Study, { metric, unit }: Verdict) =>
  wordsOf(metricNamed(study, metric ?? "")?.better ?? "neither").map((verdict) => ({ verdict, unit }));

/** Count the verdicts by text, including texts that are possible but do not occur. */
function countsOf(study: Study, verdicts: Verdict[]): string[] {
  const possible = verdicts.flatMap((verdict) => [...wordsFor(study, verdict), verdict]);
  const unsure = (["the same", "cannot tell"] as const).map((verdict) => ({ verdict, unit: null }));
  return [...saidOf([...possible, ...unsure]).keys()].map(
    (said) => `${verdicts.filter((verdict) => labelText(verdict) === said).length} ${said}`,
  );
}

/** Return both sides' names, for the beginning of files' names. */
const runsOf = ({ before, after }: Comparison) => `${sideName(before)}-${sideName(after)}`;

const allOf = ({ before, after }: Comparison) => [...new Set([...idsOf(before), ...idsOf(after)])];

/** Describe the dataset and the origin of each side's figures. */
function sourceOf(study: Study, { before, after, verdicts, no_verdict }: Comparison): string {
  const all = [...verdicts, ...no_verdict];
  const side = (runs: Run[], origins: Origin[]) =>
    [sideText(runs), originText(together(origins)), `method ${runs[0]?.method_version}`]
      .filter(Boolean)
      .join(" · ");
  return [
    datasetsText(study, all),
    `A: ${side(
      before,
      all.map((pair) => pair.origin_before),
    )}`,
    `B: ${side(
      after,
      all.map((pair) => pair.origin_after),
    )}`,
  ]
    .filter(Boolean)
    .join("; ");
}

/** Return a cell's operation, with or without a verdict, for export. */
function takenOf(
  study: Study,
  { before, after }: Comparison,
  pair: Verdict | NoVerdict,
  names: string[],
): Record<string, unknown> {
  const { remarks, axes, origin_before, origin_after, why, ...verdict } = { why: null, ...pair };
  return {
    ...verdict,
    ...columns(study, pair, names),
    remarks: remarks.join("; "),
    run_before: idsOf(before).join(" "),
    run_after: idsOf(after).join(" "),
    ...originColumns(origin_before, "_before"),
    ...originColumns(origin_after, "_after"),
  };
}

/** Describe what a ratio above 1 means, if all verdicts agree. */
function aboveText(study: Study, verdicts: Verdict[]): string {
  const words = new Set(verdicts.map((verdict) => wordsFor(study, verdict).map(labelText)[0]));
  const [only] = words;
  return words.size === 1 ? `above 1, B is ${only}` : "above 1, B's figure is the higher one";
}

/** Show the chart of the ratios B / A with their intervals. */
function Ratios({ study, comparison, choice }: StudyComparison & { choice: Choice }) {
  const { verdicts, margin_percent } = comparison;
  const title = "B / A, the ratio of the figures";
  const means = aboveText(study, verdicts);
  const source = sourceOf(study, comparison);
  const description = `${title}, with 95 % intervals, of ${verdicts.filter(hasRatio).length} cells: ${means}. Grey is the margin of ${margin_percent} %; ▲ marks unsound verdicts.`;
  const spec = useCallback(
    (width: number, theme: Theme) => ratiosSpec(study, verdicts, margin_percent, description, width, theme),
    [study, verdicts, margin_percent, description],
  );
  const names = namesOf(study, verdicts);
  return (
    <>
      <Chart
        title={title}
        source={source}
        run={runsOf(comparison)}
        sql={sqlOf({ study, cells: verdicts, runs: allOf(comparison) })}
        name="compare"
        description={description}
        spec={spec}
        table={verdicts.map((verdict) => takenOf(study, comparison, verdict, names))}
        places={names}
        leads={{ choice, of: verdicts.map(linkTargetOf), to: toHistory, what: "history" }}
        note={`${countsText(verdicts.filter(hasRatio))} ${means.charAt(0).toUpperCase() + means.slice(1)}. Grey: the margin of ${margin_percent} %, within which a difference does not count. ▲: unsound; the table shows the reason.`}
      />
      <ProvenanceLine text={source} citation={`${title}. ${source}.`} />
    </>
  );
}

/** Describe the numbers of repeats behind the ratios, and whether the ratios have intervals. */
function countsText(verdicts: Verdict[]): string {
  const [a, b] = [verdicts.map((verdict) => verdict.n_before), verdicts.map((verdict) => verdict.n_after)];
  return `Geometric means of ${repeatsText(a)} in A and ${repeatsText(b)} in B, ${intervalsText(
    verdicts.map((verdict) => verdict.ratio_low),
    "with intervals of 95 %",
  )}.`;
}

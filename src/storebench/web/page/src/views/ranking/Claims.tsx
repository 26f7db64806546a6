import { get } from "../../api/api";
import { useLoaded } from "../../api/loading";
import type { Claim, ClaimCase, Claims } from "../../api/types";
import { type Aligned, alignedRows, digits, NONE } from "../../model/units";
import { Reason } from "../../ui/Reason";
import { NumberCells, ScrollTable } from "../../ui/ScrollTable";
import { Ready } from "../../ui/States";

const TITLE = "What the original study said";

/** Show the claims of a study, judged by the measurements. */
export function ClaimsOf({ study }: { study: string }) {
  const loaded = useLoaded(async (signal) => get("/api/claims", { study }, signal), `claims ${study}`);
  return <Ready of={loaded}>{(answer) => <ClaimTable answer={answer} heading="h3" />}</Ready>;
}

/** Show a line for each case of each claim; nothing without claims. */
export function ClaimTable({
  answer: { study, rules, claims },
  heading: Heading = "h2",
}: {
  answer: Claims;
  heading?: "h2" | "h3";
}) {
  if (claims.length === 0) return null;
  const numbers = numbersOf(claims.flatMap(({ cases }) => cases));
  return (
    <section aria-label={TITLE}>
      <Heading>{TITLE}</Heading>
      <p className="sb-line">{countsText(claims)}</p>
      <ScrollTable
        label="Claims"
        columns={["claim", "verdict", "case", "ratio", "95 % interval", "n", "run", "limits"]}
      >
        {claims.map((claim) => (
          <Lines key={claim.text} study={study} claim={claim} numbers={numbers} />
        ))}
      </ScrollTable>
      <p className="sb-note">{rules}.</p>
    </section>
  );
}

/** The ratio and the interval of each case. */
type Numbers = ReadonlyMap<ClaimCase, Aligned[]>;
const NO_RATIO: Aligned[] = [NONE, NONE].map((text) => ({ text, room: "" }));

function numbersOf(cases: ClaimCase[]): Numbers {
  const ratioText = ({ ratio }: ClaimCase) => (ratio === null ? NONE : digits(ratio, 3));
  const rows = alignedRows(cases.map((claimCase) => [ratioText(claimCase), intervalText(claimCase)]));
  return new Map(cases.map((claimCase, row) => [claimCase, rows[row] ?? NO_RATIO]));
}

/** Show a claim's line, which includes the case of a claim with a single case, then a line for each of several cases. */
function Lines({ study, claim, numbers }: { study: string; claim: Claim; numbers: Numbers }) {
  const [only, ...others] = claim.cases;
  const several = others.length > 0;
  return (
    <>
      <tr>
        <th scope="row">
          {claim.text}
          {claim.expected_ratio ? (
            <span className="sb-reason">means a ratio of {claim.expected_ratio}</span>
          ) : null}
        </th>
        <Said verdict={claim.verdict} reason={claim.reason} />
        <Figures study={study} claimCase={several ? undefined : only} numbers={numbers} note={claim.note} />
      </tr>
      {several
        ? claim.cases.map((claimCase) => (
            <tr key={`${claimCase.ratio_of} ${claimCase.case}`}>
              <td />
              <Said verdict={claimCase.verdict} reason={claimCase.reason} />
              <Figures study={study} claimCase={claimCase} numbers={numbers} note="" />
            </tr>
          ))
        : null}
    </>
  );
}

function Said({ verdict, reason }: Pick<ClaimCase, "verdict" | "reason">) {
  return (
    <td className={`sb-verdict sb-${verdict.replace(" ", "-")}`}>
      {verdict}
      <Reason text={reason} />
    </td>
  );
}

function Figures({
  study,
  claimCase,
  numbers,
  note,
}: {
  study: string;
  claimCase: ClaimCase | undefined;
  numbers: Numbers;
  note: string;
}) {
  const limits = [note, ...(claimCase?.remarks ?? [])].filter(Boolean).join("; ");
  return (
    <>
      <td>
        {claimCase?.case}
        {claimCase ? <span className="sb-reason">{claimCase.ratio_of}</span> : NONE}
      </td>
      <NumberCells of={(claimCase && numbers.get(claimCase)) ?? NO_RATIO} />
      <td>{claimCase ? unitsText(claimCase) : NONE}</td>
      <td className="sb-breaks">{claimCase ? runsText(study, claimCase) : NONE}</td>
      <td>{limits ? <Reason text={limits} summary="limits" /> : NONE}</td>
    </>
  );
}

function intervalText({ ratio_low, ratio_high }: ClaimCase): string {
  return ratio_low === null || ratio_high === null
    ? NONE
    : `${digits(ratio_low, 3)} to ${digits(ratio_high, 3)}`;
}

/** Describe the number of units on each side. */
function unitsText({ units, matched, units_before, units_after }: ClaimCase): string {
  if (units_before === null) return NONE;
  return matched ? `${units_before} ${units}` : `${units_before} and ${units_after} ${units}`;
}

/** Describe the runs and the rows of their dataset. */
function runsText(study: string, { runs, rows }: ClaimCase): string {
  const names = runs.map((run) => (run.startsWith(`${study}/`) ? run.slice(study.length + 1) : run));
  const size = rows === null ? "" : ` (${rows.toLocaleString("en")} rows)`;
  return names.length ? `${names.join(", ")}${size}` : NONE;
}

/** Count the claims by verdict. */
function countsText(claims: Claim[]): string {
  const counts = (["confirmed", "refuted", "cannot tell"] as const).map(
    (verdict) => `${claims.filter((claim) => claim.verdict === verdict).length} ${verdict}`,
  );
  return `${claims.length} claims: ${counts.join(", ")}`;
}

/** Return the claims with figures, each only with its cases that have figures. */
export function measuredIn(answer: Claims): Claims {
  const claims = answer.claims
    .map((claim) => ({ ...claim, cases: claim.cases.filter(({ units_before }) => units_before !== null) }))
    .filter(({ cases }) => cases.length > 0);
  return { ...answer, claims };
}

import { get } from "../../api/api";
import { useLoaded } from "../../api/loading";
import type { Claim, ClaimCase, Claims } from "../../api/types";
import { digits, NONE } from "../../model/units";
import { ScrollTable } from "../../ui/ScrollTable";
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
  return (
    <section aria-label={TITLE}>
      <Heading>{TITLE}</Heading>
      <p className="sb-line">{countsText(claims)}</p>
      <ScrollTable
        label="Claims"
        columns={[
          "claim",
          "means",
          "verdict",
          "case",
          "ratio of",
          "ratio",
          "95 % interval",
          "n",
          "run",
          "limits",
        ]}
      >
        {claims.map((claim) => (
          <Lines key={claim.text} study={study} claim={claim} />
        ))}
      </ScrollTable>
      <p className="sb-note">{rules}.</p>
    </section>
  );
}

/** Show a claim's line, which includes the case of a claim with a single case, then a line for each of several cases. */
function Lines({ study, claim }: { study: string; claim: Claim }) {
  const [only, ...others] = claim.cases;
  const several = others.length > 0;
  return (
    <>
      <tr>
        <th scope="row">{claim.text}</th>
        <td>{claim.expected_ratio || NONE}</td>
        <Said verdict={claim.verdict} reason={claim.reason} />
        <Figures study={study} claimCase={several ? undefined : only} note={claim.note} />
      </tr>
      {several
        ? claim.cases.map((claimCase) => (
            <tr key={`${claimCase.ratio_of} ${claimCase.case}`}>
              <td colSpan={2} />
              <Said verdict={claimCase.verdict} reason={claimCase.reason} />
              <Figures study={study} claimCase={claimCase} note="" />
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
      {reason ? <span className="sb-reason">{reason}</span> : null}
    </td>
  );
}

function Figures({
  study,
  claimCase,
  note,
}: {
  study: string;
  claimCase: ClaimCase | undefined;
  note: string;
}) {
  const limits = [note, ...(claimCase?.remarks ?? [])].filter(Boolean).join("; ");
  return (
    <>
      <td>{claimCase?.case || NONE}</td>
      <td>{claimCase?.ratio_of ?? NONE}</td>
      <td className="sb-number">{claimCase?.ratio == null ? NONE : digits(claimCase.ratio, 3)}</td>
      <td className="sb-number">{claimCase ? intervalText(claimCase) : NONE}</td>
      <td>{claimCase ? unitsText(claimCase) : NONE}</td>
      <td>{claimCase ? runsText(study, claimCase) : NONE}</td>
      <td className="sb-wide">{limits || NONE}</td>
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

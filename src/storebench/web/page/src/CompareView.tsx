import { useCallback } from "react";
import { address, get, useLoaded } from "./api";
import { Chart } from "./Chart";
import { ratiosSpec } from "./charts";
import type { Choose } from "./choice";
import { cellLabel, seconds } from "./format";
import type { Theme } from "./frame";
import { RunLine, RunMenu } from "./Runs";
import { ScrollTable } from "./ScrollTable";
import { Ready } from "./States";
import { type Comparison, LABELS, type Run } from "./types";

interface Props {
  runs: Run[];
  before: string | undefined;
  after: string | undefined;
  choose: Choose;
}

/** Two runs, cell by cell. */
export function CompareView({ runs, before, after, choose }: Props) {
  return (
    <>
      <div className="sb-fields">
        <RunMenu label="A" chosen={before} runs={runs} onChoose={(id) => choose({ before: id })} />
        <RunMenu label="B" chosen={after} runs={runs} onChoose={(id) => choose({ after: id })} />
      </div>
      {before && after ? (
        <Verdicts before={before} after={after} />
      ) : (
        <p className="sb-state">Choose two runs: A is what B is compared with.</p>
      )}
    </>
  );
}

function Verdicts({ before, after }: { before: string; after: string }) {
  const loaded = useLoaded(
    (signal) => get<Comparison>(address("compare", { before, after }), signal),
    `compare ${before} ${after}`,
  );
  return (
    <Ready of={loaded}>
      {(found) => {
        const counts = LABELS.map(
          (label) => `${found.verdicts.filter((verdict) => verdict.label === label).length} ${label}`,
        );
        return (
          <>
            <RunLine run={found.before} label="A" />
            <RunLine run={found.after} label="B" />
            {found.differences.length ? (
              <div className="sb-state sb-problem">
                <strong>Not only the runs differ</strong> (A → B):
                <ul>
                  {found.differences.map((line) => (
                    <li key={line}>{line}</li>
                  ))}
                </ul>
              </div>
            ) : null}
            {found.caution ? <p className="sb-state">{found.caution}.</p> : null}
            <p className="sb-line">
              {found.verdicts.length} compared: {counts.join(", ")}
            </p>
            {found.verdicts.length ? <Ratios found={found} /> : null}
            <VerdictTable found={found} />
            <p className="sb-note">
              {found.test}; B / A is the ratio of the geometric means; a difference within{" "}
              {found.margin_percent} % does not count; the same: the whole interval is within it.
            </p>
          </>
        );
      }}
    </Ready>
  );
}

/** A line for each cell and operation, with its verdict, or with the reason why there is none. */
export function VerdictTable({ found }: { found: Comparison }) {
  return (
    <ScrollTable
      label="Verdicts"
      columns={[
        "cell",
        "dataset rows",
        "seed",
        "operation",
        "A: median (n)",
        "B: median (n)",
        "B / A",
        "95 % interval",
        "p, adjusted",
        "B is",
        "unsound",
      ]}
    >
      {found.verdicts.map((verdict) => (
        <tr key={`${verdict.cell_key} ${verdict.operation}`}>
          <th scope="row">{cellLabel(verdict)}</th>
          <td className="sb-number">{verdict.rows.toLocaleString("en")}</td>
          <td className="sb-number">{verdict.seed}</td>
          <td>{verdict.operation}</td>
          <td className="sb-number">
            {seconds(verdict.median_before_s)} ({verdict.n_before})
          </td>
          <td className="sb-number">
            {seconds(verdict.median_after_s)} ({verdict.n_after})
          </td>
          <td className="sb-number">{verdict.ratio.toFixed(3)}</td>
          <td className="sb-number">
            {verdict.low === null || verdict.high === null
              ? "–"
              : `${verdict.low.toFixed(3)} to ${verdict.high.toFixed(3)}`}
          </td>
          <td className="sb-number">{verdict.p_adjusted === null ? "–" : verdict.p_adjusted.toFixed(4)}</td>
          <td className={`sb-verdict sb-${verdict.label.replace(" ", "-")}`}>
            {verdict.label}
            {verdict.reason ? <span className="sb-reason">{verdict.reason}</span> : null}
          </td>
          <td>{verdict.remarks.join("; ") || "–"}</td>
        </tr>
      ))}
      {found.without.map((one) => (
        <tr key={`${one.cell_key} ${one.operation}`}>
          <th scope="row">{cellLabel(one)}</th>
          <td className="sb-number">{one.rows.toLocaleString("en")}</td>
          <td className="sb-number">{one.seed}</td>
          <td>{one.operation}</td>
          <td colSpan={5}>{one.reason}</td>
          <td className="sb-verdict">no verdict</td>
          <td>{one.remarks.join("; ") || "–"}</td>
        </tr>
      ))}
    </ScrollTable>
  );
}

/** How much slower or faster, with how much doubt: above 1 is slower. */
function Ratios({ found }: { found: Comparison }) {
  const { verdicts, margin_percent, before, after } = found;
  const title = "B / A, the ratio of the times in the store's client";
  const description = `${title}, with 95 % intervals, of ${verdicts.length} cells: above 1, B is slower. Grey is the margin of ${margin_percent} %; ▲ marks what is unsound.`;
  const spec = useCallback(
    (width: number, theme: Theme) => ratiosSpec(verdicts, margin_percent, description, width, theme),
    [verdicts, margin_percent, description],
  );
  return (
    <>
      <Chart
        title={title}
        source={`A: ${before.id}, B: ${after.id}`}
        name="compare"
        description={description}
        spec={spec}
        rows={verdicts.map(({ remarks, ...verdict }) => ({
          ...verdict,
          unsound: remarks.join("; "),
          run_before: before.id,
          run_after: after.id,
        }))}
      />
      <p className="sb-note">
        Above 1, B is slower. Grey: the margin of {margin_percent} %, within which a difference does not
        count. ▲: what is unsound; the table says why.
      </p>
    </>
  );
}

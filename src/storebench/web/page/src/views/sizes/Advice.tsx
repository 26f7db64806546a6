import type { SizeExclusion, SizePoint } from "../../api/types";
import type { Choice } from "../../model/choice";
import { ScrollFrame, ScrollTable } from "../../ui/ScrollTable";
import { runsText, sizesKey } from "./sizes";

/** Sizes to propose for a run whose servers had no size. */
const FIRST = ["500m", "1"];

/** Show how to measure another size: repeat the run with another CPU of servers. */
export function Single({ run, points }: { run: string; points: SizePoint[] }) {
  const cores = Math.max(0, ...points.map((point) => point.cores));
  const sizes = cores ? [String(2 * cores)] : FIRST;
  return (
    <div className="sb-state">
      <p>
        <strong>{cores ? "Only one size was measured." : "No size was set."}</strong> Run the same with
        another <code>server_cpu</code>:
      </p>
      <ScrollFrame label="Commands for other sizes">
        <pre className="sb-params">
          {sizes.map((size) => `storebench replay ${run} --param 'server_cpu="${size}"' --follow`).join("\n")}
        </pre>
      </ScrollFrame>
    </div>
  );
}

/** Show the excluded runs with the reasons. */
export function Excluded({ excluded, choice }: { excluded: SizeExclusion[]; choice: Choice }) {
  if (!excluded.length) return null;
  return (
    <details>
      <summary>Excluded runs</summary>
      <ScrollTable label="Excluded runs" columns={["reason", "runs", "cells", "choice"]}>
        {excluded.map(({ reason, differ, runs, cells }) => (
          <tr key={reason}>
            <td>{reason}</td>
            <td title={runs.join("\n")}>{runsText(runs)}</td>
            <td title={cells.join("\n")}>{cells.length}</td>
            <td>
              {differ ? (
                <button type="button" onClick={() => choice.choose({ [sizesKey("runs")]: runs.join(",") })}>
                  Use only these runs
                </button>
              ) : null}
            </td>
          </tr>
        ))}
      </ScrollTable>
    </details>
  );
}

import { createRoot } from "react-dom/client";
import { common, shown } from "./attempts";
import { Exports, Figures } from "./Chart";
import { Charts, Phases, useOwnChoice } from "./ChartViews";
import { tableSpec } from "./charts";
import { byCell, figureText } from "./format";
import { RunLine, runLabel } from "./Runs";
import styles from "./styles.css?inline";
import type { CellFigures, CellPhases, Run } from "./types";

/** All of a report: written into its file by `storebench report`. */
interface Content {
  run: Run;
  cells: CellFigures[];
  phases: CellPhases[];
  environments: Record<string, unknown>[];
}

function Report({ content: { run, cells, phases, environments } }: { content: Content }) {
  const attempts = [...cells].sort(byCell).flatMap((cell) => cell.attempts);
  const choice = useOwnChoice();
  const [same, different] = common(shown(attempts));
  const details = [...new Set(environments.flatMap((environment) => Object.keys(environment)))];
  return (
    <main className="sb-page">
      <h1>{runLabel(run)}</h1>
      <RunLine run={run} />
      <h2>Charts</h2>
      <Charts of={{ data: cells }} choice={choice} />
      <h2>Where the time went</h2>
      <Phases of={{ data: phases }} choice={choice} />
      <h2>Attempts</h2>
      <Exports
        name="attempts"
        title="the attempts"
        source={run.id}
        rows={attempts as unknown as Record<string, unknown>[]}
        spec={(_, theme) => tableSpec(shown(attempts), theme)}
      />
      {Object.keys(same).length ? (
        <p className="sb-line">
          In all of them:{" "}
          {Object.entries(same)
            .map(([name, text]) => `${name} ${text}`)
            .join(" · ")}
        </p>
      ) : null}
      <div className="sb-dense">
        <Figures rows={different} caption="Every attempt" />
      </div>
      <h2>Environments</h2>
      <div className="sb-long">
        <Figures
          rows={details.map((name) => ({
            detail: name,
            ...Object.fromEntries(
              environments.map((one) => [String(one.hash).slice(0, 8), figureText(name, one[name])]),
            ),
          }))}
          caption="The environments in which it was measured"
        />
      </div>
    </main>
  );
}

const style = document.createElement("style");
style.textContent = styles;
document.head.append(style);
const content = document.getElementById("content");
const root = document.getElementById("report");
if (content?.textContent && root)
  createRoot(root).render(<Report content={JSON.parse(content.textContent) as Content} />);

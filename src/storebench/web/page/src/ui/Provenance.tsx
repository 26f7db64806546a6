import { useState } from "react";
import type { Attempt, Study } from "../api/types";
import {
  type CellName,
  datasetsText,
  differing,
  labelled,
  namesOf,
  placeOf,
  titleOf,
  valueText,
} from "../model/cells";
import { citationOf, originOf, originText } from "../model/provenance";
import { copyText } from "./clipboard";

/**
 * Show once the values that all these cells share, so that no chart repeats them. `serversOf` returns the names of the servers that answered
 * for a cell. `place` is the name of the compared values, if any: the cells have only the value of A. `said` is a further fact about all cells.
 */
export function Common<T extends CellName>({
  study,
  cells,
  serversOf,
  place,
  said = "",
}: {
  study: Study;
  cells: T[];
  serversOf: (cell: T) => (string | null)[];
  place?: string | undefined;
  said?: string;
}) {
  const names = ["store", "client", ...namesOf(study, cells)].filter((name) => name !== place);
  const different = differing(cells, names);
  const first = cells[0];
  const same = names.flatMap((name) => {
    const value = first && placeOf(first, name);
    const shared = cells.every((cell) => placeOf(cell, name) !== undefined);
    if (value === undefined || !shared || different.includes(name)) return [];
    const labels = name === "store" ? cells.map((cell) => labelled(study, cell, serversOf(cell)).label) : [];
    const answered = new Set(labels.filter((label) => label !== undefined));
    return answered.size ? [...answered] : [`${titleOf(study, name)} ${valueText(value)}`];
  });
  return (
    <p className="sb-line sb-common">
      {same.length ? <strong>All cells:</strong> : null} {[same.join(", "), said].filter(Boolean).join(" · ")}
    </p>
  );
}

/** Show once where a page's figures come from, with a button that copies a citation. */
export function Provenance({
  study,
  cells,
  attempts,
}: {
  study: Study;
  cells: CellName[];
  attempts: Attempt[];
}) {
  const runs = [...new Set(attempts.map((attempt) => attempt.run_id))];
  const methods = [...new Set(attempts.map((attempt) => attempt.method_version))];
  const dataset = datasetsText(study, cells);
  return (
    <ProvenanceLine
      text={[
        runs.length === 1 ? runs[0] : `${runs.length} runs`,
        dataset,
        originText(originOf(attempts)),
        methods.length ? `method ${methods.join(", ")}` : "",
      ]
        .filter(Boolean)
        .join(" · ")}
      citation={citationOf(study.title, runs, dataset, attempts)}
    />
  );
}

/** Show a line about the origin of figures, with a button that copies a citation. */
export function ProvenanceLine({ text, citation }: { text: string; citation: string }) {
  const [said, setSaid] = useState("");
  const copy = () =>
    copyText(citation).then(
      () => setSaid("copied"),
      (problem: unknown) => setSaid(problem instanceof Error ? problem.message : String(problem)),
    );
  return (
    <footer className="sb-source">
      <strong>Source:</strong> {text}{" "}
      <button type="button" className="sb-small" title={citation} onClick={copy}>
        Copy citation
      </button>{" "}
      <span aria-live="polite">{said}</span>
    </footer>
  );
}

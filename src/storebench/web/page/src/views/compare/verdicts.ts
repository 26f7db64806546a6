/** Say the result of a comparison in a sentence. */
import type { Study, Verdict } from "../../api/types";
import { labelText, serversOfA } from "../../charts/charts";
import { differing, labelled, namesOf, placesText } from "../../model/cells";
import { digits } from "../../model/units";

/** The labels in the order of the sentence: a loss first. */
const ORDER: Verdict["verdict"][] = ["worse", "better", "higher", "lower", "the same"];
/** The number of cells that the sentence names for each label. */
const NAMED = 3;

/** Return the part of the sentence for each label that occurs: `slower at 2 of 8: mongodb, write (1.32×)`. */
export function verdictParts(study: Study, verdicts: Verdict[]): string[] {
  const texts = new Set(
    ORDER.flatMap((label) => verdicts.filter(({ verdict }) => verdict === label)).map(labelText),
  );
  const name = shortNamer(study, verdicts);
  return [...texts].map((said, place) => {
    const those = verdicts.filter((verdict) => labelText(verdict) === said).sort(byDistance);
    const count = `${said} at ${those.length}${place ? "" : ` of ${verdicts.length}`}`;
    if (said === "the same") return count;
    const named = those.slice(0, NAMED).map((verdict) => `${name(verdict)}${ratioPart(verdict)}`);
    const others = those.length > NAMED ? ` and ${those.length - NAMED} others` : "";
    return `${count}: ${named.join(", ")}${others}`;
  });
}

/** Compare verdicts by the distance of their ratio from 1, largest first. */
const byDistance = (one: Verdict, other: Verdict) => distance(other) - distance(one);
const distance = ({ ratio }: Verdict) => (ratio ? Math.abs(Math.log(ratio)) : 0);

const ratioPart = ({ ratio }: Verdict) => (ratio === null ? "" : ` (${digits(ratio, 3)}×)`);

/** Return a function that names verdicts by the values in which they differ, and their operation. */
function shortNamer(study: Study, verdicts: Verdict[]): (verdict: Verdict) => string {
  const names = ["store", "client", ...namesOf(study, verdicts), "operation"];
  const differ = differing(verdicts, names);
  return (verdict) => {
    const named = labelled(study, verdict, serversOfA(verdict));
    const places = placesText(
      named,
      differ.filter((name) => name !== "operation"),
    );
    const operation = differ.includes("operation") ? verdict.operation : "";
    return (
      [places, operation].filter(Boolean).join(" ") ||
      `${placesText(named, ["store", "client"])} ${verdict.operation}`
    );
  };
}

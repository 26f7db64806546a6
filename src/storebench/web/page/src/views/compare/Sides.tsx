import type { ReactNode } from "react";
import { all } from "../../api/api";
import { useLoaded } from "../../api/loading";
import type { Run } from "../../api/types";
import { type CellName, placeOf } from "../../model/cells";
import type { Choose } from "../../model/choice";
import { optionsOf, Select } from "../../ui/Select";
import { Ready } from "../../ui/States";
import { RunLine, runStates } from "../run/Runs";

/** Return whether a name stands for several runs: runs in turns, or a list. */
export const isOfSeveral = (name: string) => name.startsWith("turns:") || name.includes(",");

/** Describe the runs of a side. */
export function sideText(runs: Run[]): string {
  const [first, last] = [runs[0]?.id ?? "", runs.at(-1)?.id ?? ""];
  return runs.length > 1 ? `${runs.length} runs, ${first} to ${last}` : first;
}

/** Return a side's name for use in names of files. */
export const sideName = (runs: Run[]) =>
  `${runs[0]?.id ?? ""}${runs.length > 1 ? `-and-${runs.length - 1}-more` : ""}`;

export const idsOf = (runs: Run[]) => runs.map(({ id }) => id);

/** Show a side's runs in one line. */
export function SideLine({ runs, label }: { runs: Run[]; label: string }) {
  const [first] = runs;
  if (!first) return null;
  if (runs.length === 1) return <RunLine run={first} label={label} />;
  return (
    <p className="sb-line">
      <strong>{label}</strong> {first.study}: {runs.length} runs ({runStates(runs)}) · code{" "}
      {[...new Set(runs.map((run) => run.code_version))].join(", ")}
    </p>
  );
}

/** Two values of one name: of the stores, the clients or an axis. */
export interface Values {
  place: string;
  before: string;
  after: string;
}

/** Write values as in the address and the API. */
export const valuesText = ({ place, before, after }: Values) => `${place}=${before},${after}`;

/** Return the name of the values in a text from the address. */
export const placeIn = (text: string): string => text.split("=")[0] ?? "";

/** Return the names with several values among these cells, and their values. */
export function choices(cells: CellName[]): Map<string, string[]> {
  const names = ["store", "client", ...new Set(cells.flatMap(({ axes }) => Object.keys(axes)))];
  const entries = names.map((name) => {
    const values = cells.map((cell) => placeOf(cell, name)).filter((value) => value !== undefined);
    return [name, [...new Set(values)]] as [string, string[]];
  });
  return new Map(entries.filter(([, values]) => values.length > 1));
}

/** Parse the requested values. Without valid values, return the first two of the requested name, or of the first name. */
export function valuesOf(text: string, known: Map<string, string[]>): Values | undefined {
  const [place = "", values = ""] = text.split("=");
  const [before, after] = values.split(",");
  const there = known.get(place);
  if (before && after && there?.includes(before) && there.includes(after)) return { place, before, after };
  return firstOf(known, there ? place : (known.keys().next().value ?? ""));
}

function firstOf(known: Map<string, string[]>, place: string): Values | undefined {
  const [before, after] = known.get(place) ?? [];
  return before && after ? { place, before, after } : undefined;
}

/** Show the menus of two values of a run, and the content for these values. */
export function OfValues({
  run,
  asked,
  choose,
  children,
}: {
  run: string;
  asked: string;
  choose: Choose;
  children: (values: Values) => ReactNode;
}) {
  const loaded = useLoaded((signal) => all("/api/turns", { run, limit: 500 }, signal), `turns of ${run}`);
  return (
    <Ready of={loaded}>
      {(turns) => {
        const known = choices(turns);
        const values = valuesOf(asked, known);
        if (!values)
          return (
            <p className="sb-state">
              This run has one store, one client and one value of each axis. Choose another run, or two runs.
            </p>
          );
        const pick = (changes: Partial<Values>) => choose({ by: valuesText({ ...values, ...changes }) });
        const menu = (label: "A" | "B", side: "before" | "after", other: string) => (
          <label className="sb-field">
            {label}
            <select value={values[side]} onChange={(event) => pick({ [side]: event.target.value })}>
              {known.get(values.place)?.map((value) => (
                <option key={value} disabled={value === other}>
                  {value}
                </option>
              ))}
            </select>
          </label>
        );
        return (
          <>
            <div className="sb-fields">
              <Select
                label="By"
                value={values.place}
                options={optionsOf(known.keys())}
                onChoose={(place) => pick(firstOf(known, place) ?? {})}
              />
              {menu("A", "before", values.after)}
              {menu("B", "after", values.before)}
            </div>
            {children(values)}
          </>
        );
      }}
    </Ready>
  );
}

/** The names of both sides, and the metric. */
export interface Asked {
  before: string;
  after: string;
  by: string | undefined;
  metric: string | undefined;
}

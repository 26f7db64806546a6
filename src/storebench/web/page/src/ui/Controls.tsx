import type { Study } from "../api/types";
import { byValue, type CellName, descriptionOf, namesOf, type Places, titleOf } from "../model/cells";
import {
  type Choice,
  hiddenOf,
  isByValue,
  kindOf,
  moved,
  nameOf,
  ordered,
  SCALES,
  scaleOf,
  toggled,
  valueLabel,
} from "../model/choice";
import { reportedBy, scalars } from "../model/study";
import { type Colour, colourOfName, type Painted } from "./colours";
import { type Option, optionsOf, Select } from "./Select";
import { useTheme } from "./theme";

/** Show the menu of the charts' scale: one scale for all charts, or a suitable scale for each chart. */
export function ScaleMenu({ choice: { asked, choose } }: { choice: Choice }) {
  return (
    <Select
      label="Scale"
      value={scaleOf(asked) ?? ""}
      options={[["", "as each chart needs"], ...Object.entries(SCALES)]}
      onChoose={(scale) => choose({ scale })}
    />
  );
}

/** Show the menu of the order of the charts' lines. */
export function OrderMenu({ choice: { asked, choose } }: { choice: Choice }) {
  return (
    <Select
      label="Order"
      value={isByValue(asked) ? "" : "store"}
      options={[
        ["", "best first"],
        ["store", "by store"],
      ]}
      onChoose={(lines) => choose({ lines })}
    />
  );
}

export const storesOf = (cells: CellName[]) => [...new Set(cells.map((cell) => cell.store))].sort();

/** Return the values of a name among these cells, sorted. */
export function valuesOf(cells: CellName[], name: string): string[] {
  const places = new Set(cells.map((cell) => nameOf(cell, name)));
  return [...places].sort((one, other) => byValue(one || undefined, other || undefined));
}

/**
 * Show the filters by store, client and axis, and the order of stores. A name with a single value has no filter. `coloured`: the names that
 * the charts below distinguish by colour; their values have the same colours here.
 */
export function Filters({
  study,
  cells,
  choice,
  coloured = [],
}: {
  study: Places & Painted;
  cells: CellName[];
  choice: Choice;
  coloured?: string[];
}) {
  const colourOf = (name: string, value: string) =>
    coloured.includes(name) ? colourOfName(study, cells, name, value) : undefined;
  return (
    <>
      <Stores stores={storesOf(cells)} choice={choice} colourOf={(store) => colourOf("store", store)} />
      {["client", ...namesOf(study, cells)].map((name) => {
        const values = valuesOf(cells, name).filter(Boolean);
        return values.length < 2 ? null : (
          <fieldset key={name} className="sb-key" title={descriptionOf(study, name) || undefined}>
            <legend>{name === "client" ? "Clients" : titleOf(study, name)}</legend>
            {values.map((value) => (
              <Box
                key={value}
                kind={kindOf(name)}
                name={value}
                label={valueLabel(value)}
                colour={colourOf(name, value)}
                choice={choice}
              />
            ))}
          </fieldset>
        );
      })}
    </>
  );
}

function Box({
  kind,
  name,
  label,
  colour,
  choice: { asked, choose },
}: {
  kind: ReturnType<typeof kindOf>;
  name: string;
  label: string;
  colour: Colour | undefined;
  choice: Choice;
}) {
  const theme = useTheme();
  return (
    <label>
      <input
        type="checkbox"
        checked={!hiddenOf(asked, kind).has(name)}
        onChange={() => choose(toggled(asked, kind, name))}
      />
      {colour ? (
        <span className="sb-colour" style={{ backgroundColor: colour(theme) }} aria-hidden="true" />
      ) : null}
      {label}
    </label>
  );
}

function Stores({
  stores,
  choice,
  colourOf,
}: {
  stores: string[];
  choice: Choice;
  colourOf: (store: string) => Colour | undefined;
}) {
  const { asked, choose } = choice;
  const shown = ordered(asked, stores);
  if (stores.length < 2) return null;
  return (
    <fieldset className="sb-key">
      <legend>Stores</legend>
      {shown.map((store, place) => (
        <span key={store} className="sb-store">
          <button
            type="button"
            disabled={place === 0}
            aria-label={`Move ${store} up`}
            onClick={() => choose({ ...moved(asked, stores, store, -1), lines: "store" })}
          >
            ↑
          </button>
          <button
            type="button"
            disabled={place === shown.length - 1}
            aria-label={`Move ${store} down`}
            onClick={() => choose({ ...moved(asked, stores, store, 1), lines: "store" })}
          >
            ↓
          </button>
          <Box kind="store" name={store} label={store} colour={colourOf(store)} choice={choice} />
        </span>
      ))}
    </fieldset>
  );
}

/**
 * Show the menu of metrics: the ranking metric of each operation, the study's metrics, and the common metrics. `operations`: only metrics
 * that one of these operations reports, because the API refuses other metrics.
 */
export function MetricMenu({
  study,
  operations,
  chosen,
  onChoose,
}: {
  study: Study;
  operations?: string[];
  chosen: string | undefined;
  onChoose: (name: string) => void;
}) {
  const reported = reportedBy(study, operations ?? study.operations.map(({ name }) => name));
  const metrics = scalars(study).filter(({ name }) => reported.has(name));
  const known = !chosen || metrics.some(({ name }) => name === chosen);
  return (
    <Select
      label="Metric"
      value={chosen ?? ""}
      options={[
        ["", "the ranking metric"],
        ...(known ? [] : optionsOf([chosen])),
        ...metrics.map(({ name, title }): Option => [name, title]),
      ]}
      onChoose={onChoose}
    />
  );
}

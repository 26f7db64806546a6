import { useEffect, useRef, useState } from "react";
import { logLink } from "../../api/airflow";
import { all, get } from "../../api/api";
import { useLoaded, useSettled } from "../../api/loading";
import { unknownStudy, withStudy } from "../../api/study";
import {
  type Attempt,
  type Metric,
  attemptStatusValues as STATUSES,
  type Study,
  type Turn,
} from "../../api/types";
import { tableSpec } from "../../charts/charts";
import { Exports } from "../../charts/Exports";
import { columnsOf, foldedOf, isSort, otherMetrics, shown, taken } from "../../model/attempts";
import { datasetsText, isOfDataset, namesOf, titleOf } from "../../model/cells";
import { axisKey, type Choice, type Choose, valueLabel } from "../../model/choice";
import { isBroken, soundness, textClass } from "../../model/format";
import { toHistory, toNext } from "../../model/lead";
import { sourceOf } from "../../model/provenance";
import { sqlOf } from "../../model/sql";
import { operationsOf } from "../../model/study";
import { decimalRoom, NONE, withUnit } from "../../model/units";
import { valuesOf } from "../../ui/Controls";
import { Lead } from "../../ui/Lead";
import { Menu, MenuGroup } from "../../ui/Menu";
import { LongText } from "../../ui/Reason";
import { NumberCell, ScrollFrame } from "../../ui/ScrollTable";
import { type Option, Select } from "../../ui/Select";
import { Ready } from "../../ui/States";

const SIZE = 100;
/** The typed filters: parts of names. */
const TYPED = ["store", "client"] as const;
type Typed = Record<(typeof TYPED)[number], string>;

interface Props extends Choice {
  run: string | undefined;
  asked: URLSearchParams;
}

/** Load a run's planned turns and their study. */
function useTurns(run: string | undefined): { study: Study; items: Turn[] } {
  const { data } = useLoaded(
    async (signal) => withStudy(run ? await all("/api/turns", { run, limit: 500 }, signal) : [], signal),
    `turns ${run}`,
  );
  return data ?? { study: unknownStudy(""), items: [] };
}

/** Show all attempts, sorted and filtered by the database. */
export function TableView({ run, asked, choose, link }: Props) {
  const wanted = asked.get("sort");
  const sort = isSort(wanted) ? wanted : "recorded_at";
  const descending = asked.get("order") !== "ascending";
  const text = (name: string) => asked.get(name) || undefined;
  const number = (name: string) => (text(name) ? Number(text(name)) : undefined);
  const filters = {
    store: text("store"),
    client: text("client"),
    rows: number("rows"),
    seed: number("seed"),
    operation: text("operation"),
    status: text("status") as Attempt["status"] | undefined, // the API checks the status
  };
  const axis = [...asked]
    .filter(([name, wanted]) => name.startsWith(axisKey("")) && wanted)
    .map(([name, wanted]) => `${name.slice(axisKey("").length)}=${wanted}`);
  const only = text("only");
  const chosenColumns = (asked.get("columns") ?? "").split(",").filter(Boolean);
  const query = { run, cell: only, sort, descending, ...filters, axis };
  // another query begins at its first page
  const key = JSON.stringify(query);
  const [place, setPlace] = useState({ key, offset: 0 });
  const offset = place.key === key ? place.offset : 0;
  const setOffset = (offset: number) => setPlace({ key, offset });
  const loaded = useLoaded(async (signal) => {
    const page = await get("/api/attempts", { ...query, limit: SIZE, offset }, signal);
    return { ...page, ...(await withStudy(page.items, signal)) };
  }, `attempts ${key} ${offset}`);
  const { study: of, items: turns } = useTurns(run);
  const operations = operationsOf(
    of,
    turns.flatMap((turn) => turn.operations),
  );
  const inAddress = Object.fromEntries(TYPED.map((name) => [name, asked.get(name) ?? ""])) as Typed;
  const [typed, setTyped] = useTyped(inAddress, choose);
  return (
    <>
      <div className="sb-fields">
        {TYPED.map((name) => (
          <label key={name} className="sb-field">
            {name}
            <input
              value={typed[name]}
              placeholder="all, or a part of its name"
              onChange={(event) => setTyped({ ...typed, [name]: event.target.value })}
            />
          </label>
        ))}
        {namesOf(of, turns).map((name) => {
          const values = valuesOf(turns, name).filter(Boolean);
          const key = isOfDataset(name) ? name : axisKey(name);
          const chosen = asked.get(key) || undefined;
          return values.length < 2 && !chosen ? null : (
            <FilterMenu
              key={name}
              name={key}
              label={titleOf(of, name)}
              chosen={chosen}
              values={values}
              text={valueLabel}
              onChoose={choose}
            />
          );
        })}
        <FilterMenu
          name="operation"
          chosen={filters.operation}
          values={operations.map((operation) => operation.name)}
          onChoose={choose}
        />
        <FilterMenu name="status" chosen={filters.status} values={STATUSES} onChoose={choose} />
      </div>
      {only ? (
        <p className="sb-line">
          Only {only}
          <button type="button" onClick={() => choose({ only: "" })}>
            all cells
          </button>
        </p>
      ) : null}
      <Ready of={loaded}>
        {({ study, items, offset: first, more }) => {
          const all = columnsOf(study, items, chosenColumns);
          const [columns, same] = foldedOf(
            all.filter(({ title }) => !chosenColumns.includes(`-${title}`)),
            items,
            sort,
          );
          const equal = same.filter(({ text }) => items[0] && text(items[0]) !== NONE);
          // of a column of numbers: its unit, the numbers, and the room at the end of each number
          const numeric = columns.map(({ text, number }) => {
            if (!number) return undefined;
            const { unit, numbers } = withUnit(items.map(text));
            return { unit, numbers, rooms: decimalRoom(numbers) };
          });
          const sortBy = (by: string) =>
            choose({ sort: by, order: by === sort && descending ? "ascending" : "descending" });
          return (
            <>
              <p className="sb-line">
                {items.length ? `${first + 1} to ${first + items.length}` : "No attempts match"}
                <button
                  type="button"
                  disabled={offset === 0}
                  onClick={() => setOffset(Math.max(0, offset - SIZE))}
                >
                  newer page
                </button>
                <button type="button" disabled={!more} onClick={() => setOffset(offset + SIZE)}>
                  next page
                </button>
                <ColumnMenu
                  columns={all.map(({ title }) => title)}
                  metrics={otherMetrics(study, items)}
                  chosen={chosenColumns}
                  onChoose={(chosen) => choose({ columns: chosen.join(",") })}
                />
                <Exports
                  run={run ?? ""}
                  sql={sqlOf({ study, cells: items, runs: run ? [run] : [] })}
                  name="attempts"
                  title="this page of attempts"
                  source={sourceOf(run ?? "all runs", datasetsText(study, items), items)}
                  table={taken(study, items)}
                  spec={(_, theme) => tableSpec(shown(study, items), theme)}
                />
              </p>
              {equal.length ? (
                <p className="sb-note sb-equal">
                  Equal in all lines:
                  {equal.map(({ title, text, sort: by }) => (
                    <span key={title}>
                      {by ? (
                        <button
                          type="button"
                          onClick={() => sortBy(by)}
                          title="sort all attempts by this column"
                        >
                          {title}
                        </button>
                      ) : (
                        title
                      )}{" "}
                      {items[0] ? text(items[0]) : NONE}
                    </span>
                  ))}
                </p>
              ) : null}
              <ScrollFrame label="Attempts" dense>
                <table>
                  <thead>
                    <tr>
                      {link ? <th scope="col">leads to</th> : null}
                      {columns.map(({ title, sort: by }, column) => (
                        <th
                          key={title}
                          scope="col"
                          aria-sort={by === sort ? (descending ? "descending" : "ascending") : undefined}
                        >
                          {by ? (
                            <button type="button" onClick={() => sortBy(by)}>
                              {title} {by === sort ? (descending ? "↓" : "↑") : ""}
                            </button>
                          ) : (
                            title
                          )}
                          {numeric[column]?.unit ? (
                            <span className="sb-about"> {numeric[column]?.unit}</span>
                          ) : null}
                        </th>
                      ))}
                    </tr>
                  </thead>
                  <tbody>
                    {items.map((attempt, line) => (
                      <tr
                        key={attempt.attempt_id}
                        className={`sb-${soundness(attempt).replace(" ", "-")}${isBroken(attempt) ? " sb-broken" : ""}`}
                      >
                        {link ? (
                          <Leads attempt={attempt} turns={turns} choice={{ asked, choose, link }} />
                        ) : null}
                        {columns.map(({ title, text, hint }, column) => {
                          const { numbers, rooms } = numeric[column] ?? {};
                          const said = { text: text(attempt), title: hint?.(attempt) ?? undefined };
                          return numbers ? (
                            <NumberCell
                              key={title}
                              {...said}
                              text={numbers[line] ?? ""}
                              room={rooms?.[line] ?? ""}
                            />
                          ) : (
                            <td key={title} className={textClass(said.text)} title={said.title}>
                              <LongText text={said.text} />
                            </td>
                          );
                        })}
                      </tr>
                    ))}
                  </tbody>
                </table>
              </ScrollFrame>
            </>
          );
        }}
      </Ready>
    </>
  );
}

/** Show a menu of the table's columns: `chosen` has names of added metrics, and titles of hidden columns after a minus sign. */
function ColumnMenu({
  columns,
  metrics,
  chosen,
  onChoose,
}: {
  columns: string[];
  metrics: Metric[];
  chosen: string[];
  onChoose: (chosen: string[]) => void;
}) {
  const toggle = (name: string) =>
    onChoose(chosen.includes(name) ? chosen.filter((other) => other !== name) : [...chosen, name]);
  const added = metrics.filter(({ name }) => chosen.includes(name)).map(({ title }) => title);
  return (
    <Menu label="Columns">
      <MenuGroup title="Shown">
        {columns
          .filter((title) => !added.includes(title))
          .map((title) => (
            <Box
              key={title}
              label={title}
              checked={!chosen.includes(`-${title}`)}
              onChange={() => toggle(`-${title}`)}
            />
          ))}
      </MenuGroup>
      {metrics.length ? (
        <MenuGroup title="Further figures">
          {metrics.map(({ name, title }) => (
            <Box key={name} label={title} checked={chosen.includes(name)} onChange={() => toggle(name)} />
          ))}
        </MenuGroup>
      ) : null}
    </Menu>
  );
}

const Box = ({ label, checked, onChange }: { label: string; checked: boolean; onChange: () => void }) => (
  <label className="sb-box">
    <input type="checkbox" checked={checked} onChange={onChange} />
    {label}
  </label>
);

/** Show links to an attempt's phases, its log in Airflow, and its cell's history. */
function Leads({ attempt, turns, choice }: { attempt: Attempt; turns: Turn[]; choice: Choice }) {
  const log = logLink(attempt, turns);
  return (
    <td className="sb-short">
      <Lead choice={choice} to={toNext(attempt)}>
        phases
      </Lead>{" "}
      {log ? <a href={log}>log</a> : null}{" "}
      <Lead choice={choice} to={toHistory(attempt)}>
        history
      </Lead>
    </td>
  );
}

const trimmed = (typed: Typed) =>
  Object.fromEntries(TYPED.map((name) => [name, typed[name].trim()])) as Typed;

/** Synchronize the text fields with the address: the address follows when typing pauses, and the fields follow other changes of the address. */
function useTyped(inAddress: Typed, choose: Choose): [Typed, (typed: Typed) => void] {
  const [typed, setTyped] = useState(inAddress);
  const settled = JSON.stringify(trimmed(useSettled(typed)));
  const there = JSON.stringify(inAddress);
  const known = useRef({ there, settled, choose });
  known.current.choose = choose;
  useEffect(() => {
    if (settled === known.current.settled) return;
    known.current.settled = settled;
    if (settled === known.current.there) return;
    known.current.there = settled;
    known.current.choose(JSON.parse(settled), true);
  }, [settled]);
  useEffect(() => {
    if (there === known.current.there) return;
    known.current.there = there;
    setTyped(JSON.parse(there));
  }, [there]);
  return [typed, setTyped];
}

function FilterMenu({
  name,
  label = name,
  chosen,
  values,
  text = (value) => value.replace("_", " "),
  onChoose,
}: {
  name: string;
  label?: string;
  chosen: string | undefined;
  values: readonly string[];
  text?: (value: string) => string;
  onChoose: (changes: Record<string, string>) => void;
}) {
  // the chosen value may be of another run
  const all = chosen && !values.includes(chosen) ? [...values, chosen] : values;
  return (
    <Select
      label={label}
      value={chosen ?? ""}
      options={[["", "all"], ...all.map((value): Option => [value, text(value)])]}
      onChoose={(value) => onChoose({ [name]: value })}
    />
  );
}

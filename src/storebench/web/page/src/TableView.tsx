import { useEffect, useRef, useState } from "react";
import { address, get, useLoaded } from "./api";
import { COLUMNS, shown } from "./attempts";
import { Exports } from "./Chart";
import { tableSpec } from "./charts";
import type { Choose } from "./choice";
import { soundness, textClass } from "./format";
import { ScrollFrame } from "./ScrollTable";
import { Ready } from "./States";
import { useSettled } from "./settled";
import type { Attempt, Page } from "./types";

const SIZE = 100;
/** The filters that are typed: parts of names. */
const TYPED = ["store", "client"] as const;
type Typed = Record<(typeof TYPED)[number], string>;

interface Props {
  run: string | undefined;
  asked: URLSearchParams;
  choose: Choose;
}

/** Every attempt, sorted and filtered by the database. */
export function TableView({ run, asked, choose }: Props) {
  const sort = asked.get("sort") ?? "recorded_at";
  const descending = asked.get("order") !== "ascending";
  const filters = Object.fromEntries(
    [...TYPED, "operation", "status"].map((name) => [name, asked.get(name) || undefined]),
  );
  const query = { run, sort, descending, ...filters };
  // another question begins at its first page
  const key = JSON.stringify(query);
  const [place, setPlace] = useState({ key, offset: 0 });
  const offset = place.key === key ? place.offset : 0;
  const setOffset = (offset: number) => setPlace({ key, offset });
  const loaded = useLoaded(
    (signal) => get<Page<Attempt>>(address("attempts", { ...query, limit: SIZE, offset }), signal),
    `attempts ${key} ${offset}`,
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
        <Choice name="operation" chosen={filters.operation} values={["write", "read"]} onChoose={choose} />
        <Choice
          name="status"
          chosen={filters.status}
          values={["verified", "failed", "not_run"]}
          onChoose={choose}
        />
      </div>
      <Ready of={loaded}>
        {(page) => (
          <>
            <p className="sb-line">
              {page.items.length
                ? `${page.offset + 1} to ${page.offset + page.items.length}`
                : "No attempts match"}
              <button
                type="button"
                disabled={offset === 0}
                onClick={() => setOffset(Math.max(0, offset - SIZE))}
              >
                newer page
              </button>
              <button type="button" disabled={!page.more} onClick={() => setOffset(offset + SIZE)}>
                next page
              </button>
              <Exports
                name="attempts"
                title="this page of attempts"
                source={run ?? "all runs"}
                rows={page.items as unknown as Record<string, unknown>[]}
                spec={(_, theme) => tableSpec(shown(page.items), theme)}
              />
            </p>
            <ScrollFrame label="Attempts" dense>
              <table>
                <thead>
                  <tr>
                    {COLUMNS.map(({ title, sort: by }) => (
                      <th
                        key={title}
                        scope="col"
                        aria-sort={by === sort ? (descending ? "descending" : "ascending") : undefined}
                      >
                        {by ? (
                          <button
                            type="button"
                            onClick={() =>
                              choose({
                                sort: by,
                                order: by === sort && descending ? "ascending" : "descending",
                              })
                            }
                          >
                            {title} {by === sort ? (descending ? "↓" : "↑") : ""}
                          </button>
                        ) : (
                          title
                        )}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {page.items.map((attempt) => (
                    <tr key={attempt.attempt_id} className={`sb-${soundness(attempt).replace(" ", "-")}`}>
                      {COLUMNS.map(({ title, text, hint, number }) => (
                        <td
                          key={title}
                          className={number ? "sb-number" : textClass(text(attempt))}
                          title={hint?.(attempt) ?? undefined}
                        >
                          {text(attempt)}
                        </td>
                      ))}
                    </tr>
                  ))}
                </tbody>
              </table>
            </ScrollFrame>
          </>
        )}
      </Ready>
    </>
  );
}

const trimmed = (typed: Typed) =>
  Object.fromEntries(TYPED.map((name) => [name, typed[name].trim()])) as Typed;

/** What stands in the boxes; when the keys rest it is the address's, too, and where the address changes by itself it is in the boxes. */
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

function Choice({
  name,
  chosen,
  values,
  onChoose,
}: {
  name: string;
  chosen: string | undefined;
  values: string[];
  onChoose: (changes: Record<string, string>) => void;
}) {
  return (
    <label className="sb-field">
      {name}
      <select value={chosen ?? ""} onChange={(event) => onChoose({ [name]: event.target.value })}>
        <option value="">all</option>
        {values.map((value) => (
          <option key={value} value={value}>
            {value.replace("_", " ")}
          </option>
        ))}
      </select>
    </label>
  );
}

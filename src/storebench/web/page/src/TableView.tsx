import { useState } from "react";
import { address, get, useLoaded } from "./api";
import { COLUMNS, shown } from "./attempts";
import { Exports } from "./Chart";
import { tableSpec } from "./charts";
import { soundness, textClass } from "./format";
import { Ready } from "./States";
import type { Attempt, Page } from "./types";

const SIZE = 100;

interface Props {
  run: string | undefined;
  asked: URLSearchParams;
  choose: (changes: Record<string, string>) => void;
}

/** Every attempt, sorted and filtered by the database. */
export function TableView({ run, asked, choose }: Props) {
  const [offset, setOffset] = useState(0);
  const sort = asked.get("sort") ?? "recorded_at";
  const descending = asked.get("order") !== "ascending";
  const filters = Object.fromEntries(
    ["store", "client", "operation", "status"].map((name) => [name, asked.get(name) || undefined]),
  );
  const query = { run, sort, descending, ...filters };
  const loaded = useLoaded(
    (signal) => get<Page<Attempt>>(address("attempts", { ...query, limit: SIZE, offset }), signal),
    JSON.stringify([query, offset]),
  );
  const change = (changes: Record<string, string>) => {
    setOffset(0);
    choose(changes);
  };
  return (
    <>
      <div className="sb-fields">
        {(["store", "client"] as const).map((name) => (
          <label key={name} className="sb-field">
            {name}
            <input
              defaultValue={filters[name] ?? ""}
              placeholder="all"
              onBlur={(event) => change({ [name]: event.target.value.trim() })}
              onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
            />
          </label>
        ))}
        <Choice name="operation" chosen={filters.operation} values={["write", "read"]} onChoose={change} />
        <Choice
          name="status"
          chosen={filters.status}
          values={["verified", "failed", "not_run"]}
          onChoose={change}
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
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
            <section className="sb-scroll" tabIndex={0} aria-label="Attempts">
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
                              change({
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
            </section>
          </>
        )}
      </Ready>
    </>
  );
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

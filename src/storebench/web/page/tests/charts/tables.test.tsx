import { render, screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import type { Attempt, Axis, CellFigures, Chart, Metric, Spread, Study } from "../../src/api/types";
import { Charts } from "../../src/charts/ChartViews";
import { tableData } from "../../src/model/tables";
import { type Failure, Failures } from "../../src/views/run/Failures";
import { ATTEMPT, BULK, cellOf, FAILED, NO_CHOICE } from "../data";

const metric = (name: string, title: string, unit: string) =>
  ({ ...BULK.metrics[0], name, title, unit }) as Metric;
const TABLE = { title: "Stops", axis: "stop", metrics: ["lost", "again_s"], operations: ["write"] };
const STUDY: Study = {
  ...BULK,
  metrics: [...BULK.metrics, metric("lost", "lost rows", ""), metric("again_s", "until it works again", "s")],
  tables: [TABLE],
};
const BROKEN: Partial<Attempt> = {
  ...FAILED,
  error_kind: "broken_promise",
  error: "3 writes are lost, and the store guarantees that none is",
};

/** Return a cell at a value of the axis: an attempt for each of these metrics or changes. */
function stopped(store: string, stop: string, attempts: Partial<Attempt>[]): CellFigures {
  const axes = { batch: "10", stop };
  const all = attempts.map(
    (changes, place): Attempt => ({
      ...ATTEMPT,
      ...changes,
      cell_key: `${store} ${stop}`,
      attempt_id: `${store} ${stop} ${place}`,
      store,
      axes,
      repeat: place + 1,
    }),
  );
  const counted = all.filter(({ status }) => status === "verified");
  const figures = Object.fromEntries(
    TABLE.metrics.flatMap((name): [string, Spread][] => {
      const values = counted.flatMap(({ metrics }) => metrics[name] ?? []).sort((one, other) => one - other);
      const [median, n] = [values[Math.floor((values.length - 1) / 2)], values.length];
      if (median === undefined) return [];
      const [low = null, high = null] = n < 6 ? [] : [values[0], values[n - 1]];
      return [[name, { n, median, interval_low: low, interval_high: high, interval_coverage: null }]];
    }),
  );
  return { ...cellOf(all[0] as Attempt), attempts: all, figures };
}

const of = (lost: number, again_s?: number) => ({
  metrics: { lost, ...(again_s === undefined ? {} : { again_s }) } as Record<string, number>,
});
const CELLS = [
  stopped("mongodb", "none", [{}]),
  stopped("mongodb", "short", [of(0, 5), of(0), of(12)]),
  stopped(
    "elasticsearch",
    "short",
    [1, 2, 3, 4, 5, 6].map((n) => of(0, 4 + n / 10)),
  ),
  stopped("delta-rs", "short", [of(0, 2), BROKEN, BROKEN]),
  stopped("delta-rs", "none", [{ ...FAILED, metrics: {} }]),
];

it("a table has a line for each cell to which its metrics apply, and never a figure without its n", () => {
  const { lines, exported } = tableData(STUDY, TABLE, CELLS);
  expect(lines.map(({ cell, medians }) => [cell.store, cell.axes.stop, ...medians])).toEqual([
    // a median of 0 does not hide a loss; one of three attempts worked again
    [
      ...["mongodb", "short"],
      { median: "0", interval: "interval: cannot tell", counted: "n 3, all 0 to 12" },
      { median: "5.00 s", interval: "interval: cannot tell", counted: "n 1 of 3" },
    ],
    [
      ...["elasticsearch", "short"],
      { median: "0", interval: "interval 0 to 0", counted: "n 6" },
      { median: "4.30 s", interval: "interval 4.10 to 4.60 s", counted: "n 6, all 4.10 to 4.60 s" },
    ],
    [
      ...["delta-rs", "short"],
      { median: "0", interval: "interval: cannot tell", counted: "n 1" },
      { median: "2.00 s", interval: "interval: cannot tell", counted: "n 1" },
    ],
    ["delta-rs", "none", ...TABLE.metrics.map(() => ({ median: "–", interval: "", counted: "" }))],
  ]);
  expect(exported[0]).toMatchObject({ store: "mongodb", stop: "short", lost: 0, lost_n: 3, again_s_n: 1 });
});

it("a table has no line if each cell has the value that the axis implies", () => {
  const stop = { ...(BULK.axes[0] as Axis), name: "stop", implied: "none" };
  const cells = [stopped("mongodb", "none", [of(0)]), stopped("delta-rs", "none", [BROKEN])];
  expect(tableData(STUDY, TABLE, cells).lines.length).toBe(2);
  expect(tableData({ ...STUDY, axes: [...STUDY.axes, stop] }, TABLE, cells).lines).toEqual([]);
});

it("a table is on the page of a run, and a broken guarantee is marked in it, with its text", () => {
  render(<Charts of={{ data: { study: STUDY, cells: CELLS, artifacts: [] } }} choice={NO_CHOICE} />);
  const table = within(screen.getByRole("region", { name: "Stops" })).getByRole("table");
  const rows = [...table.querySelectorAll("tbody tr")];
  const broken = rows.filter((row) => row.classList.contains("sb-broken"));
  // a line with attempts that do not count has a second row with their reasons
  expect([rows.length, broken.length]).toEqual([4 + 2, 2]);
  const text = "2 × ✕ failed: broken_promise: 3 writes are lost, and the store guarantees that none is";
  expect(broken[1]?.querySelector("strong")?.textContent).toBe(text);
  // and it is first in the list of what does not count
  const first = screen.getByText(/attempts are in no median/).parentElement?.querySelector("li");
  expect(first?.className).toBe("sb-broken");
  expect(first?.textContent).toContain("3 writes are lost");
});

it("a chart of a metric that some attempts report has only their cells, and is absent without any", () => {
  const chart = { ...(BULK.charts[0] as Chart), metric: "again_s", operations: ["write"] };
  const study = { ...STUDY, tables: [], charts: [chart] };
  const show = (cells: CellFigures[]) =>
    render(<Charts of={{ data: { study, cells, artifacts: [] } }} choice={NO_CHOICE} />);
  const { unmount } = show(CELLS);
  expect(screen.getByRole("img").getAttribute("aria-label")).toContain("medians of 3 cells");
  unmount();
  show(CELLS.slice(0, 1));
  expect(screen.queryByRole("img")).toBeNull();
});

it("a broken guarantee is first among the failures of a run", () => {
  const failure = (attempt: Partial<Attempt>): Failure => ({
    operation: "write",
    cell: "mongodb",
    repeat: "1",
    link: null,
    square: { state: "failed", detail: attempt.error ?? null, attempt: { ...ATTEMPT, ...attempt } },
  });
  render(<Failures failures={[failure(FAILED), failure(BROKEN)]} />);
  const items = screen.getAllByRole("listitem");
  expect(items.map(({ className }) => className)).toEqual(["sb-broken", ""]);
  expect(items[0]?.textContent).toContain("3 writes are lost");
});

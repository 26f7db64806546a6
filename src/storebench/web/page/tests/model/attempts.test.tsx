import { cleanup, render, screen, within } from "@testing-library/react";
import { MemoryRouter } from "react-router-dom";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Attempt } from "../../src/api/types";
import { columnsOf, common, isSort, shown, taken } from "../../src/model/attempts";
import type { Square } from "../../src/model/matrix";
import { defaultRun, RunLine, runName } from "../../src/views/run/Runs";
import { Grid, type Live } from "../../src/views/run/RunView";
import {
  ATTEMPT,
  BULK,
  CELL,
  DISTURBED,
  ENGINE,
  FAILED,
  NO_CHOICE,
  NOT_RUN,
  RUN,
  SERVED,
  TOY,
  TURN,
  toy,
} from "../data";

const showGrid = (live: Live) =>
  render(
    <MemoryRouter>
      <Grid live={live} choice={NO_CHOICE} />
    </MemoryRouter>,
  );

describe("a table of attempts", () => {
  const texts = (attempt: Attempt) => shown(BULK, [attempt])[0];
  it("has the client's cores of those that it could use, and none of an engine", () => {
    expect(texts({ ...ATTEMPT, client_cpu_share: 0.98 })).toMatchObject({ "client CPU": "0.98 of 1" });
    expect(texts({ ...ATTEMPT, client_cores_usable: 0.5 })).toMatchObject({ "client CPU": "0.50 of 0.5" });
    expect([texts(ENGINE)?.["client CPU"], texts(ENGINE)?.["service CPU"]]).toEqual(["–", undefined]);
    expect(texts({ ...ENGINE, ...SERVED })).toMatchObject({ "client CPU": "–", "service CPU": "0.95 of 1" });
  });

  it("says what memory is of", () => {
    expect([ATTEMPT, ENGINE, FAILED].map((one) => texts(one)?.["memory of"])).toEqual([
      "client",
      "engine",
      "–",
    ]);
  });

  it("has the guarantee of a write, and what a read delivers", () => {
    expect(texts(ATTEMPT)).toMatchObject({ guarantee: "disk" });
    const read = { ...ATTEMPT, operation: "read", durability: null, delivers: "raw BSON" };
    expect(texts(read)).toMatchObject({ guarantee: "raw BSON" });
  });

  it("has the axes, the dataset, what ranks the operation, and its next metric", () => {
    expect(texts(ATTEMPT)).toMatchObject({
      batch: "10,000",
      rows: "2,000",
      seed: "7",
      "time in the store's client": "1.50 s",
      "dataset rows a second": "1,330 rows/s",
    });
    expect(texts(ATTEMPT)).not.toHaveProperty("executors");
    const spark = { ...ATTEMPT, axes: { ...CELL.axes, executors: "2" } };
    expect(shown(BULK, [ATTEMPT, spark]).map((line) => line.executors)).toEqual(["–", "2"]);
  });

  it("has one column for what stands for several operations, each with its unit", () => {
    const attempts = [toy("sum", 5), toy("shrink", 2 ** 30)];
    expect(shown(TOY, attempts)).toMatchObject([
      { codec: "none", level: "2", rows: "2,000", figure: "5.00 sums/s" },
      { codec: "none", level: "2", rows: "2,000", figure: "1.07 GB" },
    ]);
    const figure = columnsOf(TOY, attempts).find((column) => column.sort === "value");
    expect(attempts.map((attempt) => figure?.hint?.(attempt))).toEqual(["sums a second", "space saved"]);
  });

  it("has no two columns of one name", () => {
    const study = {
      ...BULK,
      metrics: BULK.metrics.map((metric) => ({ ...metric, title: "memory" })),
    };
    const titles = columnsOf(study, [ATTEMPT]).map((column) => column.title);
    expect(new Set(titles).size).toBe(titles.length);
  });

  it("is sorted by what the API knows, also by axes", () => {
    expect(["value", "total_s", "rows", "axis:codec", "metric:files", "only_s", null].map(isSort)).toEqual([
      true,
      true,
      true,
      true,
      true,
      false,
      false,
    ]);
    const sorts = columnsOf(TOY, [toy("sum", 5)]).map((column) => column.sort);
    expect(sorts).toContain("axis:level");
    expect(sorts.filter(Boolean).every(isSort)).toBe(true);
  });

  it("is taken away with a column for each value and each figure", () => {
    const spark = { ...ATTEMPT, axes: { ...CELL.axes, executors: "2" } };
    const table = taken(BULK, [FAILED, spark]);
    expect(table).toMatchObject([
      { batch: "10000", executors: null, rows: 2000, only_s: null, status: "failed" },
      { batch: "10000", executors: 2, rows: 2000, only_s: 1.5, status: "verified" },
    ]);
    expect(Object.keys(table[0] ?? {})).toEqual(Object.keys(table[1] ?? {}));
    expect(table[0]).not.toHaveProperty("axes");
  });

  it("marks the attempt that a later try has superseded", () => {
    const first = { ...FAILED, repeat: 1, superseded: true };
    const second = { ...ATTEMPT, try_number: 2 };
    expect(shown(BULK, [first, second]).map((row) => [row.repeat, row.state])).toEqual([
      ["1, try 1", "superseded by a later try (failed: oom_killed): out of memory"],
      ["1, try 2", "verified"],
    ]);
  });

  it("says once what all have in common", () => {
    const [same, different] = common([
      { store: "a", rows: "1" },
      { store: "b", rows: "1" },
    ]);
    expect([same, different]).toEqual([{ rows: "1" }, [{ store: "a" }, { store: "b" }]]);
    expect(common([{ store: "a" }])).toEqual([{}, [{ store: "a" }]]);
    expect(common([])).toEqual([{}, []]);
  });

  it("never calls a disturbed attempt verified", () => {
    expect(texts(DISTURBED)).toMatchObject({ state: "disturbed: throttled in 3 periods" });
  });
});

it("a square of a disturbed attempt has its own sign, its time and the reason", () => {
  const square = { state: "disturbed" as const, detail: DISTURBED.disturbed, attempt: DISTURBED };
  const none = { state: "queued" as const, detail: null, attempt: null };
  const place = `${CELL.cell_key}\n1\n`;
  const squares = new Map<string, Square>([
    [`${place}write`, square],
    [`${place}read`, none],
  ]);
  showGrid({ run: RUN, study: BULK, turns: [TURN], attempts: [DISTURBED], squares });
  const cell = within(screen.getByRole("table")).getByTitle("throttled in 3 periods");
  expect(cell.className).toContain("sb-disturbed");
  expect(cell.textContent).toBe("◆ 1.50 s · 1,330 rows/s (disturbed)throttled in 3 periods");
  expect(screen.getByText("disturbed", { selector: ".sb-legend .sb-disturbed" }).textContent).toBe(
    "◆ disturbed",
  );
});

it("what did not begin is not run, with the reason, and not failed", () => {
  const place = `${CELL.cell_key}\n1\n`;
  const squares = new Map<string, Square>([
    [`${place}write`, { state: "stopped", detail: "The task was stopped", attempt: FAILED }],
    [`${place}read`, { state: "not run", detail: "Its write was stopped", attempt: NOT_RUN }],
  ]);
  showGrid({ run: RUN, study: BULK, turns: [TURN], attempts: [], squares });
  const [write, read] = within(screen.getByRole("table")).getAllByRole("cell").slice(-2);
  expect(write?.textContent).toBe("■ stoppedThe task was stopped");
  expect(read?.textContent).toBe("○ not runIts write was stopped");
});

describe("a run", () => {
  // two hours ahead of UTC, all year
  beforeAll(() => vi.stubEnv("TZ", "Africa/Maputo"));
  afterAll(() => vi.unstubAllEnvs());

  it("has a name of its study, its local start, its stores, its rows and its state", () => {
    const run = {
      ...RUN,
      cells: 4,
      cell_key: null,
      stores: ["elasticsearch", "mongodb"],
      failed: 1,
      not_run: 2,
    };
    expect(runName(run)).toBe(
      "bulk_write_read · 2026-11-22 13:59 · elasticsearch, mongodb; 2,000 rows · success",
    );
    for (const airflow_run_id of ["backfill__2001-01-01", "cell__mongodb_reference_batch_10000__2026-11-23"])
      expect(runName({ ...RUN, airflow_run_id })).toContain(
        "bulk_write_read · 2026-11-22 13:59 · backfill: one cell, mongodb reference batch=10000; 2,000 rows",
      );
  });

  it("is what 'latest' means where none is asked for, also if a backfill's cell is newer", () => {
    const page = { items: [{ ...RUN, id: "cell" }, RUN], offset: 0, more: false };
    expect(defaultRun({ ...page, latest: RUN.id })).toBe(RUN.id);
    expect(defaultRun({ ...page, latest: null })).toBe("cell");
  });

  it("says between what it takes where only that is known", () => {
    const run = {
      ...RUN,
      state: "running" as const,
      started_at: new Date().toISOString(),
      finished_at: null,
    };
    const going = { ...run, verified: 0, expected_s: 600, expected_most_s: 7200 };
    showGrid({ run: going, study: BULK, turns: [], attempts: [], squares: new Map() });
    expect(screen.getByText(/at least 10 min left/)).toBeTruthy();
    cleanup();
    const sure = { ...going, expected_most_s: 620 };
    showGrid({ run: sure, study: BULK, turns: [], attempts: [], squares: new Map() });
    expect(screen.getByText(/about 10 min left/)).toBeTruthy();
  });

  it("that was refused says why, and has no squares", () => {
    const reason = "The dataset needs 484 GB, and 6 GB of the disk are free.";
    const none = { stores: [], rows: null, seed: null, cells: 0, cell_key: null, planned: 0, verified: 0 };
    const run = { ...RUN, ...none, state: "refused" as const, reason };
    expect(runName(run)).toBe("bulk_write_read · 2026-11-22 13:59 · refused");
    showGrid({ run, study: BULK, turns: [], attempts: [], squares: new Map() });
    expect(screen.getByText(reason, { exact: false }).textContent).toContain("refused before any work");
    expect(screen.queryByRole("table")).toBeNull();
  });

  it("that ended early says why", () => {
    const run = { ...RUN, state: "failed" as const, reason: "Marked as failed in Airflow" };
    showGrid({ run, study: BULK, turns: [], attempts: [], squares: new Map() });
    expect(screen.getByText("Marked as failed in Airflow", { exact: false })).toBeTruthy();
  });

  it("that was stopped has done what it has tried, and took until its end in Airflow", () => {
    const numbers = { planned: 12, verified: 3, failed: 1, not_run: 8 };
    const ended = { state: "failed" as const, finished_at: "2026-11-22T11:59:30Z" };
    const run = { ...RUN, ...numbers, ...ended, reason: "Marked as failed in Airflow", to_close: true };
    const { container } = showGrid({ run, study: BULK, turns: [], attempts: [], squares: new Map() });
    expect(container.textContent).toContain(
      "failed bulk_write_read: 4 of 12 operations, 3 verified, 1 failed, 8 not run",
    );
    expect(container.textContent).toContain(" · 30 s · ");
    expect(container.textContent).toContain("does the remaining operations");
    expect((screen.getByRole("progressbar") as HTMLProgressElement).value).toBe(4);
  });

  it("says which dataset it has", () => {
    const { container } = render(<RunLine run={RUN} />);
    expect(container.textContent).toContain("2 verified · rows 2,000, seed 7 · 2 min 0 s");
  });
});

it("a run says how many of its verified attempts were disturbed", () => {
  const { container, rerender } = render(<RunLine run={{ ...RUN, disturbed: 1 }} />);
  expect(container.textContent).toContain("2 verified, of these 1 disturbed");
  rerender(<RunLine run={RUN} />);
  expect(container.textContent).not.toContain("disturbed");
});

it("a run of another study has its operations, figures and axes, and what is hidden is not there", () => {
  const cells = ["zip", "none"].map((codec) => toy("sum", 5, { codec, level: "2" }));
  const turns = cells.map((cell) => ({
    ...TURN,
    ...cell,
    operations: ["sum", "fill"],
    arm: null,
  }));
  const squares = new Map<string, Square>(
    cells.flatMap((attempt) => [
      [`${attempt.cell_key}\n1\nfill`, { state: "queued", detail: null, attempt: null }],
      [`${attempt.cell_key}\n1\nsum`, { state: "verified", detail: null, attempt }],
    ]),
  );
  const live = { run: { ...RUN, study: "toy" }, study: TOY, turns, attempts: cells, squares };
  const lines = () =>
    [...document.querySelectorAll("tr")].map((line) =>
      [...line.children].map((cell) => cell.textContent).join(" | "),
    );
  const { rerender } = showGrid(live);
  expect(lines()).toEqual([
    "cell | repeat | fill | sum",
    "abacus hand, codec zip | 1 | … queued | ✓ 5.00 sums/s",
    "abacus hand, codec none | 1 | … queued | ✓ 5.00 sums/s",
  ]);
  expect(screen.getByRole("group", { name: "codec" }).title).toBe("What codec means.");
  const asked = new URLSearchParams("without=axis:codec:zip");
  rerender(
    <MemoryRouter>
      <Grid live={live} choice={{ ...NO_CHOICE, asked }} />
    </MemoryRouter>,
  );
  expect(lines()).toHaveLength(2);
  expect(screen.getByRole("checkbox", { name: "zip" })).toHaveProperty("checked", false);
});

import { render, screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { common, shown } from "../src/attempts";
import { Charts, Phases } from "../src/ChartViews";
import type { Square } from "../src/matrix";
import { RunLine, runLabel } from "../src/Runs";
import { Grid } from "../src/RunView";
import type { Attempt } from "../src/types";
import { ATTEMPT, CELL, cellOf, DISTURBED, ENGINE, FAILED, NO_CHOICE, NOT_RUN, RUN, TURN } from "./data";

describe("a table of attempts", () => {
  const texts = (attempt: Attempt) => shown([attempt])[0];

  it("has the client's cores of those that it could use, and none of an engine", () => {
    expect(texts({ ...ATTEMPT, client_cpu_share: 0.98 })).toMatchObject({ "client CPU": "0.98 of 1" });
    expect(texts({ ...ATTEMPT, client_cores_usable: 0.5 })).toMatchObject({ "client CPU": "0.50 of 0.5" });
    expect(texts(ENGINE)).toMatchObject({ "client CPU": "–", state: "verified" });
  });

  it("says what memory is of", () => {
    expect([ATTEMPT, ENGINE, FAILED].map((one) => texts(one)?.["memory of"])).toEqual([
      "client",
      "engine",
      "–",
    ]);
  });

  it("has what a write was promised, and what a read delivers", () => {
    expect(texts(ATTEMPT)).toMatchObject({ durability: "disk", delivers: "–" });
    const read = { ...ATTEMPT, operation: "read" as const, durability: null, delivers: "raw BSON" };
    expect(texts(read)).toMatchObject({ durability: "–", delivers: "raw BSON" });
  });

  it("has the dataset, the batch size and the rows a second", () => {
    expect(texts(ATTEMPT)).toMatchObject({
      "batch size": "10,000",
      "dataset rows": "2,000",
      seed: "7",
      "rows/s": "1,330",
    });
  });

  it("marks the attempt that a later try has superseded", () => {
    const first = { ...FAILED, repeat: 1, superseded: true };
    const second = { ...ATTEMPT, try_number: 2 };
    expect(shown([first, second]).map((row) => [row.repeat, row.state])).toEqual([
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
  render(<Grid live={{ run: RUN, turns: [TURN], attempts: [DISTURBED], squares, broken: false }} />);
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
  render(<Grid live={{ run: RUN, turns: [TURN], attempts: [], squares, broken: false }} />);
  const [write, read] = within(screen.getByRole("table")).getAllByRole("cell").slice(-2);
  expect(write?.textContent).toBe("■ stoppedThe task was stopped");
  expect(read?.textContent).toBe("○ not runIts write was stopped");
});

describe("a run", () => {
  it("is chosen by its stores, its dataset's rows, its start and its state", () => {
    const run = {
      ...RUN,
      cells: 4,
      cell_key: null,
      stores: ["elasticsearch", "mongodb"],
      failed: 1,
      not_run: 2,
    };
    expect(runLabel(run)).toBe(
      "2026-11-22 11:59 UTC · elasticsearch, mongodb · 2,000 rows · success · 2 verified, 1 failed, 2 not run",
    );
    for (const airflow_run_id of ["backfill__2001-01-01", "cell__mongodb_reference_batch_10000__2026-11-23"])
      expect(runLabel({ ...RUN, airflow_run_id })).toContain(
        "UTC · backfill: one cell, mongodb reference batch=10000 · 2,000 rows",
      );
  });

  it("that was refused says why, and has no squares", () => {
    const reason = "The dataset needs 484 GB, and 6 GB of the disk are free.";
    const none = { stores: [], rows: null, seed: null, cells: 0, cell_key: null, planned: 0, verified: 0 };
    const run = { ...RUN, ...none, state: "refused" as const, reason };
    expect(runLabel(run)).toBe("2026-11-22 11:59 UTC · bulk_write_read · refused");
    render(<Grid live={{ run, turns: [], attempts: [], squares: new Map(), broken: false }} />);
    expect(screen.getByText(reason, { exact: false }).textContent).toContain("refused before any work");
    expect(screen.queryByRole("table")).toBeNull();
  });

  it("that ended early says why", () => {
    const run = { ...RUN, state: "failed" as const, reason: "Marked as failed in Airflow" };
    render(<Grid live={{ run, turns: [], attempts: [], squares: new Map(), broken: false }} />);
    expect(screen.getByText("Marked as failed in Airflow", { exact: false })).toBeTruthy();
  });

  it("says which dataset it has", () => {
    const { container } = render(<RunLine run={RUN} />);
    expect(container.textContent).toContain("2,000 dataset rows, seed 7");
  });
});

it("a run says how many of its verified attempts were disturbed", () => {
  const { container, rerender } = render(<RunLine run={{ ...RUN, disturbed: 1 }} />);
  expect(container.textContent).toContain("2 verified, of these 1 disturbed");
  rerender(<RunLine run={RUN} />);
  expect(container.textContent).not.toContain("disturbed");
});

describe("the charts of a run", () => {
  it("name what is in no median, with the reason", () => {
    render(<Charts of={{ data: [ATTEMPT, FAILED, DISTURBED].map(cellOf) }} choice={NO_CHOICE} />);
    const list = screen.getByText("2 attempts are in no median: 1 failed, 1 disturbed").parentElement;
    expect(list?.textContent).toContain("repeat 1: disturbed: throttled in 3 periods");
    expect(list?.textContent).toContain("repeat 2: failed: oom_killed");
  });

  it("are eight where all figures are of one kind, and rank no client's memory with an engine's", () => {
    const both = (one: Attempt) => [cellOf(one), cellOf({ ...one, operation: "read" })];
    const { rerender } = render(<Charts of={{ data: both(ATTEMPT) }} choice={NO_CHOICE} />);
    const titles = () => screen.getAllByRole("heading").map((heading) => heading.textContent);
    expect(titles()).toHaveLength(8);
    rerender(<Charts of={{ data: [...both(ATTEMPT), ...both(ENGINE)] }} choice={NO_CHOICE} />);
    expect(titles().slice(0, 5)).toEqual([
      "Write-only time",
      "Write: dataset rows a second",
      "Write: total pod time",
      "Write: memory of the client (its server is not in it)",
      "Write: memory of the engine and its executors",
    ]);
    expect(titles()).toHaveLength(10);
  });

  it("say below them in what else the cells differ", () => {
    render(<Charts of={{ data: [ATTEMPT, ENGINE].map(cellOf) }} choice={NO_CHOICE} />);
    const chart = screen.getByRole("heading", { name: "Write-only time" }).closest("figure") as HTMLElement;
    expect(
      within(chart).getByText("Writes differ in durability: s3 (delta-rs), disk (mongodb)."),
    ).toBeTruthy();
  });
});

it("the phases of writes of different durability say so", () => {
  const phases = { connect: 1 };
  const cells = [ATTEMPT, ENGINE].map((attempt) => ({ ...cellOf(attempt), attempt, phases }));
  render(<Phases of={{ data: cells }} choice={NO_CHOICE} />);
  expect(screen.getByText("Writes differ in durability: s3 (delta-rs), disk (mongodb).")).toBeTruthy();
});

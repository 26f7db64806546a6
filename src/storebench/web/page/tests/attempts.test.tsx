import { cleanup, render, screen, within } from "@testing-library/react";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { shown } from "../src/attempts";
import { Charts, Phases } from "../src/ChartViews";
import type { Square } from "../src/matrix";
import { RunLine } from "../src/Runs";
import { Grid } from "../src/RunView";
import type { Attempt } from "../src/types";
import { ATTEMPT, CELL, cellOf, DISTURBED, ENGINE, FAILED, RUN, TURN } from "./data";

beforeAll(() => {
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
    },
  );
});
afterEach(cleanup);

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
  expect(cell.textContent).toBe("◆ 1.50 s (disturbed)throttled in 3 periods");
  expect(screen.getByText("disturbed", { selector: ".sb-legend .sb-disturbed" }).textContent).toBe(
    "◆ disturbed",
  );
});

it("a run says how many of its verified attempts were disturbed", () => {
  const { container, rerender } = render(<RunLine run={{ ...RUN, disturbed: 1 }} />);
  expect(container.textContent).toContain("2 verified, of these 1 disturbed");
  rerender(<RunLine run={RUN} />);
  expect(container.textContent).not.toContain("disturbed");
});

describe("the charts of a run", () => {
  it("name what is in no median, with the reason", () => {
    render(<Charts of={{ data: [ATTEMPT, FAILED, DISTURBED].map(cellOf) }} />);
    const list = screen.getByText("2 attempts are in no median: 1 not verified, 1 disturbed").parentElement;
    expect(list?.textContent).toContain("repeat 1: disturbed: throttled in 3 periods");
    expect(list?.textContent).toContain("repeat 2: failed: oom_killed");
  });

  it("are six where all figures are of one kind, and rank no client's memory with an engine's", () => {
    const both = (one: Attempt) => [cellOf(one), cellOf({ ...one, operation: "read" })];
    const { rerender } = render(<Charts of={{ data: both(ATTEMPT) }} />);
    const titles = () => screen.getAllByRole("heading").map((heading) => heading.textContent);
    expect(titles()).toHaveLength(6);
    rerender(<Charts of={{ data: [...both(ATTEMPT), ...both(ENGINE)] }} />);
    expect(titles().slice(0, 4)).toEqual([
      "Write-only time",
      "Write: total pod time",
      "Write: memory of the client (its server is not in it)",
      "Write: memory of the engine and its executors",
    ]);
    expect(titles()).toHaveLength(8);
  });

  it("say below them in what else the cells differ", () => {
    render(<Charts of={{ data: [ATTEMPT, ENGINE].map(cellOf) }} />);
    const chart = screen.getByRole("heading", { name: "Write-only time" }).closest("figure") as HTMLElement;
    expect(
      within(chart).getByText("Writes differ in durability: s3 (delta-rs), disk (mongodb)."),
    ).toBeTruthy();
  });
});

it("the phases of writes of different durability say so", () => {
  const phases = { connect: 1 };
  const cells = [ATTEMPT, ENGINE].map((attempt) => ({ ...cellOf(attempt), attempt, phases }));
  render(<Phases of={{ data: cells }} />);
  expect(screen.getByText("Writes differ in durability: s3 (delta-rs), disk (mongodb).")).toBeTruthy();
});

import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { MemoryRouter } from "react-router-dom";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Comparison, Deciding, Draft, Run } from "../../src/api/types";
import { CompareView } from "../../src/views/compare/CompareView";
import { inOrder } from "../../src/views/compare/DecidingPanel";
import { choices, sideName, sideText, valuesOf } from "../../src/views/compare/Sides";
import { runName } from "../../src/views/run/Runs";
import { BULK, CELL, NO_CHOICE, ORIGINS, RUN, UNITS } from "../data";

const OTHER: Run = { ...RUN, id: "s/other", airflow_run_id: "other" };
const UNSURE: Comparison["verdicts"][0] = {
  ...CELL,
  ...ORIGINS,
  ...UNITS,
  operation: "write",
  verdict: "cannot tell",
  metric: "only_s",
  unit: "s",
  reason: "too noisy: with a noise of 8.0% about 6 repeats would do",
  n_before: 5,
  n_after: 5,
  median_before: 1,
  median_after: 1.1,
  mean_before: 1,
  mean_after: 1.1,
  ratio: 1.1,
  ratio_low: 0.9,
  ratio_high: 1.3,
  p_adjusted: 0.4,
  remarks: [],
};
const DRAFT: Draft = {
  mistakes: [],
  cells: [],
  cells_total: 1,
  operations: 2,
  unknown: 0,
  expected_s: 30,
  expected_most_s: 30,
  may_end_earlier: false,
  dropped: 0,
  dropped_because: "",
  conf: {},
  may_start: true,
};
const BOTH = [
  { side: "A" as const, params: { stores: ["one"], pod_memory: "8Gi", repeats: 1 } },
  { side: "B" as const, params: { stores: ["one"], pod_memory: "2Gi", repeats: 1 } },
];
const ROUNDS = [{ side: "both" as const, params: { stores: ["one", "two"], repeats: 6 } }];

/** The answers of the API and of Airflow, and the requests that they received. */
let verdicts: Comparison["verdicts"];
let sides: Run[][];
let deciding: Deciding;
let draft: Draft;
let refuse: (posts: number) => Response | null;
let posts: { path: string; body: Record<string, unknown> }[];
let asked: { path: string; query: Record<string, string> }[];
let chosen: Record<string, string>;

const json = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status });

beforeEach(() => {
  verdicts = [UNSURE, { ...UNSURE, operation: "read", verdict: "better" }];
  sides = [[RUN], [OTHER]];
  deciding = {
    dag_id: "s",
    pairs: 1,
    turns: 6,
    most_turns: 100,
    parts: BOTH,
    refused: null,
    hopeless: [],
    notes: [],
  };
  draft = DRAFT;
  refuse = () => null;
  [posts, asked, chosen] = [[], [], {}];
  vi.stubGlobal("fetch", async (request: Request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (request.method === "POST") {
      const refused = refuse(posts.length);
      if (refused) return refused;
      posts.push({ path: pathname, body: await request.json() });
      return json({ dag_run_id: posts.at(-1)?.body.dag_run_id ?? "manual__1" });
    }
    const path = pathname.split("/").at(-1) ?? "";
    asked.push({ path, query: Object.fromEntries(searchParams) });
    if (path === "deciding") return json(deciding);
    if (path === "draft") return json(draft);
    if (path === "study") return json(BULK);
    if (path === "turns")
      return json({
        items: ["one", "two", "three"].map((store) => ({ ...CELL, store, axes: { batch: "1" } })),
        offset: 0,
        more: false,
      });
    const [before, after] = sides;
    const said = { differences: [], test: "t-test", margin_percent: 5, caution: null, units: "repeats" };
    return json({ before, after, verdicts, no_verdict: [], ...said });
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

async function show(before: string | undefined, after: string, by?: string) {
  render(
    <MemoryRouter>
      <CompareView
        {...{ runs: [RUN, OTHER], before, after, by, metric: undefined }}
        choice={{ ...NO_CHOICE, choose: (changes) => Object.assign(chosen, changes) }}
      />
    </MemoryRouter>,
  );
  await screen.findByText(/compared:/);
}
const open = () => fireEvent.click(screen.getByRole("button", { name: "measure these in turns" }));
const start = () => screen.getByRole("button", { name: /^Start \d+ turns/ }) as HTMLButtonElement;
const addressOf = (link: HTMLElement) =>
  Object.fromEntries(new URLSearchParams(link.getAttribute("href")?.split("?")[1]));

describe("what cannot be told", () => {
  it("is measured in turns of both sides: how many, how long, and in one comparison", async () => {
    await show(RUN.id, OTHER.id);
    expect(
      await screen.findByText(
        "1 inconclusive: 6 more repeats of each side would probably decide, about 6 min.",
      ),
    ).toBeTruthy();
    open();
    expect(await screen.findByText("12 runs, A and B in turns: 24 operations, about 6 min.")).toBeTruthy();
    const told = asked.find(({ path }) => path === "deciding");
    expect(told?.query).toEqual({ before: RUN.id, after: OTHER.id });
    fireEvent.change(screen.getByLabelText("Turns"), { target: { value: "5" } });
    expect(screen.getByText(/^10 runs, A and B in turns: 20 operations/)).toBeTruthy();
    fireEvent.click(start());
    const link = await screen.findByRole("link", { name: "one comparison" });
    await screen.findByText("10 of 10 runs started.");
    const names = posts.map(({ body }) => String(body.dag_run_id));
    expect(names.map((name) => name.slice(-4)).join(" ")).toBe(
      "001A 001B 002B 002A 003A 003B 004B 004A 005A 005B",
    );
    expect(posts.map(({ body }) => (body.conf as { pod_memory: string }).pod_memory).slice(0, 3)).toEqual([
      "8Gi",
      "2Gi",
      "2Gi",
    ]);
    const id = /^turns__([0-9A-Za-z.-]+)__001A$/.exec(names[0] as string)?.[1];
    expect(addressOf(link)).toEqual({ view: "compare", before: `turns:${id}:A`, after: `turns:${id}:B` });
    expect(start().disabled).toBe(true);
  });

  it("between two values of a run is measured in the rounds of one run", async () => {
    deciding = { ...deciding, parts: ROUNDS };
    sides = [[RUN], [RUN]];
    await show(undefined, RUN.id, "store=one,two");
    expect(asked.find(({ path }) => path === "compare")?.query).toEqual({
      before: RUN.id,
      after: RUN.id,
      by: "store=one,two",
    });
    open();
    expect(await screen.findByText(/^One run of 6 rounds, each with both sides: 12 operations/)).toBeTruthy();
    fireEvent.click(start());
    const link = await screen.findByRole("link", { name: "one comparison" });
    expect(posts.map(({ body }) => body.conf)).toEqual([{ stores: ["one", "two"], repeats: 6 }]);
    const run = "s/manual__1";
    expect(addressOf(link)).toEqual({ view: "compare", before: run, after: run, by: "store=one,two" });
  });

  it("and cannot be measured any more says why", async () => {
    deciding = { ...deciding, parts: [], refused: "A is of older code", hopeless: ["write: zero"] };
    await show(RUN.id, OTHER.id);
    open();
    const text = (await screen.findByText("These cannot be measured in turns.")).parentElement?.textContent;
    expect(text).toContain("A is of older code.");
    expect(text).toContain("write: zero");
    expect(screen.queryByRole("button", { name: /^Start/ })).toBeNull();
  });

  it("is nothing where all could be told", async () => {
    verdicts = verdicts.slice(1);
    await show(RUN.id, OTHER.id);
    expect(screen.queryByRole("button", { name: "measure these in turns" })).toBeNull();
  });
});

describe("the start of turns", () => {
  it("takes no number of turns that tells nothing, or that no run can have", async () => {
    await show(RUN.id, OTHER.id);
    open();
    const input = await screen.findByLabelText("Turns");
    for (const text of ["4", "101", "many"]) {
      fireEvent.change(input, { target: { value: text } });
      expect(screen.getByText(/^From 5 to 100 turns/)).toBeTruthy();
      expect((screen.getByRole("button", { name: /^Start/ }) as HTMLButtonElement).disabled).toBe(true);
    }
  });

  it("says why its plan would refuse it, and what one has to know of its result", async () => {
    draft = { ...DRAFT, mistakes: [{ parameter: "rows", text: "Rows: 0 is not a whole number" }] };
    deciding = { ...deciding, notes: ["These were measured by other code"] };
    await show(RUN.id, OTHER.id);
    open();
    expect(await screen.findByText(/^Such a run would be refused: Rows: 0 is not/)).toBeTruthy();
    expect(screen.getByText("These were measured by other code.")).toBeTruthy();
    expect(start().disabled).toBe(true);
  });

  it("that is refused in the middle says how many runs there are", async () => {
    refuse = (posts) => (posts < 3 ? null : json({ detail: "Dag has import errors" }, 400));
    await show(RUN.id, OTHER.id);
    open();
    await waitFor(start);
    fireEvent.click(start());
    expect((await screen.findByRole("alert")).textContent).toContain("Dag has import errors");
    expect(screen.getByText("3 of 12 runs started.")).toBeTruthy();
    expect(screen.getByRole("link", { name: "one comparison" })).toBeTruthy();
  });

  it("is not offered to whom Airflow would refuse it", async () => {
    draft = { ...DRAFT, may_start: false };
    await show(RUN.id, OTHER.id);
    open();
    expect((await screen.findByRole("alert")).textContent).toContain("You may not start runs of this DAG.");
    expect(start().disabled).toBe(true);
  });
});

describe("the sides", () => {
  it("of runs in turns are told together, and are looked for again while they fill", async () => {
    sides = [
      [RUN, OTHER],
      [RUN, { ...OTHER, state: "running" }],
    ];
    await show("turns:1:A", "turns:1:B");
    expect(screen.getByText(/2 runs \(1 success, 1 running\)/)).toBeTruthy();
    expect(screen.getByText(/2 runs \(2 success\)/)).toBeTruthy();
    expect(asked.filter(({ path }) => path === "run")).toEqual([]);
    expect(sideText([RUN, OTHER])).toBe(`2 runs, ${RUN.id} to s/other`);
    expect(sideName([RUN, OTHER])).toBe(`${RUN.id}-and-1-more`);
    expect(runName({ ...RUN, airflow_run_id: "turns__1__012B" })).toContain("turn 12 of B: ");
  });

  it("of one run are chosen by what tells them apart", async () => {
    sides = [[RUN], [RUN]];
    await show(undefined, RUN.id, "first");
    expect(screen.getByText(/A is store one, B is store two/)).toBeTruthy();
    fireEvent.change(screen.getByLabelText("B"), { target: { value: "three" } });
    expect(chosen).toEqual({ by: "store=one,three", metric: "" });
    const places = within(screen.getByLabelText("By")).getAllByRole("option");
    expect(places.map((one) => one.textContent)).toEqual(["store"]);
    fireEvent.change(screen.getByLabelText("Compare"), { target: { value: "two runs" } });
    expect(chosen.by).toBe("");
  });

  it("are the values that there are", () => {
    const cells = ["1", "2", "3"].map((size) => ({ ...CELL, axes: { size } }));
    const known = choices(cells);
    expect([...known]).toEqual([["size", ["1", "2", "3"]]]);
    expect(valuesOf("size=3,1", known)).toEqual({ place: "size", before: "3", after: "1" });
    expect(valuesOf("size=3,9", known)).toEqual({ place: "size", before: "1", after: "2" });
    expect(valuesOf("hue=3,1", known)?.place).toBe("size");
    expect(valuesOf("", choices([CELL]))).toBeUndefined();
  });
});

it("turns go A, B, B, A, so that a drift falls on both sides", () => {
  const found = inOrder({ ...deciding, parts: BOTH }, 3);
  expect(found.map(({ side, turn }) => `${turn}${side}`)).toEqual(["1A", "1B", "2B", "2A", "3A", "3B"]);
});

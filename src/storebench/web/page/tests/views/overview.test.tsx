import { fireEvent, render, screen, within } from "@testing-library/react";
import { MemoryRouter, useLocation, useSearchParams } from "react-router-dom";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Ranking, Run } from "../../src/api/types";
import { changed } from "../../src/model/choice";
import { pairOf, repeatOf, summaryOf } from "../../src/model/overview";
import { loadOthers } from "../../src/views/overview/load";
import { OverviewView } from "../../src/views/overview/OverviewView";
import { BULK, RUN, WRITE } from "../data";
import { line, OPEN, RANKING, SLOWER } from "../rankingData";

const said = (changes: Partial<Ranking>) => {
  const { outcome, headline, text } = summaryOf({ study: BULK, ranking: { ...RANKING, ...changes } });
  return [outcome, `${headline} ${text}`.trim()];
};
const best = line("mongodb", 2);
const FIGURE = "2.00 s, 95 % interval 1.90 to 2.10 s, n = 30";

describe("the sentence about a ranking", () => {
  it("names a winner only if each other cell is worse", () => {
    expect(said({})).toEqual([
      "decided",
      `Write: mongodb reference is fastest. Time in the store's client: ${FIGURE}. Next: delta-rs reference, 1.9 to 2.1 × slower.`,
    ]);
    expect(said({ ranked: [best, OPEN, SLOWER] })).toEqual([
      "undecided",
      `Write: no winner yet. mongodb reference has the best median of time in the store's client (${FIGURE}), but no verdict separates it from elasticsearch reference.`,
    ]);
    expect(summaryOf({ study: BULK, ranking: { ...RANKING, ranked: [best, OPEN] } }).missing).toBe(
      "Missing, with A for mongodb reference: too noisy: about 14 runs would do.",
    );
  });

  it("calls cells equal only by their verdicts", () => {
    const same = { ...OPEN, verdict: "the same" as const, reason: null };
    expect(said({ ranked: [best, same, SLOWER] })).toEqual([
      "equal",
      `Write: mongodb reference and elasticsearch reference are equal, within 5 %. Time in the store's client: ${FIGURE} for mongodb reference. Next: delta-rs reference, 1.9 to 2.1 × slower.`,
    ]);
    expect(said({ ranked: [best, same, OPEN] })[0]).toBe("undecided");
  });

  it("turns the ratio where higher is better", () => {
    const rate = { unit: "rows/s", better: "higher" as const };
    const lower = { ...SLOWER, ratio_low: 0.4, ratio_high: 0.5 };
    expect(said({ ...rate, ranked: [best, lower] })[1]).toContain("mongodb reference is highest. ");
    expect(said({ ...rate, ranked: [best, lower] })[1]).toContain("delta-rs reference, 2 to 2.5 × lower.");
  });

  it("names guarantees that differ", () => {
    const other = { ...SLOWER, guarantee: "s3" };
    expect(said({ ranked: [best, other] })[1]).toMatch(/slower\. The guarantees differ: disk, s3\.$/);
  });

  it("says what is missing", () => {
    expect(said({ ranked: [] })).toEqual(["nothing", "Write: nothing is measured yet."]);
    const once = line("mongodb", 2, {
      spread: { n: 1, median: 2, interval_low: null, interval_high: null, interval_coverage: null },
    });
    expect(said({ ranked: [once] })).toEqual([
      "alone",
      "Write: only mongodb reference can be ranked. Time in the store's client: 2.00 s, no interval, n = 1. Nothing to compare with.",
    ]);
  });
});

it("a repeat has the cells of the ranking, and the parameters of their newest run", () => {
  const params = { rows: 2000, seed: 7, pod_cpu: "2", repeats: 1, skip_done: true, stores: ["mongodb"] };
  const repeat = repeatOf({ ...RANKING, ranked: [best, OPEN] }, [
    { ...RUN, rows: 9, params: { pod_cpu: "9" } },
    { ...RUN, params },
  ]);
  expect(repeat).toEqual({
    pod_cpu: "2",
    stores: ["mongodb", "elasticsearch"],
    clients: ["reference"],
    rows: 2000,
    seed: 7,
    batch: ["10"],
    repeats: 6,
  });
});

it("runs are compared that have the dataset and a store in common", () => {
  const before = { ...RUN, id: "before" };
  const other = { ...RUN, id: "other", rows: 7 };
  expect(pairOf([{ ...RUN, state: "running" }, RUN, other, before])).toEqual({
    before: "before",
    after: RUN.id,
  });
  expect(pairOf([RUN, other])).toBeUndefined();
});

let rankings: Record<string, Ranking | undefined>;
let search: string;

beforeEach(() => {
  rankings = { write: RANKING, read: { ...RANKING, operation: "read", ranked: [best, OPEN] } };
  vi.stubGlobal("fetch", async ({ url }: Request) => {
    const { pathname, searchParams } = new URL(url);
    const path = pathname.split("/").at(-1);
    if (path === "dags") return new Response(JSON.stringify({ dags: [{ dag_id: BULK.name }] }));
    if (path === "study") return new Response(JSON.stringify(BULK));
    if (path === "draft")
      return new Response(
        JSON.stringify({
          cells: [{ key: "c", label: "null reference", repeats: 1, skipped: null }],
          cells_total: 3,
          operations: 6,
          unknown: 6,
          expected_s: 60,
          expected_most_s: 60,
        }),
      );
    const ranking = rankings[searchParams.get("operation") ?? "write"];
    return ranking
      ? new Response(JSON.stringify(ranking))
      : new Response(JSON.stringify({ detail: "There are no results" }), { status: 404 });
  });
});
afterEach(() => vi.unstubAllGlobals());

function Page({ runs, only }: { runs: Run[]; only: boolean }) {
  const [asked, setAsked] = useSearchParams();
  search = useLocation().search;
  const choice = {
    asked,
    choose: (changes: Record<string, string>) => setAsked((before) => changed(before, changes)),
    link: (changes: Record<string, string>) => `?${changed(asked, changes)}`,
  };
  return <OverviewView study={BULK.name} runs={runs} isListed only={only} choice={choice} />;
}
const show = (runs: Run[] = [RUN], only = true) =>
  render(
    <MemoryRouter>
      <Page runs={runs} only={only} />
    </MemoryRouter>,
  );

describe("the overview", () => {
  it("answers for each operation, and draws the bars of one", async () => {
    show();
    expect(await screen.findByText(/mongodb reference is fastest/)).toBeTruthy();
    expect(await screen.findByText(/no winner yet/)).toBeTruthy();
    const bars = () => screen.getByRole("list", { name: /from the best to the worst/ });
    const lines = within(bars()).getAllByRole("listitem");
    expect(lines.map((line) => line.textContent)).toEqual([
      "1mongodb reference2.00 sn = 30",
      "2delta-rs reference4.00 s1.9 to 2.1 × slower n = 30",
    ]);
    expect(lines.map((line) => line.className)).toEqual(["sb-best", ""]);
    const [fill] = lines.map((line) => line.querySelector<HTMLElement>(".sb-bar-fill"));
    expect(Number.parseFloat(fill?.style.width ?? "")).toBeCloseTo((100 * 2) / 4.1);
    fireEvent.click(screen.getByRole("button", { name: "Read" }));
    expect(search).toBe("?operation=read");
    expect(within(bars()).getAllByRole("listitem")[1]?.textContent).toContain("cannot tell");
    expect(bars().querySelector(".sb-best")).toBeNull();
    fireEvent.click(screen.getByRole("button", { name: "cannot tell" }));
    expect(screen.getByRole("status").textContent).toBe("too noisy: about 14 runs would do.");
  });

  it.each([
    [{}, []],
    [{ executors: ["1"] }, []],
    [{ executors: ["1", "2"] }, ["tidy"]],
  ])("asks for an operation of some cells only if such cells were measured: %j", async (offered, loaded) => {
    const tidy = { ...WRITE, name: "tidy", where: { executors: ["2"] } };
    rankings = { tidy: { ...RANKING, operation: "tidy" } };
    const study = { ...BULK, operations: [WRITE, tidy] };
    const others = await loadOthers(
      { study, ranking: { ...RANKING, offered } },
      new AbortController().signal,
    );
    expect(others.map(({ ranking }) => ranking.operation)).toEqual(loaded);
  });

  it("suggests to repeat what is undecided, and else to compare or to start", async () => {
    rankings = { write: { ...RANKING, ranked: [best, OPEN] } };
    show([
      { ...RUN, params: { pod_cpu: "2" } },
      { ...RUN, id: "before" },
    ]);
    const repeat = await screen.findByRole("link", { name: "Repeat to decide" });
    expect(repeat.className).toContain("sb-primary");
    const asked = new URL(repeat.getAttribute("href") ?? "", "http://airflow").searchParams;
    expect(asked.get("view")).toBe("start");
    expect(JSON.parse(asked.get("conf") ?? "")).toMatchObject({
      pod_cpu: "2",
      stores: "mongodb, elasticsearch",
      repeats: "6",
    });
    expect(screen.getByRole("link", { name: "Start a run" }).className).not.toContain("sb-primary");
  });

  it("suggests to compare runs once there is a winner", async () => {
    show([RUN, { ...RUN, id: "before" }]);
    const compare = await screen.findByRole("link", { name: "Compare runs" });
    expect(compare.className).toContain("sb-primary");
    expect(compare.getAttribute("href")).toContain("before=before");
  });

  it("lists the newest runs with their state and a readable name", async () => {
    show([{ ...RUN, state: "failed" }]);
    const runs = await screen.findByRole("region", { name: "Newest runs" });
    expect(runs.textContent).toContain("failed");
    expect(within(runs).getByRole("link").title).toBe(RUN.id);
    expect(within(runs).getByRole("link").textContent).toMatch(/^2026-11-22 .* 2,000 rows$/);
  });

  it("says without results what a first run would give, and leads to its form", async () => {
    rankings = {};
    show([], false);
    expect(await screen.findByText("No results yet.")).toBeTruthy();
    expect(
      await screen.findByText(/the run measures null reference and 2 more cells: 6 operations/),
    ).toBeTruthy();
    const start = screen.getByRole("link", { name: "Start a run" });
    expect(start.getAttribute("href")).toBe(`/?view=start&dag=${BULK.name}`);
  });
});

import { act, fireEvent, render, screen } from "@testing-library/react";
import { MemoryRouter, useLocation } from "react-router-dom";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Attempt, Run } from "../src/api/types";
import { type Props, Results } from "../src/Results";
import { ATTEMPT, BULK, measured, RUN, TURN } from "./data";

const OLD: Run = {
  ...RUN,
  id: "bulk_write_read/old",
  started_at: "2026-01-01T00:00:00Z",
  state: "failed",
  stores: ["delta-rs"],
  rows: 7,
  cell_key: null,
};
let run: Run;
/** The query of the page's address. */
let address: string;
let attempts: Attempt[];
/** The page's requests. */
let asked: string[];
/** Resolves when the list of runs has loaded. */
let listed: Promise<void>;

beforeEach(() => {
  vi.useFakeTimers();
  [run, attempts, asked] = [{ ...RUN, state: "running", finished_at: null }, [], []];
  listed = Promise.resolve();
  vi.stubGlobal("fetch", async ({ url: address }: Request) => {
    const { pathname } = new URL(address);
    if (pathname === "/api/v2/dags") return new Response(JSON.stringify({ dags: [{ dag_id: "toy" }] }));
    const path = pathname.replace("/storebench/api/", "");
    asked.push(path);
    if (path === "runs") await listed;
    const page = (items: unknown[]) => ({ items, offset: 0, more: false });
    const answers: Record<string, unknown> = {
      runs: { ...page([run, OLD]), latest: run.id },
      run,
      study: BULK,
      turns: page([TURN]),
      attempts: page([...attempts].reverse().slice(0, 1)),
      cells: page(attempts.map(measured)),
    };
    return new Response(JSON.stringify(answers[path]));
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
function Address() {
  address = useLocation().search;
  return null;
}
const show = async (asked = "?view=charts", on: Props = {}) => {
  render(
    <MemoryRouter initialEntries={[`/${asked}`]}>
      <Results {...on} />
      <Address />
    </MemoryRouter>,
  );
  await pass(100);
};
const times = (path: string) => asked.filter((one) => one === path).length;
const SENTENCE = /This run goes on: bars and lines appear when an attempt has ended/;

it("the charts of a run that goes on say when their lines come, and have them soon", async () => {
  await show();
  expect(screen.getByText(SENTENCE)).toBeTruthy();
  expect(screen.getByText("No attempts yet.")).toBeTruthy();
  attempts = [ATTEMPT];
  await pass(5000);
  expect(screen.queryByText("No attempts yet.")).toBeNull();
  expect(screen.getByRole("heading", { name: "Write: time in the store's client" })).toBeTruthy();
});

it("they are asked for again only if an attempt has come", async () => {
  attempts = [ATTEMPT];
  await show();
  await pass(60_000);
  expect(times("attempts")).toBeGreaterThan(10);
  expect(times("cells")).toBe(1);
  attempts = [ATTEMPT, { ...ATTEMPT, attempt_id: "next", repeat: 2 }];
  await pass(5000);
  expect(times("cells")).toBe(2);
});

it("the charts of a run that has ended do not say that more will come, and are looked at seldom", async () => {
  run = RUN;
  attempts = [ATTEMPT];
  await show();
  expect(screen.queryByText(SENTENCE)).toBeNull();
  await pass(60_000);
  expect(times("attempts")).toBe(3);
});

it.each([
  ["the newest run", "?view=run", {}],
  ["a run that is named", `?run=${RUN.id}`, {}],
  ["a run on its own page in Airflow", "", { dagId: RUN.dag_id, runId: RUN.airflow_run_id }],
])("%s is there before the list of all is, and does not begin anew with it", async (_, address, on) => {
  [run, attempts] = [RUN, [ATTEMPT]];
  let answer = () => {};
  listed = new Promise((done) => {
    answer = done;
  });
  await show(address, on);
  const row = screen.getByRole("rowheader");
  expect(screen.getByRole("button", { name: /^Run / }).textContent).not.toContain("choose");
  answer();
  await pass(100);
  expect(screen.getByRole("button", { name: /^Run bulk_write_read · .* · one cell/ })).toBeTruthy();
  expect(screen.getByRole("rowheader")).toBe(row);
  expect(times("turns")).toBe(1);
});

it("what is no view of one run waits for the list", async () => {
  listed = new Promise(() => {});
  await show("?view=compare");
  expect(asked).toEqual(["runs"]);
  expect(screen.getByRole("status").textContent).toBe("Loading …");
});

it.each(["run", "charts", "phases", "ranking", "compare", "history", "table", "start", "backfill"])(
  "the address of the view %s shows the view within its group",
  async (view) => {
    await show(`?view=${view}`);
    const [groups, views] = [
      screen.getByRole("navigation", { name: "Views" }),
      screen.queryAllByRole("navigation")[1],
    ];
    const group = [...groups.querySelectorAll("[aria-current]")].map((link) => link.textContent);
    expect(group).toHaveLength(1);
    if (views) expect(views.querySelectorAll("[aria-current=page]")).toHaveLength(1);
    expect(screen.getByRole("heading", { level: 2 }).textContent).toBe(
      views?.querySelector("[aria-current=page]")?.textContent ?? group[0],
    );
  },
);

it("the study is chosen once, for all views, and the choice keeps nothing of another study", async () => {
  await show("?view=table&store=mongo&run=bulk_write_read%2Fmanual__1&rank:rows=7&lines=value");
  fireEvent.click(screen.getByRole("button", { name: /^Study bulk_write_read/ }));
  fireEvent.change(screen.getByRole("combobox", { name: "Search: Study" }), { target: { value: "TO" } });
  fireEvent.keyDown(screen.getByRole("combobox", { name: "Search: Study" }), { key: "Enter" });
  await pass(100);
  expect(screen.getByRole("button", { name: "Study toy" })).toBe(document.activeElement);
  expect(address).toBe("?view=table&lines=value&study=toy");
});

it("a run is found by words and by its state", async () => {
  await show("?view=run");
  const menu = screen.getByRole("button", { name: /^Run bulk_write_read · / });
  expect(menu.title).toBe(RUN.id);
  fireEvent.click(menu);
  const names = () => screen.queryAllByRole("option").map((option) => option.textContent);
  expect(names()).toHaveLength(2);
  fireEvent.click(screen.getByRole("button", { name: "failed" }));
  expect(names()).toEqual([expect.stringContaining("delta-rs; 7 rows")]);
  fireEvent.click(screen.getByRole("button", { name: "all" }));
  fireEvent.change(screen.getByRole("combobox", { name: "Search: Run" }), { target: { value: "delta 7" } });
  expect(names()).toHaveLength(1);
  fireEvent.click(screen.getByRole("option"));
  expect(address).toContain("run=bulk_write_read%2Fold");
  expect(screen.queryByRole("option")).toBeNull();
});

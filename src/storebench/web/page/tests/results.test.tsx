import { act, render, screen } from "@testing-library/react";
import { MemoryRouter } from "react-router-dom";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Results } from "../src/Results";
import type { Attempt, Run } from "../src/types";
import { ATTEMPT, BULK, measured, RUN } from "./data";

let run: Run;
let attempts: Attempt[];
/** What the page has asked for. */
let asked: string[];

beforeEach(() => {
  vi.useFakeTimers();
  [run, attempts, asked] = [{ ...RUN, state: "running", finished_at: null }, [], []];
  vi.stubGlobal("fetch", async (address: string) => {
    const { pathname } = new URL(address);
    const path = pathname.replace("/storebench/api/", "");
    asked.push(path);
    const page = (items: unknown[]) => ({ items, offset: 0, more: false });
    const answers: Record<string, unknown> = {
      runs: { ...page([run]), latest: run.id },
      study: BULK,
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
const show = async () => {
  render(
    <MemoryRouter initialEntries={["/?view=charts"]}>
      <Results />
    </MemoryRouter>,
  );
  await pass(100);
};
const times = (path: string) => asked.filter((one) => one === path).length;
const SENTENCE = /This run goes on: bars and lines come when an attempt has ended/;

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

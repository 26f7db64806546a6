import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { OfRun } from "../../src/views/run/OfRun";
import { earlier } from "../../src/views/run/Runs";
import { RUN } from "../data";

/** The answers of Airflow and the API about runs. */
let states: Record<string, string>;
let active: { dag_run_id: string; state: string; queued_at: string }[];
let results: Record<string, unknown>;

beforeEach(() => {
  [states, active, results] = [{}, [], {}];
  vi.stubGlobal("fetch", async ({ url: address }: Request) => {
    const { pathname, searchParams } = new URL(address);
    const json = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status });
    if (pathname.endsWith("/api/run")) {
      const name = searchParams.get("run") ?? "";
      return name in results ? json(results[name]) : json({ detail: `There is no run '${name}'` }, 404);
    }
    if (pathname.endsWith("/dagRuns")) return json({ dag_runs: active, total_entries: active.length });
    const state = states[pathname.split("/").at(-1) ?? ""];
    return state ? json({ state }) : json({ detail: "not found" }, 404);
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const show = (run: string, runs = [RUN]) =>
  render(
    <OfRun run={run} runs={runs}>
      {() => "what was measured"}
    </OfRun>,
  );

describe("what is shown of a run", () => {
  it("is what was measured", async () => {
    show(RUN.id);
    expect(screen.getByText("what was measured")).toBeTruthy();
    cleanup();
    results["s/old"] = { ...RUN, id: "s/old" };
    show("s/old");
    expect(await screen.findByText("what was measured")).toBeTruthy();
  });

  it("is behind which runs it is queued", async () => {
    states.mine = "queued";
    active = [
      { dag_run_id: "first", state: "running", queued_at: "2026-11-22T12:00:00Z" },
      { dag_run_id: "second", state: "queued", queued_at: "2026-11-22T12:01:00Z" },
      { dag_run_id: "mine", state: "queued", queued_at: "2026-11-22T12:02:00Z" },
      { dag_run_id: "later", state: "queued", queued_at: "2026-11-22T12:03:00Z" },
    ];
    show("s/mine");
    const text = (await screen.findByRole("status")).textContent;
    await screen.findByText(/Queued behind/);
    expect(screen.getByRole("status").textContent).toContain(
      "Queued behind first (running), second (queued) Runs of a DAG execute one after the other.",
    );
    expect(text).not.toContain("Nothing here");
    expect(screen.getByRole("link", { name: "first" }).getAttribute("href")).toContain("/dags/s/runs/first");
    expect(screen.queryByText("what was measured")).toBeNull();
  });

  it("is that it is the next one, has begun, or ended before its plan", async () => {
    for (const [state, text] of [
      ["queued", /This run is next/],
      ["running", /The run has begun/],
      ["failed", /The run ended in Airflow before it was planned/],
    ] as const) {
      states.mine = state;
      show("s/mine");
      expect(await screen.findByText(text)).toBeTruthy();
      cleanup();
    }
  });

  it("is that there is none, where Airflow knows none either", async () => {
    show("s/none");
    expect((await screen.findByRole("alert")).textContent).toContain("There is no run 's/none'");
  });

  it("is why it was refused, whatever the view, and its parameters to send again", () => {
    const refused = { ...RUN, state: "refused" as const, reason: "The disk is full.", params: { rows: 7 } };
    show(RUN.id, [refused]);
    expect(document.body.textContent).toContain("The disk is full.");
    expect(document.querySelector("pre")?.textContent).toContain('"rows": 7');
    const [here, run, form] = screen.getAllByRole("link").map((link) => link.getAttribute("href"));
    const asked = new URLSearchParams(here?.split("?")[1]);
    expect(Object.fromEntries(asked)).toEqual({ view: "start", dag: RUN.dag_id, conf: '{"rows":"7"}' });
    expect(run).toContain(`/dags/${RUN.dag_id}/runs/${RUN.airflow_run_id}`);
    expect(form).toContain(`/dags/${RUN.dag_id}/runs`);
    expect(document.body.textContent).toContain("Trigger again with this config");
    expect(document.body.textContent).toContain(`storebench replay ${RUN.id} --trigger`);
    expect(screen.queryByText("what was measured")).toBeNull();
  });
});

it("a run is compared with the newest earlier one that is likely to share cells with it", () => {
  const at = (minute: number, changes = {}) => ({
    ...RUN,
    id: `run${minute}`,
    started_at: `2026-11-22T12:0${minute}:00Z`,
    ...changes,
  });
  const runs = [
    at(9),
    at(8),
    at(7, { state: "running" }),
    at(6, { rows: 5 }),
    at(5, { study: "toy" }),
    at(4, { stores: ["redis"] }),
    at(3, { verified: 0 }),
    at(2, { state: "failed" }),
    at(1),
  ];
  expect(earlier(runs, "run9")?.id).toBe("run8");
  expect(earlier(runs, "run8")?.id).toBe("run2");
  expect(earlier(runs, "run1")).toBeUndefined();
  expect(earlier(runs, "gone")).toBeUndefined();
});

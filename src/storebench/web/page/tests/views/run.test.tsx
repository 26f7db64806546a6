import { cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { MemoryRouter } from "react-router-dom";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Attempt, Run } from "../../src/api/types";
import { liveRanking } from "../../src/model/live";
import { Grid, type Live, squaresOf } from "../../src/views/run/RunView";
import { ATTEMPT, BULK, CELL, DISTURBED, FAILED, NO_CHOICE, RUN, TOY, TURN, toy } from "../data";

/** The answers of Airflow, and the requests that change something. */
let answers: Record<string, Response>;
let sent: { method: string; path: string; body: Record<string, unknown> }[];

const json = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status });

beforeEach(() => {
  [answers, sent] = [{}, []];
  vi.stubGlobal("fetch", async (request: Request) => {
    const path = decodeURIComponent(new URL(request.url).pathname);
    if (request.method !== "GET") sent.push({ method: request.method, path, body: await request.json() });
    const answer = answers[`${request.method} ${path}`];
    if (answer) return answer;
    return request.method === "GET" ? json({ detail: "not found" }, 404) : json({ dag_run_id: "manual__2" });
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const GOING: Run = { ...RUN, state: "running", finished_at: null, verified: 1 };
const RUNS = `/api/v2/dags/${RUN.dag_id}/dagRuns`;

function show(run: Run, attempts: Attempt[], changes: Partial<Live> = {}) {
  const turns = [TURN, { ...TURN, repeat: 2 }];
  const squares = squaresOf(run, BULK, turns, attempts, new Map());
  return render(
    <MemoryRouter>
      <Grid live={{ run, study: BULK, turns, attempts, squares, ...changes }} choice={NO_CHOICE} />
    </MemoryRouter>,
  );
}
const click = (name: string | RegExp) => fireEvent.click(screen.getByRole("button", { name }));
const text = () => document.body.textContent;

describe("a run that goes on", () => {
  it("says what is measured now, and in which phase", () => {
    const place = `${CELL.cell_key}\n1\n`;
    const squares = squaresOf(GOING, BULK, [TURN], [], new Map());
    squares.set(`${place}write`, { state: "running", detail: "image_pulled", attempt: null });
    show(GOING, [], { turns: [TURN], squares });
    expect(text()).toContain("Now: write of mongodb reference, repeat 1: image pulled");
    cleanup();
    show(RUN, [ATTEMPT]);
    expect(text()).not.toContain("Now:");
  });

  it("has a legend of the states that there are", () => {
    show(GOING, [ATTEMPT]);
    const legend = document.querySelector(".sb-legend") as HTMLElement;
    expect([...legend.children].map((state) => state.textContent)).toEqual(["… queued", "✓ verified"]);
  });

  it("can be stopped, after a question", async () => {
    show(GOING, []);
    click("Stop");
    expect(sent).toEqual([]);
    click("Go on");
    click("Stop");
    click("Stop the run");
    await screen.findByText("The run is stopped.");
    const path = `${RUNS}/${RUN.airflow_run_id}`;
    expect(sent).toEqual([{ method: "PATCH", path, body: { state: "failed" } }]);
    expect(screen.queryByRole("button", { name: "Repeat" })).toBeNull();
  });
});

describe("a run that has ended", () => {
  const request = (conf: object, partition_key: string | null = null) => {
    answers[`GET ${RUNS}/${RUN.airflow_run_id}`] = json({ conf, partition_key });
  };

  it("is repeated with the same parameters, and leads to the new run", async () => {
    request({ rows: 7 });
    show(RUN, [ATTEMPT]);
    click("Repeat");
    const link = await screen.findByRole("link", { name: "Follow the run" });
    expect(sent).toEqual([{ method: "POST", path: RUNS, body: { logical_date: null, conf: { rows: 7 } } }]);
    expect(new URLSearchParams(link.getAttribute("href")?.split("?")[1]).get("run")).toBe(
      `${RUN.dag_id}/manual__2`,
    );
  });

  it("is repeated also where its parameters would skip what is verified", async () => {
    request({ rows: 7, skip_done: true }, "mongodb/reference");
    show(RUN, [ATTEMPT]);
    click("Repeat");
    await screen.findByText("A run is started.");
    expect(sent[0]?.body).toMatchObject({
      partition_key: "mongodb/reference",
      conf: { rows: 7, skip_done: false },
    });
    expect(String(sent[0]?.body.dag_run_id)).toMatch(/^cell__mongodb_reference__/);
  });

  it("is completed by a run of what is missing, also if Airflow has forgotten the run", async () => {
    show({ ...RUN, params: { rows: 7, note: null } }, [ATTEMPT, FAILED]);
    click("Measure what is missing (3)");
    await screen.findByText("A run is started.");
    expect(sent[0]?.body).toEqual({ logical_date: null, conf: { rows: 7, skip_done: true } });
  });

  it("has nothing missing where all is verified", () => {
    const both = [ATTEMPT, { ...ATTEMPT, operation: "read" }];
    show(RUN, [...both, ...both.map((attempt) => ({ ...attempt, repeat: 2 }))]);
    expect(screen.queryByRole("button", { name: /missing/ })).toBeNull();
  });

  it("says why Airflow does not start another one", async () => {
    request({});
    answers[`POST ${RUNS}`] = json({ detail: "Forbidden" }, 403);
    show(RUN, [ATTEMPT]);
    click("Repeat");
    expect((await screen.findByRole("alert")).textContent).toContain("You may not start runs of this DAG.");
  });

  it("begins with its failures: where, why, and what to do; the same reason once", () => {
    const failed = { ...FAILED, error_kind: "oom_killed", error: "out of memory" };
    show(RUN, [
      { ...failed, repeat: 1 },
      { ...failed, repeat: 2 },
    ]);
    const failures = within(screen.getByRole("region", { name: "Failures" }));
    expect(failures.getByText("2 operations failed")).toBeTruthy();
    const [item, ...others] = failures.getAllByRole("listitem");
    expect(others).toEqual([]);
    expect(item?.textContent).toBe(
      "write of mongodb reference, repeats 1, 2oom_killed: out of memoryGive the pod more memory.",
    );
    expect(failures.getByRole("link").getAttribute("href")).toContain("/tasks/cell.write/mapped/0");
  });
});

describe("the results so far", () => {
  it("are ranked from best to worst, and single measurements are hollow", () => {
    const slow = { ...ATTEMPT, cell_key: "slow", store: "elasticsearch", value: 3 };
    show(GOING, [slow, ATTEMPT, { ...ATTEMPT, repeat: 2 }]);
    const bars = within(screen.getByRole("region", { name: "Results of write" }));
    expect(bars.getAllByRole("listitem").map((bar) => bar.textContent)).toEqual([
      "1mongodb reference1.50 sbest n = 2",
      "2elasticsearch reference3.00 s2× slower n = 1",
    ]);
    const hollow = [...document.querySelectorAll(".sb-bar-fill")].map((bar) =>
      bar.classList.contains("sb-hollow"),
    );
    expect(hollow).toEqual([false, true]);
  });

  it("rank neither floors nor disturbed attempts, and no warm-up counts", () => {
    const ranking = liveRanking(
      BULK,
      [
        { ...DISTURBED, cell_key: "disturbed", value: 1 },
        { ...ATTEMPT, cell_key: "floor", store: "null", value: 0.5 },
        { ...ATTEMPT, warm_up: true, value: 9 },
        { ...ATTEMPT, superseded: true, value: 9 },
        { ...DISTURBED, value: 9 },
        ATTEMPT,
      ],
      "write",
    );
    expect(ranking?.results.map(({ cell, value, ratio }) => [cell.cell_key, value, ratio])).toEqual([
      [ATTEMPT.cell_key, 1.5, 1],
      ["floor", 0.5, null],
      ["disturbed", 1, null],
    ]);
  });

  it("follow the better direction of the metric, and are none without a direction or a figure", () => {
    const sums = [5, 10].map((value, level) => toy("sum", value, { level: String(level) }));
    expect(liveRanking(TOY, sums, "sum")?.results.map(({ value, ratio }) => [value, ratio])).toEqual([
      [10, 1],
      [5, 2],
    ]);
    expect(liveRanking(TOY, sums, "fill")).toBeNull();
    expect(liveRanking(BULK, [{ ...ATTEMPT, metric: "source_s" }], "write")).toBeNull();
  });
});

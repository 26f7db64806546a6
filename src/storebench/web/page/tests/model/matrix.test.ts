import { describe, expect, it } from "vitest";
import { lastPhase, type Task } from "../../src/api/airflow";
import { secondsLeft, square } from "../../src/model/matrix";
import { ATTEMPT, DISTURBED, ENGINE, FAILED, NOT_RUN, TURN } from "../data";

const task = (state: string | null, start_date: string | null = "2026"): Task => ({
  task_id: "cell.write",
  map_index: 0,
  state,
  try_number: 1,
  start_date,
});

describe("a square", () => {
  it.each([
    ["verified", ATTEMPT, undefined, "verified"],
    ["bound by its client", { ...ATTEMPT, client_bound: true }, undefined, "client-bound"],
    ["bound by a service", { ...ATTEMPT, service_bound: true }, undefined, "service-bound"],
    ["bound by its client, and disturbed", { ...DISTURBED, client_bound: true }, undefined, "disturbed"],
    ["without a client to be bound by", ENGINE, undefined, "verified"],
    ["failed", FAILED, undefined, "failed"],
    ["not run", NOT_RUN, undefined, "not run"],
    ["stopped", { ...FAILED, error_kind: "killed" }, undefined, "stopped"],
    ["behind a task that has failed", undefined, task("upstream_failed"), "not run"],
    ["tried again", FAILED, task("running"), "running"],
    ["at work", undefined, task("running"), "running"],
    ["next", undefined, task("queued"), "queued"],
    ["not yet", undefined, task("scheduled"), "queued"],
    ["not yet, as far as Airflow tells", undefined, undefined, "queued"],
    ["killed before its row", undefined, task("failed"), "failed"],
    ["ended before it began", undefined, task("failed", null), "not run"],
  ] as const)("that is %s", (_, attempt, of, state) => {
    expect(square(TURN, "write", attempt, of, false).state).toBe(state);
  });

  it("that a run has ended without is not waited for", () => {
    expect(square(TURN, "write", undefined, undefined, true)).toMatchObject({
      state: "not run",
      detail: "the run ended without it",
    });
  });

  it.each([
    ["failed", "has failed"],
    ["stopped", "was stopped"],
    ["not run", "was not run"],
  ] as const)("that has nothing to work on never began: %s", (state, words) => {
    const needed = [ATTEMPT, null].map((attempt) => ({
      state: attempt ? ("verified" as const) : state,
      detail: null,
      attempt,
    }));
    const read = square(TURN, "read", undefined, task("failed"), false, needed);
    expect(read).toMatchObject({ state: "not run", detail: `an operation that it depends on ${words}` });
    expect(square(TURN, "read", undefined, undefined, false, needed).state).toBe("queued");
    expect(square(TURN, "read", undefined, task("running"), false, needed).state).toBe("running");
    expect(square(TURN, "read", undefined, task("failed"), false, []).state).toBe("failed");
  });

  it("has its reason", () => {
    expect(square(TURN, "write", FAILED, undefined, false).detail).toBe("oom_killed: out of memory");
    expect(square(TURN, "write", NOT_RUN, undefined, false).detail).toBe("Its write failed: oom_killed");
    expect(square(TURN, "write", DISTURBED, undefined, false).detail).toBe("throttled in 3 periods");
    expect(
      square({ ...TURN, map_index: null, skipped: "done already" }, "write", undefined, undefined, false)
        .detail,
    ).toBe("done already");
    expect(square({ ...TURN, operations: ["read"] }, "write", undefined, undefined, false).state).toBe(
      "excluded",
    );
  });
});

it("the time left goes by the time so far", () => {
  expect(secondsLeft(2, 10, 60, null)).toBe(240);
  expect(secondsLeft(0, 10, 60, null)).toBeNull();
  expect(secondsLeft(10, 10, 60, 600)).toBeNull();
});

it("the time left goes by what was expected, too, before much is done", () => {
  expect(secondsLeft(0, 46, 0, 2100)).toBe(2100);
  // a first operation of 5 minutes would mean almost 4 hours
  expect(secondsLeft(1, 46, 300, 2100)).toBeLessThan(3000);
  expect(secondsLeft(40, 46, 8000, 2100)).toBeCloseTo(862, -1);
});

it("the last phase is in the log", () => {
  expect(
    lastPhase([{ event: "[base] phase: connect" }, { event: "[base] phase: barrier" }, { event: "other" }]),
  ).toBe("barrier");
  expect(lastPhase(["starting"])).toBeNull();
});

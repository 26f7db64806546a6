import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { loadRun } from "../../src/views/run/RunView";
import { BULK, RUN, TURN } from "../data";

/** The log of the only running task, the lines that were sent, and the key with which Airflow signs positions. */
let log: string[];
let sent: number;
let key: string;
let tries: number;

beforeEach(() => {
  [log, sent, key, tries] = [[], 0, "one", 1];
  vi.stubGlobal("fetch", async ({ url: address }: Request) => {
    const { pathname, searchParams } = new URL(address);
    const json = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status });
    if (pathname.includes("/logs/")) {
      // like Airflow: with a position, send the lines after the position, else all lines
      const [signed, position] = (searchParams.get("token") ?? `${key} 0`).split(" ");
      if (signed !== key) return json({ detail: "Bad Signature" }, 400);
      const lines = log.slice(Number(position));
      sent += lines.length;
      return json({
        content: lines.map((event) => ({ event })),
        continuation_token: `${key} ${log.length}`,
      });
    }
    if (pathname.endsWith("/taskInstances")) {
      const task = {
        task_id: `${TURN.task_group}.write`,
        map_index: TURN.map_index,
        state: "running",
        try_number: tries,
        start_date: "2026-11-22T12:00:00Z",
      };
      return json({ task_instances: [task], total_entries: 1 });
    }
    const items = { turns: [{ ...TURN, operations: ["write"] }], attempts: [] }[
      pathname.split("/").at(-1) ?? ""
    ];
    if (items) return json({ items, offset: 0, more: false });
    return json(pathname.endsWith("/study") ? BULK : { ...RUN, state: "running" });
  });
});
afterEach(() => vi.unstubAllGlobals());

type Followed = Awaited<ReturnType<typeof loadRun>>;
const phase = (live: Followed) => [...live.squares.values()].map(({ detail }) => detail);

it("a run that is followed asks Airflow for the new lines of a task's log only", async () => {
  log = [...Array.from({ length: 1000 }, (_, line) => `line ${line}`), "[base] phase: connect"];
  let live = await loadRun(RUN.id);
  expect([phase(live), sent]).toEqual([["connect"], 1001]);
  live = await loadRun(RUN.id, live);
  expect([phase(live), sent]).toEqual([["connect"], 1001]);
  log.push("more", "[base] phase: operation");
  live = await loadRun(RUN.id, live);
  expect([phase(live), sent]).toEqual([["operation"], 1003]);
});

it("another try of a task has a log of its own", async () => {
  log = ["[base] phase: operation", "failed"];
  let live = await loadRun(RUN.id);
  [log, tries] = [["[base] phase: connect", "one", "two"], 2];
  live = await loadRun(RUN.id, live);
  expect(phase(live)).toEqual(["connect"]);
});

it("a position that Airflow refuses leaves the phase, and the log is read anew", async () => {
  log = ["[base] phase: connect"];
  let live = await loadRun(RUN.id);
  key = "two";
  live = await loadRun(RUN.id, live);
  expect(phase(live)).toEqual(["connect"]);
  log.push("[base] phase: operation");
  live = await loadRun(RUN.id, live);
  expect(phase(live)).toEqual(["operation"]);
});

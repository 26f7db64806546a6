// @ts-expect-error: the page does not depend on the types of Node.js
import { createServer } from "node:http";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { activeRuns, startRun } from "../../src/api/airflow";
import { all, get, Problem } from "../../src/api/api";

interface Incoming extends AsyncIterable<string> {
  method: string;
  url: string;
  headers: Record<string, string | undefined>;
}
interface Outgoing {
  writeHead: (status: number, reason: string, headers: Record<string, string>) => void;
  end: (body: string) => void;
  destroy: () => void;
}

/** The requests that the server received, and its answer. */
let requests: { method: string; url: string; accept: string | undefined; body: string }[] = [];
let answer: (request: Incoming, response: Outgoing) => void;
let server: ReturnType<typeof createServer>;
const base = document.createElement("base");

beforeAll(async () => {
  server = createServer(async (request: Incoming, response: Outgoing) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { method, url, headers } = request;
    requests.push({ method, url, accept: headers.accept, body });
    answer(request, response);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  base.href = `http://127.0.0.1:${server.address().port}/airflow/`;
  document.head.append(base);
});
afterEach(() => {
  requests = [];
});
afterAll(() => {
  base.remove();
  server.close();
});

const send = (body: unknown, status = 200) => {
  answer = (_request, response) => {
    response.writeHead(status, "Reason", { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  };
};

it("a question goes below Airflow's base URL, with a parameter for each item of a list", async () => {
  send({ items: [], offset: 0, more: false });
  const axis = ["codec=zip", "executors=4, 8&more"];
  const question = { run: "toy/a b", store: undefined, axis, descending: false, rows: 2000 };
  expect(await get("/api/attempts", question)).toEqual({ items: [], offset: 0, more: false });
  const { pathname, searchParams } = new URL(requests[0]?.url ?? "", base.href);
  expect(pathname).toBe("/airflow/storebench/api/attempts");
  expect([...searchParams]).toEqual([
    ["run", "toy/a b"],
    ...axis.map((value) => ["axis", value]),
    ["descending", "false"],
    ["rows", "2000"],
  ]);
  expect(requests[0]?.accept).toBe("application/json");
});

it("an error answer is a problem with its status and reason", async () => {
  send({ detail: "There is no run 'x'" }, 404);
  await expect(get("/api/run", { run: "x" })).rejects.toEqual(new Problem(404, "There is no run 'x'"));
  send({ detail: [{ msg: "not a number" }] }, 422);
  await expect(get("/api/run", { run: "x" })).rejects.toEqual(new Problem(422, "Reason"));
  answer = (_request, response) => response.destroy();
  await expect(get("/api/run", { run: "x" })).rejects.toEqual(new Problem(0, "Airflow does not answer"));
});

it("an aborted request is no problem", async () => {
  const abort = new AbortController();
  answer = () => abort.abort();
  const error = await get("/api/run", { run: "x" }, abort.signal).catch((problem: unknown) => problem);
  expect(error).not.toBeInstanceOf(Problem);
  expect((error as Error).name).toBe("AbortError");
});

it("all pages of a list are requested, up to the wanted number of items", async () => {
  answer = ({ url }, response) => {
    const offset = Number(new URL(url, base.href).searchParams.get("offset"));
    response.end(JSON.stringify({ items: [offset, offset + 1], offset, more: offset < 4 }));
  };
  expect(await all("/api/turns", { run: "x", limit: 2 })).toEqual([0, 1, 2, 3, 4, 5]);
  expect(await all("/api/turns", { run: "x", limit: 2, offset: 2 }, undefined, 3)).toEqual([2, 3, 4]);
  expect(requests).toHaveLength(5);
});

it("Airflow's own API is asked below the same URL", async () => {
  send({ dag_runs: [], total_entries: 0 });
  expect(await activeRuns("a dag")).toEqual([]);
  send({ dag_run_id: "manual__1" });
  expect(await startRun("toy", { rows: 5 })).toBe("manual__1");
  expect(requests.map(({ method, url, body }) => [method, url, body])).toEqual([
    ["GET", "/airflow/api/v2/dags/a%20dag/dagRuns?limit=100&offset=0&state=queued&state=running", ""],
    ["POST", "/airflow/api/v2/dags/toy/dagRuns", JSON.stringify({ logical_date: null, conf: { rows: 5 } })],
  ]);
});

/** TypeScript checks these calls: `tsc` fails if the description of the API no longer refuses one of them. */
void [
  // @ts-expect-error: there is no such path
  () => get("/api/nothing", {}),
  // @ts-expect-error: the parameter `run` is missing
  () => get("/api/run", {}),
  // @ts-expect-error: there is no parameter `name`
  () => get("/api/run", { run: "x", name: "y" }),
  // @ts-expect-error: `rows` is a number
  () => get("/api/attempts", { rows: "2000" }),
  // @ts-expect-error: a run has no rows of a table
  async () => (await get("/api/run", { run: "x" })).items,
  // @ts-expect-error: a run is no list
  () => all("/api/run", { run: "x" }),
];

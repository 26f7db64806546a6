import { afterEach, expect, test, vi } from "vitest";
import { RUN, TOY } from "./data";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

/** Return the page's first requests, and the requests after the first answers, until the request `last`. */
async function asked(search: string, last: string): Promise<[string[], string[]]> {
  history.replaceState(null, "", search);
  const page = (items: unknown[]) => ({ items, offset: 0, more: false });
  const answers: Record<string, unknown> = {
    runs: { ...page([RUN]), latest: RUN.id },
    ranking: {},
    run: RUN,
    study: TOY,
    turns: page([]),
    attempts: page([]),
  };
  const urls: string[] = [];
  let answer = () => {};
  const answered = new Promise<void>((done) => {
    answer = done;
  });
  vi.stubGlobal("fetch", async ({ url }: Request) => {
    const path = new URL(url).pathname.split("/").at(-1) ?? "";
    urls.push(path);
    await answered;
    return new Response(JSON.stringify(answers[path]));
  });
  await import("../src/page");
  const first = [...urls];
  answer();
  await vi.waitFor(() => expect(urls).toContain(last));
  return [first, urls.slice(first.length)];
}

test("with a run's id, only the list of runs waits for the first answers", async () => {
  const [first, then] = await asked(`/plugin/storebench?run=${RUN.id}`, "runs");
  expect(first.sort()).toEqual(["attempts", "run", "study", "turns"]);
  expect(then).toEqual(["runs"]);
});

test("with a run's name, all other requests wait for the run", async () => {
  const [first, then] = await asked("/plugin/storebench?run=latest", "runs");
  expect(first).toEqual(["run"]);
  expect(then.sort()).toEqual(["attempts", "runs", "study", "turns"]);
});

test("the newest run does not wait for the list of runs", async () => {
  const [first, then] = await asked("/plugin/storebench?view=run", "runs");
  expect(first).toEqual(["run"]);
  expect(then.slice(0, -1).sort()).toEqual(["attempts", "study", "turns"]);
  expect(then.at(-1)).toBe("runs");
});

test("on a DAG's page, the list has the newest run, which is not requested again", async () => {
  const [first, then] = await asked(`/dags/${RUN.dag_id}/plugin/storebench-dag?view=run`, "attempts");
  expect(first).toEqual(["runs"]);
  expect(then.sort()).toEqual(["attempts", "study", "turns"]);
});

test("the overview asks for the ranking of the newest run's study after the list of runs", async () => {
  const [first, then] = await asked("/plugin/storebench", "ranking");
  expect(first).toEqual(["runs"]);
  expect(then.sort()).toEqual(["ranking", "study"]);
});

test.each([
  ["a DAG's page", `/dags/${RUN.dag_id}/plugin/storebench-dag`],
  ["a chosen study", `/plugin/storebench?study=${RUN.study}`],
])("on %s, the overview asks for all at once", async (_, address) => {
  const [first] = await asked(address, "runs");
  expect(first.sort()).toEqual(["ranking", "runs", "study"]);
});

test("Airflow's router renders the page when the first answers have arrived", async () => {
  const shown: unknown[] = [];
  const look = () => shown.push("Results" in globalThis, history.state);
  window.addEventListener("popstate", look);
  history.replaceState({ idx: 3 }, "");
  await asked("/plugin/storebench", "ranking");
  window.removeEventListener("popstate", look);
  expect(shown).toEqual([true, null]);
});

test("a load that failed is forgotten: a run that did not exist may exist by now", async () => {
  const { begin, useLoaded } = await import("../src/api/loading");
  const { renderHook, waitFor } = await import("@testing-library/react");
  await expect(begin("the run", Promise.reject(new Error("There is no run")))).rejects.toThrow();
  const { result } = renderHook(() => useLoaded(async () => "the run's results", "the run"));
  await waitFor(() => expect(result.current).toMatchObject({ data: "the run's results" }));
  expect(result.current.problem).toBeUndefined();
});

test("the page's script does not contain Vega", () => {
  const sources = import.meta.glob<string>("../src/**/*", { query: "?raw", import: "default", eager: true });
  const drawing = Object.entries(sources).filter(([, text]) =>
    /^(import(?! type)|export) .*from "vega(-lite)?"/m.test(text),
  );
  expect(drawing.map(([file]) => file)).toEqual(["../src/charts/vega.ts"]);
  const loading = Object.entries(sources).filter(([, text]) => text.includes('"./vega"'));
  expect(loading.map(([file]) => file)).toEqual(["../src/charts/drawing.ts"]);
  expect(sources["../src/charts/drawing.ts"]).not.toMatch(/from "\.\/vega"/);
});

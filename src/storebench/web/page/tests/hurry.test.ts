import { afterEach, expect, test, vi } from "vitest";
import { RUN, TOY } from "./data";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

/** What the page asks for at once, and what it asks for when the first answers have come. */
async function asked(search: string): Promise<[string[], string[]]> {
  history.replaceState(null, "", search);
  const page = (items: unknown[]) => ({ items, offset: 0, more: false });
  const answers: Record<string, unknown> = {
    runs: { ...page([RUN]), latest: RUN.id },
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
  vi.stubGlobal("fetch", async (url: string) => {
    const path = new URL(url).pathname.split("/").at(-1) ?? "";
    urls.push(path);
    await answered;
    return new Response(JSON.stringify(answers[path]));
  });
  await import("../src/page");
  const first = [...urls];
  answer();
  await vi.waitFor(() => expect(urls).toContain("attempts"));
  return [first, urls.slice(first.length)];
}

test("a run that is named does not wait for the list of runs", async () => {
  const [first, then] = await asked(`/plugin/storebench?run=${RUN.id}`);
  expect(first).toEqual(["runs", "run"]);
  expect(then.sort()).toEqual(["attempts", "study", "turns"]);
});

test("the newest run is not asked for again: the list has it", async () => {
  const [first, then] = await asked("/plugin/storebench");
  expect(first).toEqual(["runs"]);
  expect(then.sort()).toEqual(["attempts", "study", "turns"]);
});

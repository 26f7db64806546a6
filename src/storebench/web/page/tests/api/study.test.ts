import { afterEach, expect, it, vi } from "vitest";
import { studyNamed, withStudy } from "../../src/api/study";
import { TOY, toy } from "../data";

afterEach(() => vi.unstubAllGlobals());
const answer = (body: unknown, status = 200) =>
  vi.stubGlobal(
    "fetch",
    vi.fn(async () => new Response(JSON.stringify(body), { status })),
  );

it("a study whose runs never began is empty, and other problems are thrown", async () => {
  answer({ detail: "There is no study 'x'" }, 404);
  expect(await studyNamed("x")).toMatchObject({ name: "x", operations: [], charts: [] });
  answer({ detail: "away" }, 503);
  await expect(studyNamed("x")).rejects.toThrow("away");
});

it("a list of answers names its study", async () => {
  answer(TOY);
  expect(await withStudy([toy("sum", 1)])).toMatchObject({ study: { title: "Toy" } });
  expect(fetch).toHaveBeenCalledTimes(1);
  expect(await withStudy([])).toMatchObject({ items: [], study: { operations: [] } });
  expect(fetch).toHaveBeenCalledTimes(1);
});

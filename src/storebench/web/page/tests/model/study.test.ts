import { afterEach, describe, expect, it, vi } from "vitest";
import { studyNamed, withStudy } from "../../src/api/study";
import { chartsOf, figureOf, operationsOf, resultText, told } from "../../src/model/study";
import { ATTEMPT, BULK, FAILED, TOY, toy } from "../data";

afterEach(() => vi.unstubAllGlobals());
const answer = (body: unknown, status = 200) =>
  vi.stubGlobal(
    "fetch",
    vi.fn(async () => new Response(JSON.stringify(body), { status })),
  );

describe("a study", () => {
  it("has its operations in its order, and after them what it does not know any more", () => {
    expect(operationsOf(TOY, ["shrink", "gone", "fill"]).map(({ name }) => name)).toEqual([
      "fill",
      "shrink",
      "gone",
    ]);
    expect(operationsOf(TOY, [])).toEqual([]);
  });

  it("has a figure of an attempt by each metric, its own or one that all have", () => {
    expect(
      ["rows_per_s", "work_total_s", "saved_bytes"].map((name) => figureOf(BULK, ATTEMPT, name)),
    ).toEqual([2000 / 1.5, 2, null]);
    // a metric is no column of an attempt that happens to have its name
    expect(figureOf(TOY, { ...ATTEMPT, repeat: 5 }, "repeat")).toBeNull();
  });

  it("says of attempts what ranks them, and the next metric of their operations", () => {
    const names = ({ first, second }: ReturnType<typeof told>) =>
      [first, second].map((some) => some.map(({ name }) => name));
    expect(names(told(BULK, [ATTEMPT, FAILED]))).toEqual([["only_s"], ["rows_per_s"]]);
    expect(names(told(TOY, [toy("sum", 5), toy("shrink", 7)]))).toEqual([
      ["sums_per_s", "saved_bytes"],
      ["files"],
    ]);
    expect(resultText(BULK, ATTEMPT)).toBe("1.50 s · 1,330 rows/s");
    expect(resultText(TOY, toy("shrink", 2 ** 30))).toBe("1.07 GB");
  });

  it("without charts has one of what ranks each operation, and of what all studies have", () => {
    expect(chartsOf(BULK)).toBe(BULK.charts);
    expect(chartsOf({ ...TOY, charts: [] }).map(({ metric }) => metric)).toEqual([
      "sums_per_s",
      "saved_bytes",
      "work_total_s",
      "all_memory_working_set_peak_bytes",
      "all_cpu_s",
    ]);
  });

  it("that never began has nothing, and another problem stays one", async () => {
    answer({ detail: "There is no study 'x'" }, 404);
    expect(await studyNamed("x")).toMatchObject({ name: "x", operations: [], charts: [] });
    answer({ detail: "away" }, 503);
    await expect(studyNamed("x")).rejects.toThrow("away");
  });

  it("is asked for by what there is of it", async () => {
    answer(TOY);
    expect(await withStudy([toy("sum", 1)])).toMatchObject({ study: { title: "Toy" } });
    expect(fetch).toHaveBeenCalledTimes(1);
    expect(await withStudy([])).toMatchObject({ items: [], study: { operations: [] } });
    expect(fetch).toHaveBeenCalledTimes(1);
  });
});

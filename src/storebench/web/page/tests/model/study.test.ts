import { describe, expect, it } from "vitest";
import { chartsOf, figureOf, metricsByRank, operationsOf, resultText } from "../../src/model/study";
import { ATTEMPT, BULK, FAILED, TOY, toy } from "../data";

describe("a study", () => {
  it("sorts operations in its order, and unknown operations last", () => {
    expect(operationsOf(TOY, ["shrink", "gone", "fill"]).map(({ name }) => name)).toEqual([
      "fill",
      "shrink",
      "gone",
    ]);
    expect(operationsOf(TOY, [])).toEqual([]);
  });

  it("returns an attempt's figure of a metric of the study, or of a common metric", () => {
    expect(
      ["rows_per_s", "work_total_s", "saved_bytes"].map((name) => figureOf(BULK, ATTEMPT, name)),
    ).toEqual([2000 / 1.5, 2, null]);
    // a metric is no column of an attempt that happens to have its name
    expect(figureOf(TOY, { ...ATTEMPT, repeat: 5 }, "repeat")).toBeNull();
  });

  it("returns the ranking metrics of attempts, and the next metrics of their operations", () => {
    const names = ({ first, second }: ReturnType<typeof metricsByRank>) =>
      [first, second].map((some) => some.map(({ name }) => name));
    expect(names(metricsByRank(BULK, [ATTEMPT, FAILED]))).toEqual([["only_s"], ["rows_per_s"]]);
    expect(names(metricsByRank(TOY, [toy("sum", 5), toy("shrink", 7)]))).toEqual([
      ["sums_per_s", "saved_bytes"],
      ["files"],
    ]);
    expect(resultText(BULK, ATTEMPT)).toBe("1.50 s · 1,330 rows/s");
    expect(resultText(TOY, toy("shrink", 2 ** 30))).toBe("1.07 GB");
  });

  it("without charts, has a chart for each ranking metric and each common metric", () => {
    expect(chartsOf(BULK)).toBe(BULK.charts);
    expect(chartsOf({ ...TOY, charts: [] }).map(({ metric }) => metric)).toEqual([
      "sums_per_s",
      "saved_bytes",
      "work_total_s",
      "all_memory_working_set_peak_bytes",
      "all_cpu_s",
    ]);
  });
});

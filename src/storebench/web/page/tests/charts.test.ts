import * as vega from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import { describe, expect, it } from "vitest";
import { chartData, historySpec, METRICS, type Metric, medianSpec, phasesSpec } from "../src/charts";
import { ATTEMPT, CELL, FAILED, FIGURES } from "./data";

const THEME = { text: "#000", grid: "#ccc" };
const [ONLY, , MEMORY] = METRICS as [Metric, Metric, Metric];

async function drawn(spec: TopLevelSpec): Promise<string> {
  return new vega.View(vega.parse(compile(spec).spec), { renderer: "none" }).toSVG();
}

describe("a chart's rows", () => {
  it("are medians, and dots for what has the figure", () => {
    const data = chartData([FIGURES], "write", ONLY);
    expect(data.batches).toEqual(["10,000"]);
    expect(data.medians).toMatchObject([{ series: "mongodb reference", batch: "10,000", n: 1, median: 1.5 }]);
    expect(data.dots).toMatchObject([{ value: 1.5, state: "verified" }]);
  });

  it("have memory in MiB", () => {
    expect(chartData([FIGURES], "write", MEMORY).medians).toMatchObject([{ median: 200 }]);
  });

  it("show a failed attempt that has a figure, as failed", () => {
    const failed = { ...FAILED, only_s: 9 };
    const data = chartData([{ ...FIGURES, attempts: [ATTEMPT, failed] }], "write", ONLY);
    expect(data.dots).toMatchObject([
      { state: "verified" },
      { state: "failed", remark: "failed: oom_killed" },
    ]);
  });

  it("are of one operation", () => {
    expect(chartData([FIGURES], "read", ONLY).dots).toEqual([]);
  });
});

describe("a chart", () => {
  it("draws a bar, an interval and a mark for each attempt", async () => {
    const only_s = { n: 3, median: 1.5, low: 1.4, high: 1.6 };
    const svg = await drawn(
      medianSpec(chartData([{ ...FIGURES, only_s }], "write", ONLY), ONLY, "what", 400, THEME),
    );
    expect(svg).toContain("seconds");
    for (const kind of ["mark-rect", "mark-rule", "mark-symbol"]) expect(svg).toContain(kind);
  });

  it("stacks phases", async () => {
    const cell = { ...CELL, operation: "write" as const, attempt_id: "a", repeat: 1, total_s: 3 };
    const svg = await drawn(
      phasesSpec([{ ...cell, phases: { connect: 1, operation: 2 } }], "what", 400, THEME),
    );
    expect(svg).toContain("operation");
    expect(svg).not.toContain("verify");
  });

  it("has a cell's history", async () => {
    const row = {
      recorded_at: ATTEMPT.recorded_at,
      seconds: 1.5,
      environment: "0123",
      remark: "verified",
      run: "one",
    };
    expect(await drawn(historySpec([row], "what", 400, THEME))).toContain("0123");
  });
});

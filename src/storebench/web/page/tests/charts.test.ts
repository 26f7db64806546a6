import * as vega from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import { describe, expect, it } from "vitest";
import { historySpec, medianSpec, phasesSpec, ratiosSpec, tableSpec } from "../src/charts";
import { chartData, chartTitle, METRICS, type Metric, mixed } from "../src/figures";
import { type Attempt, LABELS, type Verdict } from "../src/types";
import { ATTEMPT, CELL, cellOf, DISTURBED, ENGINE, FAILED, FIGURES } from "./data";

const THEME = { text: "#000", grid: "#ccc" };
const [ONLY, , MEMORY] = METRICS as [Metric, Metric, Metric];

async function drawn(spec: TopLevelSpec): Promise<string> {
  return new vega.View(vega.parse(compile(spec).spec), { renderer: "none" }).toSVG();
}

describe("a chart's rows", () => {
  it("are medians, and a dot for each attempt", () => {
    const data = chartData([FIGURES], "write", ONLY);
    expect(data.batches).toEqual(["10,000"]);
    expect(data.medians).toMatchObject([{ series: "mongodb reference", batch: "10,000", n: 1, median: 1.5 }]);
    expect(data.dots).toMatchObject([{ at: 1.5, state: "verified" }, {}]);
  });

  it("have memory in MiB", () => {
    expect(chartData([FIGURES], "write", MEMORY).medians).toMatchObject([{ median: 200 }]);
  });

  it.each([
    [9, 9],
    [null, 0],
  ])("show a failed attempt at %s", (only_s, at) => {
    const failed = { ...FAILED, only_s };
    const data = chartData([{ ...FIGURES, attempts: [ATTEMPT, failed] }], "write", ONLY);
    expect(data.dots).toMatchObject([
      { state: "verified" },
      { state: "failed", remark: "failed: oom_killed", value: only_s, at },
    ]);
  });

  it("show a disturbed attempt as such, with the reason", () => {
    const data = chartData([{ ...FIGURES, attempts: [DISTURBED] }], "write", ONLY);
    expect(data.dots).toMatchObject([{ state: "disturbed", remark: "disturbed: throttled in 3 periods" }]);
  });

  it("have a client's memory apart from an engine's", () => {
    const old = { ...ATTEMPT, store: "null", figures_cover: null };
    const lost = { ...FAILED, client: "tuned" }; // came to no figures: what they are of, the store's others say
    const cells = [FIGURES, ...[ENGINE, old, lost].map(cellOf)];
    const charts = METRICS.filter((metric) => metric.name === "memory_bytes").map((metric) => [
      chartTitle("write", metric),
      [...new Set(chartData(cells, "write", metric).dots.map((row) => row.series))],
    ]);
    expect(charts).toEqual([
      ["Write: memory of the client (its server is not in it)", ["mongodb reference", "mongodb tuned"]],
      ["Write: memory of the engine and its executors", ["delta-rs tuned"]],
      ["Write: memory, not recorded whether of a client or an engine", ["null reference"]],
    ]);
    expect(chartData(cells, "write", ONLY).dots).toHaveLength(5);
  });

  it("are of one operation", () => {
    expect(chartData([FIGURES], "read", ONLY).dots).toEqual([]);
  });
});

describe("what differs between the cells of a chart", () => {
  it("is the durability of writes", () => {
    const none = { ...ENGINE, store: "null", durability: "none" as const };
    const cells = [ATTEMPT, { ...ATTEMPT, store: "elasticsearch" }, ENGINE, none, FAILED].map(cellOf);
    expect(chartData(cells, "write", ONLY).note).toBe(
      "Writes differ in durability: disk (mongodb, elasticsearch), s3 (delta-rs), none (null).",
    );
    expect(chartData(cells.slice(0, 2), "write", ONLY).note).toBeNull();
  });

  it("is what reads deliver, by client", () => {
    const read = { operation: "read" as const, durability: null };
    const dicts = { ...ATTEMPT, ...read, delivers: "dicts" };
    const bson = { ...ATTEMPT, ...read, client: "tuned", delivers: "raw BSON" };
    const other = { ...dicts, store: "elasticsearch" };
    expect(mixed("read", [other, dicts, { ...other, client: "tuned" }, bson])).toBe(
      "Reads deliver different things: dicts (elasticsearch, mongodb reference), raw BSON (mongodb tuned).",
    );
    expect(mixed("read", [dicts, { ...bson, delivers: "dicts" }, { ...bson, delivers: null }])).toBeNull();
  });
});

describe("a chart", () => {
  it("draws a bar, an interval and a mark for each attempt", async () => {
    const only_s = { n: 6, median: 1.5, low: 1.4, high: 1.6, coverage: 0.96875 };
    const svg = await drawn(
      medianSpec(chartData([{ ...FIGURES, only_s }], "write", ONLY), ONLY, "what", 800, THEME),
    );
    expect(svg).toContain("seconds");
    for (const kind of ["mark-rect", "mark-rule", "mark-symbol"]) expect(svg).toContain(kind);
  });

  it("has a mark for a disturbed attempt that no other has, and a word for it", async () => {
    const marks = async (attempt: Attempt) => {
      const data = chartData([{ ...FIGURES, attempts: [attempt] }], "write", ONLY);
      const svg = await drawn(medianSpec(data, ONLY, "what", 800, THEME));
      expect(svg.includes(">disturbed<")).toBe(attempt === DISTURBED);
      return /role-mark layer_2_marks.*?<path[^>]* d="([^"]*)"/s.exec(svg)?.[1];
    };
    const bound = { ...ATTEMPT, client_bound: true };
    const found = await Promise.all([ATTEMPT, bound, DISTURBED, { ...FAILED, only_s: 1.5 }].map(marks));
    expect(found.every(Boolean)).toBe(true);
    expect(new Set(found).size).toBe(4);
  });

  it("marks the phases of what was disturbed", async () => {
    const cell = { ...CELL, operation: "write" as const, attempt: DISTURBED, phases: { connect: 1 } };
    expect(await drawn(phasesSpec([cell], "what", 800, THEME))).toContain("◆ mongodb reference");
  });

  it("stacks phases", async () => {
    const cell = { ...CELL, operation: "write" as const, attempt: ATTEMPT };
    const broken = { ...cell, store: "null", attempt: FAILED };
    const phases = { connect: 1, container_started: 2, brand_new: 1 };
    const svg = await drawn(
      phasesSpec(
        [
          { ...cell, phases },
          { ...broken, phases: {} },
        ],
        "what",
        800,
        THEME,
      ),
    );
    for (const name of ["container started", "brand new"]) expect(svg).toContain(name);
    expect(svg).not.toContain("verify");
    expect(svg).toContain("✕ null reference, batch 10,000");
  });

  it("has names above its bars where it is narrow", async () => {
    const cell = { ...CELL, operation: "write" as const, attempt: ATTEMPT, phases: { connect: 1 } };
    const [wide, narrow] = await Promise.all(
      [800, 300].map((width) => drawn(phasesSpec([cell], "what", width, THEME))),
    );
    expect(wide).toMatch(/text-anchor="end"[^>]*>mongodb/);
    expect(narrow).toMatch(/text-anchor="start"[^>]*>mongodb/);
  });

  it("has a cell's history", async () => {
    const row = {
      recorded_at: ATTEMPT.recorded_at,
      recorded: "2026-11-22 12:00",
      seconds: 1.5,
      at: 1.5,
      environment: "0123",
      state: "client-bound",
      remark: "client-bound",
      run: "one",
    };
    expect(await drawn(historySpec([row], "what", 800, THEME))).toContain("0123");
  });

  const VERDICT = {
    ...CELL,
    operation: "write" as const,
    label: "slower" as Verdict["label"],
    reason: null,
    n_before: 3,
    n_after: 3,
    median_before_s: 1,
    median_after_s: 1.2,
    ratio: 1.2,
    low: 1.1,
    high: 1.3,
    p_adjusted: 0.01,
    remarks: ["A: 1 of 3 client-bound"],
  };

  it("has ratios with their intervals, and marks what is unsound", async () => {
    const svg = await drawn(ratiosSpec([VERDICT], 5, "what", 800, THEME));
    expect(svg).toContain("▲ write mongodb reference");
  });

  it("tells all four verdicts apart", async () => {
    const verdicts = LABELS.map((label) => ({ ...VERDICT, label, cell_key: label }));
    const svg = await drawn(ratiosSpec(verdicts, 5, "what", 800, THEME));
    for (const label of ["faster", "slower", "the same", "cannot tell"]) expect(svg).toContain(label);
  });

  it("is not stretched by an interval of few repeats", async () => {
    const wide = { ...VERDICT, label: "cannot tell" as const, low: 0.001, high: 1000 };
    const svg = await drawn(ratiosSpec([VERDICT, wide], 5, "what", 800, THEME));
    expect(svg).toContain(">1.2<");
  });

  it("can be a table, of text that stays text", async () => {
    const svg = await drawn(tableSpec([{ cell: "<b>null</b>", write: "1.50 s" }], THEME));
    expect(svg).toContain("&lt;b&gt;null&lt;/b&gt;");
    expect(svg).toContain("1.50 s");
  });
});

import * as vega from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import { describe, expect, it } from "vitest";
import { historySpec, phasesOf, phasesSpec, ratiosSpec, tableSpec, timeFormat } from "../src/charts";
import { chartData, chartRows, chartTitle, METRICS, type Metric, mixed } from "../src/figures";
import { DARK, LIGHT } from "../src/frame";
import { LABELS, type Verdict } from "../src/types";
import { ATTEMPT, CELL, cellOf, DISTURBED, ENGINE, FAILED, FIGURES } from "./data";

const metric = (name: string) => METRICS.find((one) => one.name === name) as Metric;
const [ONLY, RATE, MEMORY] = ["only_s", "rows_per_s", "memory_bytes"].map(metric) as [Metric, Metric, Metric];

async function drawn(spec: TopLevelSpec): Promise<string> {
  return new vega.View(vega.parse(compile(spec).spec), { renderer: "none" }).toSVG();
}

describe("a chart's figures", () => {
  const only = (cells: Parameters<typeof chartData>[0]) => chartData(cells, "write", ONLY).lines;

  it("are a median, and a mark for each attempt", () => {
    const [line] = only([FIGURES]);
    expect(line?.name).toBe("mongodb reference");
    expect(line?.bars).toMatchObject([
      { spread: { n: 1, median: 1.5 }, dots: [{ value: 1.5, state: "verified" }, {}] },
    ]);
  });

  it("have memory in MiB, and rows a second", () => {
    const median = (one: Metric) => chartData([FIGURES], "write", one).lines[0]?.bars[0]?.spread?.median;
    expect(median(MEMORY)).toBe(200);
    expect(median(RATE)).toBeCloseTo(1333.3, 1);
  });

  it.each([9, null])("have what a failed attempt came to: %s", (only_s) => {
    const failed = { ...FAILED, only_s };
    expect(only([{ ...FIGURES, attempts: [ATTEMPT, failed] }])[0]?.bars[0]?.dots).toMatchObject([
      { state: "verified" },
      { state: "failed", remark: "failed: oom_killed", value: only_s },
    ]);
  });

  it("mark a disturbed attempt as such, with the reason", () => {
    expect(only([{ ...FIGURES, attempts: [DISTURBED] }])[0]?.bars[0]?.dots).toMatchObject([
      { state: "disturbed", remark: "disturbed: throttled in 3 periods" },
    ]);
  });

  it("have a client's memory apart from an engine's", () => {
    const old = { ...ATTEMPT, store: "null", figures_cover: null };
    const lost = { ...FAILED, client: "tuned" }; // came to no figures: what they are of, the store's others say
    const cells = [FIGURES, ...[ENGINE, old, lost].map(cellOf)];
    const charts = METRICS.filter((one) => one.name === "memory_bytes").map((one) => [
      chartTitle("write", one),
      chartData(cells, "write", one).lines.map((line) => line.name),
    ]);
    expect(charts).toEqual([
      ["Write: memory of the client (its server is not in it)", ["mongodb reference", "mongodb tuned"]],
      ["Write: memory of the engine and its executors", ["delta-rs tuned"]],
      ["Write: memory, not recorded whether of a client or an engine", ["null reference"]],
    ]);
  });

  it("are of one operation", () => {
    expect(chartData([FIGURES], "read", ONLY).lines).toEqual([]);
  });

  it("have a name for each dataset where there are several", () => {
    expect(only([FIGURES, { ...FIGURES, rows: 5000 }]).map((line) => line.name)).toEqual([
      "mongodb reference, 2,000 dataset rows",
      "mongodb reference, 5,000 dataset rows",
    ]);
  });

  it("are taken away with the run, the dataset's rows and the seed", () => {
    expect(chartRows(chartData([FIGURES], "write", ONLY), ONLY)).toEqual([
      {
        store: "mongodb",
        client: "reference",
        executors: null,
        batch_size: "10000",
        rows: 2000,
        seed: 7,
        run: "bulk_write_read/one",
        n: 1,
        median: 1.5,
        low: null,
        high: null,
        coverage: null,
        unit: "seconds",
      },
    ]);
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
  it("marks the phases of what was disturbed", async () => {
    const cell = { ...CELL, operation: "write" as const, attempt: DISTURBED, phases: { connect: 1 } };
    expect(await drawn(phasesSpec([cell], ["connect"], "what", 800, LIGHT, true))).toContain(
      "◆ mongodb reference",
    );
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
        phasesOf([{ ...cell, phases }]),
        "what",
        800,
        LIGHT,
        true,
      ),
    );
    for (const name of ["container started", "brand new"]) expect(svg).toContain(name);
    expect(svg).not.toContain("verify");
    expect(svg).toContain("✕ null reference, batch 10,000");
  });

  it("has names above its bars where it is narrow", async () => {
    const cell = { ...CELL, operation: "write" as const, attempt: ATTEMPT, phases: { connect: 1 } };
    const [wide, narrow] = await Promise.all(
      [800, 300].map((width) => drawn(phasesSpec([cell], ["connect"], "what", width, LIGHT, false))),
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
    expect(await drawn(historySpec([row], ["0123"], "what", 800, LIGHT, true))).toContain("0123");
  });

  it("names each moment once", () => {
    const rows = (...times: string[]) => times.map((time) => ({ recorded_at: `2026-11-${time}Z` }));
    expect(timeFormat(rows("22T12:00:00", "22T12:03:00"), 6)).toBe("%H:%M:%S");
    expect(timeFormat(rows("22T12:00:00", "22T18:00:00"), 6)).toBe("%d %b %H:%M");
    expect(timeFormat(rows("01T12:00:00", "22T18:00:00"), 6)).toBe("%d %b %Y");
    expect(timeFormat(rows("22T12:00:00"), 6)).toBe("%H:%M:%S");
  });

  it("has colours that can be seen on a dark ground", async () => {
    const row = {
      ...ATTEMPT,
      recorded: "",
      seconds: 1,
      at: 1,
      environment: "e",
      state: "verified",
      remark: "",
    };
    const svg = await drawn(historySpec([row], ["e"], "what", 800, DARK, false));
    expect(svg).toContain(`stroke="${DARK.colours[0]}"`);
    expect(DARK.colours).toHaveLength(LIGHT.colours.length);
    for (const colour of DARK.colours) expect(contrast(colour, "#18181b")).toBeGreaterThan(4.5);
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
    const svg = await drawn(ratiosSpec([VERDICT], 5, "what", 800, LIGHT));
    expect(svg).toContain("▲ write mongodb reference");
  });

  it("says what differs between two lines of one name", async () => {
    const other = { ...VERDICT, rows: 5000, cell_key: "other" };
    const svg = await drawn(ratiosSpec([VERDICT, other], 5, "what", 1200, LIGHT));
    expect(svg).toContain("batch 10,000, 2,000 dataset rows");
    expect(svg).toContain("batch 10,000, 5,000 dataset rows");
  });

  it("tells all four verdicts apart", async () => {
    const verdicts = LABELS.map((label) => ({ ...VERDICT, label, cell_key: label }));
    const svg = await drawn(ratiosSpec(verdicts, 5, "what", 800, LIGHT));
    for (const label of ["faster", "slower", "the same", "cannot tell"]) expect(svg).toContain(label);
  });

  it("is not stretched by an interval of few repeats", async () => {
    const wide = { ...VERDICT, label: "cannot tell" as const, low: 0.001, high: 1000 };
    const svg = await drawn(ratiosSpec([VERDICT, wide], 5, "what", 800, LIGHT));
    expect(svg).toContain(">1.2<");
  });

  it("can be a table, of text that stays text", async () => {
    const svg = await drawn(tableSpec([{ cell: "<b>null</b>", write: "1.50 s" }], LIGHT));
    expect(svg).toContain("&lt;b&gt;null&lt;/b&gt;");
    expect(svg).toContain("1.50 s");
  });
});

/** Of two colours, as WCAG defines it. */
function contrast(one: string, other: string): number {
  const light = (colour: string) => {
    const [red, green, blue] = [1, 3, 5].map((at) => {
      const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    }) as [number, number, number];
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
  };
  const found = [light(one), light(other)].sort((a, b) => b - a) as [number, number];
  return found[0] / found[1];
}

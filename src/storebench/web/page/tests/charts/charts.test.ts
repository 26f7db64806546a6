import * as vega from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import { describe, expect, it } from "vitest";
import { verdictVerdictValues as LABELS, type Verdict } from "../../src/api/types";
import {
  labelText,
  phaseColour,
  phaseFill,
  phasesOf,
  phasesSpec,
  ratiosSpec,
  tableSpec,
  wordsOf,
} from "../../src/charts/charts";
import { DARK, LIGHT } from "../../src/ui/theme";
import { historySpec, timeFormat } from "../../src/views/history/historySpec";
import { ATTEMPT, BULK, CELL, DISTURBED, FAILED, ORIGINS, UNITS } from "../data";

async function drawn(spec: TopLevelSpec): Promise<string> {
  return new vega.View(vega.parse(compile(spec).spec), { renderer: "none" }).toSVG();
}

const NO_LINES = { levels: [], breaks: [], baselines: [] };
const LINE = {
  since: "2026-11-22T12:00:00Z",
  until: "2026-11-23T12:00:00Z",
  at: 1,
  measured: "0123 pod_cpu=2",
};
const LINES = {
  levels: [{ ...LINE, said: "5 runs alike" }],
  breaks: [{ ...LINE, said: "slower, × 1.5" }],
  baselines: [{ ...LINE, said: "baseline nightly: 1 s" }],
};

const CONNECT: [string, string][] = [["connect", "#8E6CBB"]];

describe("a chart", () => {
  it("marks the phases of what was disturbed", async () => {
    const cell = { ...CELL, operation: "write", attempt: DISTURBED, phases: { connect: 1 } };
    expect(await drawn(phasesSpec(BULK, [cell], CONNECT, "what", 800, LIGHT, true))).toContain(
      "◆ mongodb reference",
    );
  });

  it("stacks phases", async () => {
    const cell = { ...CELL, operation: "write", attempt: ATTEMPT };
    const broken = { ...cell, store: "null", attempt: FAILED };
    const phases = { connect: 1, container_started: 2, brand_new: 1 };
    const svg = await drawn(
      phasesSpec(
        BULK,
        [
          { ...cell, phases },
          { ...broken, phases: {} },
        ],
        phasesOf([{ ...cell, phases }]).map((phase) => [phase, phaseColour(phase, [])]),
        "what",
        800,
        LIGHT,
        true,
      ),
    );
    for (const name of ["container started", "brand new"]) expect(svg).toContain(name);
    expect(svg).not.toContain("verify");
    expect(svg).toContain("✕ null reference");
  });

  it("draws what is told to the second otherwise than what is measured, by an edge that is seen on any ground", async () => {
    const phases = { queued: 2, connect: 1, verify: 0 };
    const cell = { ...CELL, operation: "write", attempt: ATTEMPT, phases };
    const used = Object.keys(phases).map((phase): [string, string] => [phase, phaseColour(phase, [])]);
    for (const theme of [LIGHT, DARK]) {
      const svg = await drawn(phasesSpec(BULK, [cell], used, "what", 800, theme, false));
      const [queued, connect, ...others] = bars(svg);
      expect(queued).toContain(`fill="${phaseFill(theme, "queued", "#B9C4CC")}"`);
      expect(queued).toContain(`stroke="${theme.text}" stroke-dasharray="3,2"`);
      expect(connect).toContain('fill="#8E6CBB"');
      expect(connect).not.toMatch(/stroke="#|stroke-dasharray="3/);
      expect(others).toEqual([]);
      expect(contrast(theme.text, theme.ground)).toBeGreaterThan(4.5);
      expect(svg).toContain(">to the second<");
      expect(svg).not.toContain(">measured<");
    }
    const measured = phasesSpec(BULK, [cell], used.slice(1), "what", 800, LIGHT, false);
    expect(await drawn(measured)).not.toContain("to the second");
    expect(phaseFill(LIGHT, "queued", "#000000")).toBe("#999999");
    expect(phaseFill(LIGHT, "connect", "#000000")).toBe("#000000");
  });

  it("has the phases that only a study knows where they come", () => {
    const phases: Record<string, number>[] = [
      { queued: 1, spin_up: 2, operation: 3, spill: 1, other: 1 },
      { queued: 1, dry: 0, spill: 1 },
    ];
    expect(phasesOf(phases.map((one) => ({ phases: one })))).toEqual([
      "queued",
      "spin_up",
      "operation",
      "spill",
      "other",
    ]);
  });

  it("has them behind what they follow, also where the first attempt broke off there", () => {
    const phases: Record<string, number>[] = [
      { operation: 3, settle: 1, teardown: 1, other: 1 },
      { operation: 3, settle: 1, cool: 2, verify: 1, teardown: 1 },
    ];
    const order = ["operation", "settle", "cool", "verify", "teardown", "other"];
    expect(phasesOf(phases.map((one) => ({ phases: one })))).toEqual(order);
  });

  it("knows no study's phases: they have their colours by their places alone", () => {
    const own = ["barrier", "start_load", "warm_up"];
    expect(new Set(own.map((phase) => phaseColour(phase, [phase]))).size).toBe(1);
  });

  it("has a colour for each phase that only a study knows, the same in all charts", () => {
    const all = ["connect", "warm", "spill", "other"];
    const colours = all.map((phase) => phaseColour(phase, all));
    expect(new Set(colours).size).toBe(4);
    expect(phaseColour("spill", ["connect", "warm", "spill"])).toBe(colours[2]);
  });

  it("has names above its bars where it is narrow", async () => {
    const cell = { ...CELL, operation: "write", attempt: ATTEMPT, phases: { connect: 1 } };
    const [wide, narrow] = await Promise.all(
      [800, 300].map((width) => drawn(phasesSpec(BULK, [cell], CONNECT, "what", width, LIGHT, false))),
    );
    expect(wide).toMatch(/text-anchor="end"[^>]*>mongodb/);
    expect(narrow).toMatch(/text-anchor="start"[^>]*>mongodb/);
  });

  it("has a cell's history, in whatever it was measured", async () => {
    const point = {
      recorded_at: ATTEMPT.recorded_at,
      recorded: "2026-11-22 12:00",
      value: 1.5,
      at: 1.5,
      text: "1.50 sums/s",
      environment: "0123",
      parameters: "pod_cpu=2",
      measured: "0123 pod_cpu=2",
      state: "client-bound",
      remark: "client-bound",
      run: "one",
    };
    const svg = await drawn(
      historySpec(
        [point],
        LINES,
        ["0123 pod_cpu=2"],
        { unit: "sums/s", title: "sums" },
        "what",
        800,
        LIGHT,
        true,
      ),
    );
    expect(svg).toContain("0123 pod_cpu=2");
    expect(svg).toContain("sums/s");
    expect(svg).toContain("baseline nightly: 1 s");
    expect(svg).toContain("slower, × 1.5");
    expect(svg.match(/mark-rule role-mark/g)).toHaveLength(3);
  });

  it("names each moment once", () => {
    const points = (...times: string[]) => times.map((time) => ({ recorded_at: `2026-11-${time}Z` }));
    expect(timeFormat(points("22T12:00:00", "22T12:03:00"), 6)).toBe("%H:%M:%S");
    expect(timeFormat(points("22T12:00:00", "22T18:00:00"), 6)).toBe("%d %b %H:%M");
    expect(timeFormat(points("01T12:00:00", "22T18:00:00"), 6)).toBe("%d %b %Y");
    expect(timeFormat(points("22T12:00:00"), 6)).toBe("%H:%M:%S");
  });

  it("has colours that can be seen on a dark ground", async () => {
    const point = {
      ...ATTEMPT,
      recorded: "",
      value: 1,
      at: 1,
      text: "1.00 s",
      environment: "e",
      parameters: "",
      measured: "e",
      state: "verified",
      remark: "",
    };
    const svg = await drawn(
      historySpec([point], NO_LINES, ["e"], { unit: "s", title: "time" }, "what", 800, DARK, false),
    );
    expect(svg).toContain(`stroke="${DARK.colours[0]}"`);
    expect(DARK.colours).toHaveLength(LIGHT.colours.length);
    for (const colour of DARK.colours) expect(contrast(colour, DARK.ground)).toBeGreaterThan(4.5);
  });

  const VERDICT = {
    ...CELL,
    ...ORIGINS,
    ...UNITS,
    operation: "write",
    verdict: "worse" as Verdict["verdict"],
    reason: null,
    n_before: 3,
    n_after: 3,
    metric: "only_s",
    unit: "s",
    median_before: 1,
    median_after: 1.2,
    mean_before: 1.02,
    mean_after: 1.122,
    ratio: 1.2,
    ratio_low: 1.1,
    ratio_high: 1.3,
    p_adjusted: 0.01,
    remarks: ["A: 1 of 3 client-bound"],
  };

  it("has ratios with their intervals, and marks what is unsound", async () => {
    const svg = await drawn(ratiosSpec(BULK, [VERDICT], 5, "what", 800, LIGHT));
    expect(svg).toContain("▲ write mongodb reference");
  });

  it("says what differs between two lines of one name", async () => {
    const other = { ...VERDICT, rows: 50000, cell_key: "other" };
    const svg = await drawn(ratiosSpec(BULK, [VERDICT, other], 5, "what", 1200, LIGHT));
    expect(svg).toContain("mongodb reference, rows 2,000");
    expect(svg).toContain("mongodb reference, rows 50,000");
  });

  it("excludes what has no ratio", async () => {
    const none = {
      ...VERDICT,
      ratio: null,
      ratio_low: null,
      ratio_high: null,
      verdict: "cannot tell" as const,
    };
    const svg = await drawn(
      ratiosSpec(BULK, [VERDICT, { ...none, cell_key: "other", operation: "sweep" }], 5, "what", 800, LIGHT),
    );
    expect(svg).toContain("write mongodb reference");
    expect(svg).not.toContain("sweep");
    expect(svg).not.toContain("cannot tell");
  });

  it("tells all verdicts apart, by a colour and a mark, and names those that there are", async () => {
    const verdicts = LABELS.map((label) => ({ ...VERDICT, unit: "bytes", verdict: label, cell_key: label }));
    const svg = await drawn(ratiosSpec(BULK, verdicts, 5, "what", 800, LIGHT));
    for (const label of LABELS) expect(svg).toContain(label);
    const marks = /role-mark layer_2_marks.*?<\/g>/s.exec(svg)?.[0] ?? "";
    const looks = [...marks.matchAll(/ d="([^"]*)"[^>]* fill="([^"]*)"/g)].map(([, ...look]) =>
      look.join(" "),
    );
    expect(new Set(looks).size).toBe(LABELS.length);
    expect(await drawn(ratiosSpec(BULK, verdicts.slice(0, 1), 5, "what", 800, LIGHT))).not.toContain("worse");
  });

  it("says of a verdict what its metric means", () => {
    expect([wordsOf("lower"), wordsOf("higher"), wordsOf("neither")]).toEqual([
      ["worse", "better"],
      ["better", "worse"],
      ["higher", "lower"],
    ]);
    const said = (unit: string) => LABELS.map((verdict) => labelText({ verdict, unit }));
    expect(said("s")).toEqual(["faster", "slower", "higher", "lower", "the same", "cannot tell"]);
    expect(said("bytes")).toEqual([...LABELS]);
  });

  it("has whole intervals, however wide, and twice as far from 1 as half", async () => {
    const wide = { ...VERDICT, verdict: "cannot tell" as const, ratio_low: 0.001, ratio_high: 1000 };
    const spec = ratiosSpec(BULK, [VERDICT, wide], 5, "what", 800, LIGHT);
    const view = new vega.View(vega.parse(compile(spec).spec), { renderer: "none" });
    const svg = await view.toSVG();
    const scale = view.scale("x") as { (value: number): number; domain: () => number[] };
    expect(scale.domain()).toEqual([0.001, 1000]);
    expect(scale(2) - scale(1)).toBeCloseTo(scale(1) - scale(0.5), 6);
    expect(svg).toContain("B / A, logarithmic");
  });

  it("can be a table, of text that stays text", async () => {
    const svg = await drawn(tableSpec([{ cell: "<b>null</b>", write: "1.50 s" }], LIGHT));
    expect(svg).toContain("&lt;b&gt;null&lt;/b&gt;");
    expect(svg).toContain("1.50 s");
  });
});

/** Return the parts of the bars in a drawing. */
const bars = (svg: string) => /role-mark marks.*?<\/g>/s.exec(svg)?.[0].match(/<path[^>]*>/g) ?? [];

/** Return the contrast of two colours, as WCAG defines it. */
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

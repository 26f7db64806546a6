import * as vega from "vega";
import { compile } from "vega-lite";
import { describe, expect, it } from "vitest";
import type { CellArtifacts, Metric } from "../../src/api/types";
import { type Bands, bandsText } from "../../src/charts/bands";
import {
  type CurvesShown,
  curvePanels,
  curveSpec,
  curveTable,
  hasCurves,
  limitsNear,
} from "../../src/charts/curves";
import { metricNamed } from "../../src/model/study";
import { painter } from "../../src/ui/colours";
import { LIGHT } from "../../src/ui/theme";
import { FILL, SUM, TOY, toy } from "../data";

const LATENCY = metricNamed(TOY, "latency_s") as Metric;
const DONE: Metric = {
  name: "done_bytes",
  title: "bytes done",
  unit: "bytes",
  better: "neither",
  kind: "series",
  by_cover: false,
  merge: null,
};
const POINTS: [number, number][] = [
  [0, 0.001],
  [50, 0.002],
  [90, 0.004],
  [99, 0.02],
  [100, 0.05],
];
const LAYOUT = { colour: "codec", panel: "level" };

function found(codec: string, level: string, changes: Partial<CellArtifacts> = {}): CellArtifacts {
  const { cell_key, study, store, client, axes, rows, seed } = toy("sum", 1, { codec, level });
  const own = { cell_key, study, store, client, axes, rows, seed, operation: "sum", n: 3 };
  return { ...own, percentiles: { latency_s: POINTS }, series: {}, series_of: null, servers: [], ...changes };
}

async function drawn(
  cells: CellArtifacts[],
  scale: "linear" | "logarithmic",
  metric = LATENCY,
  over?: Metric,
  more: Partial<CurvesShown> = {},
) {
  const [panel] = curvePanels(TOY, cells, [SUM], metric, LAYOUT, over);
  const paint = painter(TOY, cells, "codec");
  const shown = { metric, over, scale, colour: "codec", paint, limits: [], description: "what", ...more };
  const spec = curveSpec(TOY, panel?.curves ?? [], shown, 800, LIGHT, true);
  return new vega.View(vega.parse(compile(spec).spec), { renderer: "none" }).toSVG();
}

describe("curves", () => {
  it("are in panels, and named by what else tells them apart", () => {
    const cells = [
      found("zip", "2"),
      found("none", "2"),
      found("none", "10"),
      found("none", "2", { client: "foot" }),
    ];
    const panels = curvePanels(TOY, cells, [SUM], LATENCY, LAYOUT);
    expect(panels.map(({ name, curves }) => [name, ...curves.map((curve) => curve.name)])).toEqual([
      ["level 2", "hand", "hand", "foot"],
      ["level 10", "hand"],
    ]);
  });

  it("are of operations that have them", () => {
    const cells = [found("zip", "2"), found("zip", "3", { percentiles: {} })];
    expect(hasCurves(cells, LATENCY, [FILL, SUM])).toBe(true);
    expect(hasCurves(cells, LATENCY, [FILL])).toBe(false);
    expect(hasCurves(cells, DONE, [SUM])).toBe(false);
    expect(curvePanels(TOY, cells, [SUM], LATENCY, LAYOUT)).toHaveLength(1);
  });

  it("give each nine of a distribution the same length, and its greatest value a place", async () => {
    const svg = await drawn([found("zip", "2")], "linear");
    for (const label of ["0 %", "50 %", "90 %", "99 %", "percentile", "ms", "zip"])
      expect(svg).toContain(`>${label}<`);
    expect(svg).not.toContain("99.9 %");
    const place = (label: string) =>
      Number(svg.match(new RegExp(`translate\\(([\\d.]+),[^>]*>${label}<`))?.[1]);
    expect(place("90 %") - place("0 %")).toBeCloseTo(place("99 %") - place("90 %"), -1);
    expect(svg.match(/class="mark-symbol[\s\S]*?<\/g>/)?.[0].match(/<path/g)).toHaveLength(POINTS.length);
  });

  it("have no place on a logarithmic scale for 0", async () => {
    const series: [number, number][] = [
      [0, 0],
      [1, 2 ** 20],
      [2, 2 ** 30],
    ];
    const svg = await drawn([found("zip", "2", { series: { done_bytes: series } })], "logarithmic", DONE);
    expect(svg).toContain("bytes done, logarithmic");
    for (const text of ["1 MB", "100 MB", "1 GB"]) expect(svg).toContain(`>${text}<`);
    expect(svg).toContain("seconds since the operation began");
    expect(svg).not.toMatch(/NaN|Infinity/);
  });

  it("lie over another series where both have a value, in its ascending order", async () => {
    const over: Metric = { ...DONE, name: "rate_per_s", title: "rate", unit: "operations/s" };
    const series: Record<string, [number, number][]> = {
      done_bytes: [
        [0, 2 ** 20],
        [5, 2 ** 21],
        [10, 2 ** 22],
      ],
      rate_per_s: [
        [0, 100],
        [5, 300],
        [7, 500],
        [10, 200],
      ],
    };
    const cells = [found("zip", "2", { series })];
    const [panel] = curvePanels(TOY, cells, [SUM], DONE, LAYOUT, over);
    const curves = panel?.curves ?? [];
    expect(curves[0]?.points).toEqual([
      [100, 2 ** 20],
      [200, 2 ** 22],
      [300, 2 ** 21],
    ]);
    const svg = await drawn(cells, "linear", DONE, over);
    expect(svg).toContain(">rate, operations/s<");
    const line = svg.match(/mark-line[\s\S]*?<path[^>]* d="([^"]+)"/)?.[1] ?? "";
    const x = [...line.matchAll(/[ML]([\d.]+),/g)].map(([, at]) => Number(at));
    expect(x).toHaveLength(3);
    expect([...x].sort((one, other) => one - other)).toEqual(x);
    const [row] = curveTable(TOY, curves, { metric: DONE, over }, [], "toy/one", () => [toy("sum", 1)]);
    expect(row).toMatchObject({ rate_per_s: 100, done_bytes: 2 ** 20 });
    expect(row).not.toHaveProperty("since_begin_s");
    expect(hasCurves([found("zip", "2", { series: { done_bytes: [[0, 1]] } })], DONE, [SUM], over)).toBe(
      false,
    );
  });

  it("are dashed where colour does not tell them apart", async () => {
    const one = await drawn([found("zip", "2"), found("none", "2")], "linear");
    const two = await drawn([found("zip", "2"), found("zip", "2", { client: "foot" })], "linear");
    expect(one).not.toContain("stroke-dasharray");
    expect(two).toContain("stroke-dasharray");
    expect(two).toContain(">foot<");
  });

  it("have the limit of the run as a line, unless it is far above", async () => {
    const limits = [{ title: "Limit", value: 0.06 }];
    const svg = await drawn([found("zip", "2")], "linear", LATENCY, undefined, { limits });
    expect(svg).toContain(">Limit: 60.0 ms<");
    const far = [{ title: "Limit", value: 60 }];
    expect(limitsNear(far, [0.05])).toEqual([[], far]);
    expect(await drawn([found("zip", "2")], "linear", LATENCY, undefined, { limits: far })).not.toContain(
      "Limit",
    );
  });

  it("shade the time before the measurement, and have another series at a second axis", async () => {
    const series: Record<string, [number, number][]> = {
      done_bytes: [
        [0, 1],
        [5, 2],
      ],
      users: [
        [0, 3],
        [5, 4],
      ],
    };
    const users: Metric = { ...DONE, name: "users", title: "users", unit: "" };
    const since = { title: "warm", seconds: [2.5] };
    const svg = await drawn([found("zip", "2", { series })], "linear", DONE, undefined, {
      since,
      beside: users,
    });
    expect(svg).toContain(">◂ warm<");
    expect(svg).toContain(">users (dotted)<");
    expect(svg.match(/shade_marks[\s\S]*?<path[^>]* d="[^"]+"/)).toBeTruthy();
    expect(await drawn([found("zip", "2", { series })], "linear", DONE)).not.toMatch(/warm|users/);
  });

  it("shade a stretch of each cell in its colour, with edges, and labels that name the cells", async () => {
    const series: Record<string, [number, number][]> = {
      done_bytes: [
        [0, 1],
        [20, 2],
      ],
    };
    const cells = [found("zip", "2", { series }), found("none", "2", { series })];
    const [begin, end] = [
      { ...DONE, name: "stop_from_s", title: "begin of the stop", unit: "s" },
      { ...DONE, name: "stop_to_s", title: "end of the stop", unit: "s" },
    ];
    const of = (some: CellArtifacts[]): Bands => ({
      title: "stop",
      begin,
      end,
      stretches: some.map((cell, place) => ({ cell, from: 4 + 8 * place, to: 6.5 + 8 * place })),
    });
    const svg = await drawn(cells, "linear", DONE, undefined, { bands: of(cells) });
    expect(svg).toContain(">▸ stop: zip<");
    expect(svg).toContain(">stop: none ▸<"); // late: to the left of its stretch
    const areas = svg.match(/[^"]*band_marks[\s\S]*?<\/g>/)?.[0] ?? "";
    const paint = painter(TOY, cells, "codec");
    for (const codec of ["zip", "none"]) expect(areas).toContain(`fill="${paint(LIGHT, codec)}"`);
    for (const edge of ["band_from_marks", "band_to_marks"])
      expect(svg.match(new RegExp(`${edge}[\\s\\S]*?</g>`))?.[0].match(/<line/g)).toHaveLength(2);
    const one = await drawn(cells, "linear", DONE, undefined, { bands: of(cells.slice(0, 1)) });
    expect(one).toContain(">▸ stop<");
    expect(bandsText(of(cells))).toBe(
      "Shaded, each in the colour of its curve: stop (begin of the stop, to end of the stop).",
    );
    const [panel] = curvePanels(TOY, cells, [SUM], DONE, LAYOUT);
    const shown = { metric: DONE, bands: of(panel?.curves.map(({ cell }) => cell) ?? []) };
    const table = curveTable(TOY, panel?.curves ?? [], shown, [], "toy/one", () => [toy("sum", 1)]);
    expect(table[0]).toMatchObject({ stop_from_s: 4, stop_to_s: 6.5 });
  });

  it("are taken away point by point", () => {
    const [panel] = curvePanels(TOY, [found("zip", "2")], [SUM], LATENCY, LAYOUT);
    const table = curveTable(
      TOY,
      panel?.curves ?? [],
      { metric: LATENCY },
      ["codec", "level"],
      "toy/one",
      () => [toy("sum", 1)],
    );
    expect(table).toHaveLength(POINTS.length);
    expect(table[3]).toEqual({
      store: "abacus",
      client: "hand",
      operation: "sum",
      codec: "zip",
      level: "2",
      run: "toy/one",
      n: 3,
      server: "FerretDB v2.7.0",
      durability: "disk",
      machine: "2 CPUs (Example 9), 24 GiB",
      code_version: "0.1.0",
      recorded_on: "2026-11-22",
      percentile: 99,
      latency_s: 0.02,
    });
  });
});

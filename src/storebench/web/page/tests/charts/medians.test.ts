import * as vega from "vega";
import { compile } from "vega-lite";
import { describe, expect, it } from "vitest";
import type { Attempt, CellFigures, Chart, Metric, Operation, Study } from "../../src/api/types";
import { medianSpec } from "../../src/charts/medians";
import type { Scale } from "../../src/model/choice";
import { chartData, type Figure, figuresOf, type Layout } from "../../src/model/figures";
import { metricNamed } from "../../src/model/study";
import { painter } from "../../src/ui/colours";
import { LIGHT } from "../../src/ui/theme";
import {
  ATTEMPT,
  BULK,
  DISTURBED,
  FAILED,
  FIGURES,
  measured,
  NOT_RUN,
  SHRINK,
  SUM,
  spread,
  TOY,
  toy,
  WRITE,
} from "../data";

const figure = (study: Study, name: string) => figuresOf(metricNamed(study, name) as Metric)[0] as Figure;
const ONLY = figure(BULK, "only_s");
const BY_BATCH = BULK.charts[0] as Chart;

interface Item {
  x: number;
  x2: number;
  y: number;
  y2: number;
  width: number;
  height: number;
  fill: string;
  fillOpacity: number;
  text: string;
  size: number;
  fontWeight: string;
}
interface Group {
  marktype: string;
  role: string;
  name?: string;
  items: (Item & { items?: Group[] })[];
}

/** Return the marks of a chart of an operation. */
async function chart(
  cells: CellFigures[],
  {
    scale = "linear" as Scale,
    width = 800,
    study = BULK,
    operation = WRITE,
    of = ONLY,
    by = BY_BATCH as Layout,
    shown = cells,
  }: {
    scale?: Scale;
    width?: number;
    study?: Study;
    operation?: Operation;
    of?: Figure;
    by?: Layout;
    shown?: CellFigures[];
  } = {},
) {
  const data = chartData(study, shown, [operation], of, by);
  const paint = painter(study, cells, by.colour);
  const what = { study, figure: of, scale, colour: by.colour, paint, description: "what" };
  const view = new vega.View(vega.parse(compile(medianSpec(data, what, width, LIGHT)).spec), {
    renderer: "none",
  });
  const svg = await view.toSVG();
  const all = (group: Group): Group[] => [
    group,
    ...group.items.flatMap((item) => (item.items ?? []).flatMap(all)),
  ];
  const groups = all((view.scenegraph() as unknown as { root: Group }).root);
  const marks = (type: string) =>
    groups.filter((group) => group.marktype === type && group.role === "mark").map((group) => group.items);
  const labels = groups.filter((group) => group.role === "axis-label").flatMap((group) => group.items);
  const [grid = [], ...rules] = marks("rule");
  const [texts = [], names = []] = marks("text");
  return {
    svg,
    grid,
    bars: marks("rect").flat(),
    points: marks("symbol"),
    rules: rules.flat(),
    texts,
    names: [...labels.filter((item) => /[a-z]/.test(item.text)), ...names],
    scale: (name: string) => view.scale(name) as { domain: () => number[]; type: string },
    width: view.width(),
  };
}

const at = (batch: string) => ({ ...ATTEMPT.axes, batch });
const store = (name: string, seconds: number, changes: Partial<Attempt> = {}) =>
  measured({
    ...ATTEMPT,
    store: name,
    cell_key: `${name} ${changes.axes?.batch}`,
    value: seconds,
    metrics: { only_s: seconds, rows_per_s: 2000 / seconds },
    ...changes,
  });
const FAST_AND_SLOW = [store("mongodb", 0.1), store("elasticsearch", 74)];
const BATCHES = ["100", "1000", "10000"].map((batch) => store("mongodb", 1, { axes: at(batch) }));

describe("a chart of medians", () => {
  it("draws a bar, an interval and a mark for each attempt", async () => {
    const only_s = { n: 6, median: 1.5, interval_low: 1.4, interval_high: 1.6, interval_coverage: 0.96875 };
    const { svg, bars, rules, points } = await chart([{ ...FIGURES, figures: { only_s } }]);
    expect(svg).toContain(">s<");
    expect([bars.length, rules.length, points.flat().length]).toEqual([1, 1, 2]);
  });

  it("has each median beside its bar, and room for it", async () => {
    const { texts, bars, width } = await chart(FAST_AND_SLOW);
    expect(texts.map((item) => [item.text, item.fontWeight])).toEqual([
      ["0.100 s", "bold"],
      ["74.0 s", "normal"],
    ]);
    for (const [n, item] of texts.entries()) {
      expect(item.x).toBeGreaterThanOrEqual((bars[n] as Item).x + (bars[n] as Item).width);
      // jsdom has no fonts to measure the text with
      expect(item.x + 8 + 6.8 * item.text.length).toBeLessThanOrEqual(width);
    }
  });

  it("has a mark of its own for each state, and a word for it", async () => {
    const bound = { ...ATTEMPT, client_bound: true };
    const served = { ...ATTEMPT, service_bound: true };
    const failed = { ...FAILED, metrics: { only_s: 1.5 } };
    const states = ["verified", "client-bound", "service-bound", "disturbed", "failed", "stopped", "not run"];
    const found = await Promise.all(
      [ATTEMPT, bound, served, DISTURBED, failed, { ...failed, error_kind: "killed" }, NOT_RUN].map(
        async (attempt, n) => {
          const { svg } = await chart([{ ...FIGURES, attempts: [attempt, { ...attempt, repeat: 2 }] }]);
          // nothing has to explain the mark of a sound attempt
          if (n) expect(svg).toContain(`>${states[n]}<`);
          else expect(svg).not.toContain(">verified<");
          return /role-mark layer_4_marks.*?<path[^>]* d="([^"]*)"/s.exec(svg)?.[1];
        },
      ),
    );
    expect(found.every(Boolean)).toBe(true);
    expect(new Set(found).size).toBe(states.length);
  });

  it.each([800, 400])("has each bar beside its own name, or below it, %d pixels wide", async (width) => {
    const lone = store("redis", 1, { axes: at("10000") });
    const { bars, names } = await chart([...BATCHES, lone], { width });
    expect(names.map((item) => [item.text].flat().join(" "))).toEqual([
      ...["mongodb, batch 100", "mongodb, batch 1,000", "mongodb, batch 10,000"],
      "redis, batch 10,000",
    ]);
    for (const [n, bar] of bars.entries()) {
      const name = names[n] as Item;
      if (width > 520) expect(name.y).toBeCloseTo(bar.y + bar.height / 2, 0);
      else expect(name.y).toBeLessThan(bar.y);
      expect(Math.abs(name.y - bar.y)).toBeLessThan(20);
    }
  });

  it("has names complete where they differ, above their bars if they are long", async () => {
    const long = ["a".repeat(60), "b".repeat(60)].map((name) => store(`${name}/ZB${name[0]}`, 1));
    const { names } = await chart(long, { width: 400 });
    const lines = names.map((item) => [item.text].flat().flatMap((text) => text.split("\n")));
    expect(lines.map((line) => line.join(""))).toEqual(long.map((cell) => cell.store));
    for (const line of lines.flat()) expect(6.8 * line.length).toBeLessThanOrEqual(400);
  });

  it("draws no line of the grid through a name", async () => {
    const cells = [...BATCHES, store("elasticsearch", 1, { axes: at("10000") })];
    const { grid, names } = await chart(cells, { width: 400 });
    for (const { y, y2 } of grid)
      for (const name of names)
        expect(Math.min(y, y2) > name.y + 6 || Math.max(y, y2) < name.y - 6).toBe(true);
    expect(grid.length).toBeGreaterThan(0);
  });

  it("draws a single measurement hollow", async () => {
    const [single, several] = [store("mongodb", 1), store("redis", 2)];
    const repeated = { ...several, figures: { only_s: { ...spread(2), n: 6 } } };
    const { bars } = await chart([single, repeated]);
    expect(bars.map((bar) => bar.fillOpacity < 0.1)).toEqual([true, false]);
  });

  it("has the name of each bar, however many there are", async () => {
    const stores = Array.from({ length: 30 }, (_, n) => `store${String.fromCharCode(97 + n)}`);
    const { names } = await chart(stores.map((name) => store(name, 1)));
    expect(names.map((item) => item.text)).toEqual(stores);
  });

  it("keeps small times apart, in a unit that suits them", async () => {
    const { texts, svg } = await chart([store("mongodb", 2.954e-6), store("redis", 2.744e-6)]);
    expect(texts.map((item) => item.text)).toEqual(["2.95 µs", "2.74 µs"]);
    expect(svg).toContain(">µs<");
  });

  it("keeps the colours of what is shown when something is hidden", async () => {
    const all = await chart(BATCHES);
    const some = await chart(BATCHES, { shown: BATCHES.slice(1) });
    expect(all.bars.map((bar) => bar.fill)).toEqual(LIGHT.colours.slice(0, 3));
    expect(some.bars.map((bar) => bar.fill)).toEqual(LIGHT.colours.slice(1, 3));
  });

  it("can show nothing", async () => {
    expect((await chart([])).bars).toEqual([]);
    const none = { ...FIGURES, figures: {}, attempts: [FAILED] };
    expect((await chart([none], { scale: "best" })).bars).toEqual([]);
  });

  it("has figures below 0 to the left of it", async () => {
    const change = { ...ONLY, better: "neither" as const };
    const cells = [-2, 4].map((value, n) => ({
      ...FIGURES,
      store: `s${n}`,
      attempts: [],
      figures: { only_s: spread(value) },
    }));
    const { bars, scale } = await chart(cells, { of: change });
    expect(scale("x").domain()[0]).toBe(-2);
    const [below, above] = bars as [Item, Item];
    expect(below.x).toBe(0);
    expect(below.x + below.width).toBeCloseTo(above.x, 5);
  });
});

describe("a store that keeps nothing", () => {
  const cells = [store("mongodb", 2), store("elasticsearch", 1), store("null", 0.5)];

  it.each(["linear", "logarithmic", "best"] as const)("is a line across the others, %s", async (scale) => {
    const { rules, bars, texts, names } = await chart(cells, { scale });
    const [line, ...others] = rules as [Item, ...Item[]];
    expect(others).toEqual([]);
    expect(bars).toHaveLength(scale === "logarithmic" ? 0 : 2);
    expect(names.map((item) => item.text)).toContain("null (floor)");
    // from above the first bar to below its own name
    expect(Math.min(line.y, line.y2)).toBe(0);
    expect(Math.max(line.y, line.y2)).toBeGreaterThan(Math.max(...names.map((item) => item.y)));
    const told = texts.map((item) => item.text);
    if (scale === "best") expect(told.sort()).toEqual(["0.5 ×", "2 ×", "best: 1.00 s"]);
  });
});

describe("a chart of another study", () => {
  const cells = ["none", "zip"].flatMap((codec) =>
    ["10", "9", "most"].map((level) => measured(toy("sum", 100, { codec, level }))),
  );
  const sums = { study: TOY, operation: SUM, of: figure(TOY, "sums_per_s") };

  it("has its panels one below the other, numbers by size before words, each with its bars", async () => {
    const { names, bars, texts } = await chart(cells, { ...sums, by: TOY.charts[0] as Chart });
    const told = [...names].sort((one, other) => one.y - other.y);
    expect(told.map((item) => item.text)).toEqual(
      ["level 9", "level 10", "level most"].flatMap((panel) => [panel, "codec none", "codec zip"]),
    );
    const bold = told.filter((item) => item.fontWeight === "bold").map((item) => item.text);
    expect(bold).toEqual(["level 9", "level 10", "level most"]);
    expect(bars.map((bar) => bar.fill)).toEqual(["9", "10", "most"].flatMap(() => LIGHT.colours.slice(0, 2)));
    expect(texts).toHaveLength(6);
  });

  it("compares with the best of each panel", async () => {
    const two = cells.map((cell, n) => ({
      ...cell,
      figures: { sums_per_s: spread([8, 4, 2, 1, 1, 1][n] ?? 1) },
    }));
    const { texts } = await chart(two, { ...sums, by: TOY.charts[0] as Chart, scale: "best" });
    const best = texts.filter((item) => item.text.startsWith("best"));
    expect(best.map((item) => item.text)).toEqual([
      "best: 4.00 sums/s",
      "best: 8.00 sums/s",
      "best: 2.00 sums/s",
    ]);
  });

  it("takes the most for the best where more is better, in its own unit", async () => {
    const two = [100, 25].map((value, n) => ({
      ...measured(toy("shrink", value * 2 ** 20)),
      client: `c${n}`,
    }));
    const { texts, svg } = await chart(two, {
      study: TOY,
      operation: SHRINK,
      of: figure(TOY, "saved_bytes"),
      by: TOY.charts[2] as Chart,
      scale: "best",
    });
    expect(texts.map((item) => item.text)).toEqual(["best: 105 MB", "4 ×"]);
    expect(svg).toContain("times below the best, logarithmic");
  });
});

describe("a logarithmic scale", () => {
  it("has dots and no bars, whose length would be a lie", async () => {
    const { bars, points, texts, svg, width } = await chart(FAST_AND_SLOW, { scale: "logarithmic" });
    expect(bars).toEqual([]);
    const [medians] = points as [Item[]];
    expect(medians.map((item) => item.size)).toEqual([150, 150]);
    expect((medians[1] as Item).x - (medians[0] as Item).x).toBeGreaterThan(width / 2.5);
    expect(texts.map((item) => item.text)).toEqual(["0.100 s", "74.0 s"]);
    expect(svg).toContain(", logarithmic");
  });

  it("has lines at the powers of ten alone", async () => {
    const { grid } = await chart(FAST_AND_SLOW, { scale: "logarithmic" });
    expect(grid).toHaveLength(4); // from 0.1 to 100
  });

  it("has what came to no figure at its beginning", async () => {
    const { points } = await chart([{ ...FIGURES, attempts: [FAILED] }], { scale: "logarithmic" });
    expect(points.at(-1)?.[0]?.x).toBe(0);
  });
});

describe("relative to the best", () => {
  it("says how many times the best each is, and begins at it", async () => {
    const { texts, bars, scale } = await chart(FAST_AND_SLOW, { scale: "best" });
    expect(texts.map((item) => item.text)).toEqual(["best: 0.100 s", "740 ×"]);
    expect(bars.map((bar) => Math.round(bar.x))).toEqual([0, 0]);
    expect(scale("x").domain()[0]).toBe(1);
  });

  it("takes the most for the best where more is better", async () => {
    const of = figure(BULK, "rows_per_s");
    const { texts, svg } = await chart(FAST_AND_SLOW, { scale: "best", of });
    expect(texts.map((item) => item.text)).toEqual(["best: 20,000 rows/s", "740 ×"]);
    expect(svg).toContain("times below the best, logarithmic");
  });
});

import * as vega from "vega";
import { compile } from "vega-lite";
import { describe, expect, it } from "vitest";
import type { Attempt, CellFigures, Chart, Metric, Operation, Study } from "../../src/api/types";
import { medianSpec } from "../../src/charts/medians";
import type { Scale } from "../../src/model/choice";
import { chartData, type Figure, figuresOf, type Layout } from "../../src/model/figures";
import { metricNamed } from "../../src/model/study";
import { valuesOf } from "../../src/ui/Controls";
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
    picture = false,
    shown = cells,
  }: {
    scale?: Scale;
    width?: number;
    study?: Study;
    operation?: Operation;
    of?: Figure;
    by?: Layout;
    picture?: boolean;
    shown?: CellFigures[];
  } = {},
) {
  const data = chartData(study, shown, [operation], of, by);
  const values = valuesOf(cells, by.colour);
  const what = { study, figure: of, scale, colour: by.colour, values, description: "what" };
  const view = new vega.View(vega.parse(compile(medianSpec(data, what, width, LIGHT, picture)).spec), {
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
  const names = groups.filter((group) => group.role === "axis-label").flatMap((group) => group.items);
  return {
    svg,
    bars: marks("rect").flat(),
    points: marks("symbol"),
    rules: marks("rule").flat(),
    texts: marks("text").flat(),
    names: names.filter((item) => /[a-z]/.test(item.text)),
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
    expect(svg).toContain("seconds");
    expect([bars.length, rules.length, points.flat().length]).toEqual([1, 1, 2]);
  });

  it("has each median beside its bar, and room for it", async () => {
    const { texts, bars, width } = await chart(FAST_AND_SLOW);
    expect(texts.map((item) => item.text)).toEqual(["0.100 s", "74.0 s"]);
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
          const { svg } = await chart([{ ...FIGURES, attempts: [attempt] }]);
          expect(svg).toContain(`>${states[n]}<`);
          return /role-mark layer_2_marks.*?<path[^>]* d="([^"]*)"/s.exec(svg)?.[1];
        },
      ),
    );
    expect(found.every(Boolean)).toBe(true);
    expect(new Set(found).size).toBe(states.length);
  });

  it.each([800, 400])("has a lone bar beside its own name, %d pixels wide", async (width) => {
    const lone = store("redis", 1, { axes: at("10000") });
    const { bars, names } = await chart([...BATCHES, lone], { width });
    const bar = bars.at(-1) as Item;
    const own = names.find((item) => item.text.startsWith("redis")) as Item;
    const others = bars.slice(0, -1).map((one) => one.y + one.height);
    expect(bars).toHaveLength(4);
    if (width > 520) expect(own.y).toBeCloseTo(bar.y + bar.height / 2, 0);
    expect(Math.min(own.y, bar.y)).toBeGreaterThan(Math.max(...others));
    expect(Math.abs(own.y - bar.y)).toBeLessThan(20);
  });

  it("has the name of each line, however many there are", async () => {
    const stores = Array.from({ length: 30 }, (_, n) => `store${String.fromCharCode(97 + n)}`);
    const { names } = await chart(stores.map((name) => store(name, 1)));
    expect(names.map((item) => item.text)).toEqual(stores.map((name) => `${name} reference`));
  });

  it("keeps the colours of what is shown when something is hidden", async () => {
    const all = await chart(BATCHES);
    const some = await chart(BATCHES, { shown: BATCHES.slice(1) });
    expect(all.bars.map((bar) => bar.fill)).toEqual(LIGHT.colours.slice(0, 3));
    expect(some.bars.map((bar) => bar.fill)).toEqual(LIGHT.colours.slice(1, 3));
  });

  it("has a legend of what is shown in a picture, and none on the page, which has its own", async () => {
    const cells = BATCHES.slice(0, 2);
    expect((await chart(cells)).svg).not.toContain(">batch<");
    const { svg } = await chart(cells, { picture: true, shown: cells.slice(1) });
    expect(svg).toContain(">batch<");
    expect(svg).not.toContain(">100<");
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
    expect(names.map((item) => item.text)).toContain("null reference (only the client)");
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

  it("has its panels one below the other, numbers by size before words, each with its lines", async () => {
    const { names, bars } = await chart(cells, { ...sums, by: TOY.charts[0] as Chart });
    const told = [...names].sort((one, other) => one.y - other.y);
    expect(told.map((item) => item.text)).toEqual(
      ["level 9", "level 10", "level most"].flatMap((panel) => [panel, "abacus hand"]),
    );
    expect(told.map((item) => item.fontWeight)).toEqual([
      "bold",
      "normal",
      "bold",
      "normal",
      "bold",
      "normal",
    ]);
    expect(bars.map((bar) => bar.fill)).toEqual(["9", "10", "most"].flatMap(() => LIGHT.colours.slice(0, 2)));
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
    expect(svg).toContain("times below the best one shown");
  });
});

describe("a logarithmic scale", () => {
  it("has dots and no bars, whose length would be a lie", async () => {
    const { bars, points, texts, svg, width } = await chart(FAST_AND_SLOW, { scale: "logarithmic" });
    expect(bars).toEqual([]);
    const [medians] = points as [Item[]];
    expect(medians.map((item) => item.size)).toEqual([160, 160]);
    expect((medians[1] as Item).x - (medians[0] as Item).x).toBeGreaterThan(width / 2.5);
    expect(texts.map((item) => item.text)).toEqual(["0.100 s", "74.0 s"]);
    expect(svg).toContain("seconds, logarithmic");
  });

  it("has lines at the powers of ten alone", async () => {
    const { svg } = await chart(FAST_AND_SLOW, { scale: "logarithmic" });
    const lines = /role-axis-grid.*?<\/g>/s.exec(svg)?.[0].match(/<line/g);
    expect(lines).toHaveLength(4); // from 0.1 to 100
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
    expect(svg).toContain("times below the best one shown");
  });
});

import * as vega from "vega";
import { compile } from "vega-lite";
import { describe, expect, it } from "vitest";
import type { Scale } from "../src/choice";
import { batchesOf, chartData, type Figures, METRICS, type Metric } from "../src/figures";
import { LIGHT } from "../src/frame";
import { medianSpec } from "../src/medians";
import type { Attempt } from "../src/types";
import { ATTEMPT, DISTURBED, FAILED, FIGURES, measured, NOT_RUN } from "./data";

const metric = (name: string) => METRICS.find((one) => one.name === name) as Metric;
const ONLY = metric("only_s");

interface Item {
  x: number;
  x2: number;
  y: number;
  width: number;
  height: number;
  fill: string;
  text: string;
  size: number;
}
interface Group {
  marktype: string;
  role: string;
  name?: string;
  items: (Item & { items?: Group[] })[];
}

/** What a chart of write-only times has drawn. */
async function chart(
  cells: Figures[],
  {
    scale = "linear" as Scale,
    width = 800,
    of = ONLY,
    picture = false,
    shown = cells,
  }: { scale?: Scale; width?: number; of?: Metric; picture?: boolean; shown?: Figures[] } = {},
) {
  const data = chartData(shown, "write", of);
  const what = { metric: of, scale, batches: batchesOf(cells), description: "what" };
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

const store = (name: string, only_s: number, changes: Partial<Attempt> = {}) =>
  measured({
    store: name,
    cell_key: `${name} ${changes.batch_size}`,
    only_s,
    rows_per_s: 2000 / only_s,
    ...changes,
  });
const FAST_AND_SLOW = [store("mongodb", 0.1), store("elasticsearch", 74)];

describe("a chart of medians", () => {
  it("draws a bar, an interval and a mark for each attempt", async () => {
    const only_s = { n: 6, median: 1.5, low: 1.4, high: 1.6, coverage: 0.96875 };
    const { svg, bars, rules, points } = await chart([{ ...FIGURES, only_s }]);
    expect(svg).toContain("seconds");
    expect([bars.length, rules.length, points.flat().length]).toEqual([1, 1, 2]);
  });

  it("has each median beside its bar, and room for it", async () => {
    const { texts, bars, width } = await chart(FAST_AND_SLOW);
    expect(texts.map((item) => item.text)).toEqual(["0.100 s", "74.0 s"]);
    for (const [n, item] of texts.entries()) {
      expect(item.x).toBeGreaterThanOrEqual((bars[n] as Item).x + (bars[n] as Item).width);
      // there are no fonts here to measure it by
      expect(item.x + 8 + 6.8 * item.text.length).toBeLessThanOrEqual(width);
    }
  });

  it("has a mark of its own for each state, and a word for it", async () => {
    const bound = { ...ATTEMPT, client_bound: true };
    const failed = { ...FAILED, only_s: 1.5 };
    const states = ["verified", "client-bound", "disturbed", "failed", "stopped", "not run"];
    const found = await Promise.all(
      [ATTEMPT, bound, DISTURBED, failed, { ...failed, error_kind: "killed" }, NOT_RUN].map(
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
    const many = ["100", "1000", "10000"].map((size) => store("mongodb", 1, { batch_size: size }));
    const { bars, names } = await chart([...many, store("null", 1, { batch_size: "10000" })], { width });
    const lone = bars.at(-1) as Item;
    const own = names.find((item) => item.text.startsWith("null")) as Item;
    const others = bars.slice(0, -1).map((bar) => bar.y + bar.height);
    expect(bars).toHaveLength(4);
    if (width > 520) expect(own.y).toBeCloseTo(lone.y + lone.height / 2, 0);
    expect(Math.min(own.y, lone.y)).toBeGreaterThan(Math.max(...others));
    expect(Math.abs(own.y - lone.y)).toBeLessThan(20);
  });

  it("has the name of each line, however many there are", async () => {
    const stores = Array.from({ length: 30 }, (_, n) => `store${String.fromCharCode(97 + n)}`);
    const { names } = await chart(stores.map((name) => store(name, 1)));
    expect(names.map((item) => item.text)).toEqual(stores.map((name) => `${name} reference`));
  });

  it("keeps the colours of what is shown when something is hidden", async () => {
    const cells = ["100", "1000", "10000"].map((size) => store("mongodb", 1, { batch_size: size }));
    const all = await chart(cells);
    const some = await chart(cells, { shown: cells.slice(1) });
    expect(all.bars.map((bar) => bar.fill)).toEqual(LIGHT.colours.slice(0, 3));
    expect(some.bars.map((bar) => bar.fill)).toEqual(LIGHT.colours.slice(1, 3));
  });

  it("has a legend of what is shown in a picture, and none on the page, which has its own", async () => {
    const cells = ["100", "1000"].map((size) => store("mongodb", 1, { batch_size: size }));
    expect((await chart(cells)).svg).not.toContain("batch size");
    const { svg } = await chart(cells, { picture: true, shown: cells.slice(1) });
    expect(svg).toContain("batch size");
    expect(svg).not.toContain(">100<");
  });

  it("can show nothing", async () => {
    expect((await chart([])).bars).toEqual([]);
    expect((await chart([{ ...FIGURES, only_s: null, attempts: [FAILED] }], { scale: "best" })).bars).toEqual(
      [],
    );
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
    const { texts, svg } = await chart(FAST_AND_SLOW, { scale: "best", of: metric("rows_per_s") });
    expect(texts.map((item) => item.text)).toEqual(["best: 20,000 rows/s", "740 ×"]);
    expect(svg).toContain("times below the best one shown");
  });
});

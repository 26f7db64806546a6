import { describe, expect, it } from "vitest";
import type { Attempt, CellFigures, Chart, Metric, Study } from "../../src/api/types";
import {
  apart,
  chartData,
  chartTable,
  chartTitle,
  countsText,
  type Figure,
  figuresOf,
  mixed,
  operationsIn,
  scaledBy,
  unitText,
} from "../../src/model/figures";
import { metricNamed } from "../../src/model/study";
import {
  ATTEMPT,
  BULK,
  CELL,
  cellOf,
  DISTURBED,
  ENGINE,
  FAILED,
  FIGURES,
  FILL,
  measured,
  READ,
  SHRINK,
  SUM,
  TOY,
  toy,
  WRITE,
} from "../data";

const figures = (study: Study, name: string) => figuresOf(metricNamed(study, name) as Metric);
const [ONLY, RATE, MEMORY] = ["only_s", "rows_per_s", "all_memory_working_set_peak_bytes"].map(
  (name) => figures(BULK, name)[0],
) as [Figure, Figure, Figure];
const BY_BATCH = BULK.charts[0] as Chart;

describe("a chart's figures", () => {
  const bulk = (cells: CellFigures[], figure = ONLY, operation = WRITE) =>
    chartData(BULK, cells, [operation], figure, BY_BATCH);
  const bars = (...of: Parameters<typeof bulk>) => bulk(...of).panels.flatMap((panel) => panel.bars);

  it("are a median, and a mark for each attempt", () => {
    expect(bars([FIGURES])).toMatchObject([
      { name: "mongodb", spread: { n: 1, median: 1.5 }, dots: [{ value: 1.5, state: "verified" }, {}] },
    ]);
  });

  it("are named by the server that answered", () => {
    const stores = BULK.stores.map((one) => ({ ...one, product: "MongoDB" }));
    const { panels } = chartData({ ...BULK, stores }, [FIGURES], [WRITE], ONLY, BY_BATCH);
    expect(panels[0]?.bars[0]?.name).toBe("FerretDB (store mongodb)");
  });

  it("are in the unit of the metric", () => {
    const median = (one: Figure) => bars([FIGURES], one)[0]?.spread?.median;
    expect([median(MEMORY), unitText(MEMORY)]).toEqual([200 * 2 ** 20, "bytes peak working set"]);
    expect(median(RATE)).toBeCloseTo(1333.3, 1);
    expect([unitText(ONLY), unitText(RATE)]).toEqual(["s", "rows/s"]);
  });

  it.each([9, null])("have what a failed attempt came to: %s", (value) => {
    const metrics: Attempt["metrics"] = value === null ? {} : { only_s: value };
    const failed = { ...FAILED, metrics };
    expect(bars([{ ...FIGURES, attempts: [ATTEMPT, failed] }])[0]?.dots).toMatchObject([
      { state: "verified" },
      { state: "failed", remark: "failed: oom_killed", value },
    ]);
  });

  it("mark a disturbed attempt as such, with the reason", () => {
    expect(bars([{ ...FIGURES, attempts: [DISTURBED] }])[0]?.dots).toMatchObject([
      { state: "disturbed", remark: "disturbed: throttled in 3 periods" },
    ]);
  });

  it("have a client's memory and CPU apart from an engine's", () => {
    const old = { ...ATTEMPT, store: "null", figures_cover: null };
    const lost = { ...FAILED, client: "tuned" }; // came to no figures: what they are of, the store's others say
    const cells = [FIGURES, ...[ENGINE, old, lost].map(cellOf)];
    const charts = figures(BULK, "all_memory_working_set_peak_bytes").map((one) => [
      chartTitle([WRITE], one.title),
      bars(cells, one).map((bar) => bar.name),
    ]);
    expect(charts).toEqual([
      ["Write: memory of the client (its server is not in it)", ["reference", "tuned"]],
      ["Write: memory of the engine, in all its pods", ["delta-rs"]],
      ["Write: memory, not recorded whether of a client or an engine", ["null"]],
    ]);
    expect(figures(BULK, "all_cpu_s")).toHaveLength(3);
    expect(figures(BULK, "work_total_s")).toHaveLength(1);
  });

  it("are of one operation", () => {
    expect(bulk([FIGURES], ONLY, READ).panels).toEqual([]);
  });

  it("have a name for each dataset where there are several", () => {
    const other = { ...FIGURES, rows: 50000 };
    expect(bars([FIGURES, other]).map((bar) => bar.name)).toEqual(["rows 2,000", "rows 50,000"]);
  });

  it("have in their names only what tells the cells of the chart apart", () => {
    const spark = (executors: string) => ({
      ...FIGURES,
      store: "delta-spark",
      axes: { ...CELL.axes, executors },
    });
    expect(bars([FIGURES, spark("1"), spark("2")]).map((bar) => bar.name)).toEqual([
      "mongodb",
      "delta-spark, executors 1",
      "delta-spark, executors 2",
    ]);
  });

  it("can have the best bars first, whichever way is better", () => {
    const at = (store: string, seconds: number) => ({
      ...measured({ ...ATTEMPT, metrics: { only_s: seconds, rows_per_s: 1 / seconds } }),
      store,
    });
    const cells = [at("a", 3), at("b", 1), { ...cellOf(FAILED), store: "c" }, at("d", 2)];
    for (const figure of [ONLY, RATE]) {
      const sorted = chartData(BULK, cells, [WRITE], figure, BY_BATCH, { byFigure: true });
      expect(sorted.panels[0]?.bars.map((bar) => bar.name[0])).toEqual(["b", "d", "a", "c"]);
    }
  });

  it("are taken away with the run and the dataset, numbers as numbers", () => {
    const names = ["batch", "executors", "rows", "seed"];
    expect(chartTable(BULK, bulk([FIGURES]), ONLY, names)).toEqual([
      {
        store: "mongodb",
        client: "reference",
        operation: "write",
        executors: null,
        batch: "10000",
        rows: 2000,
        seed: 7,
        run: "bulk_write_read/one",
        server: "FerretDB v2.7.0",
        durability: "disk",
        machine: "2 CPUs (Example 9), 24 GiB",
        code_version: "0.1.0",
        recorded_on: "2026-11-22",
        delivers: null,
        n: 1,
        median: 1.5,
        interval_low: null,
        interval_high: null,
        interval_coverage: null,
        unit: "s",
      },
    ]);
  });
});

describe("a store that keeps nothing", () => {
  const at = (store: string, seconds: number, batch = "10000") => ({
    ...measured({ ...ATTEMPT, store, axes: { batch }, metrics: { only_s: seconds } }),
  });
  const of = (cells: CellFigures[], study = BULK) =>
    chartData(study, cells, [WRITE], ONLY, BY_BATCH, { byFigure: true });
  const lines = (...args: Parameters<typeof of>) =>
    of(...args).panels.flatMap((panel) => panel.bars.map(({ name, limit }) => [name, limit]));

  it("is the limit of the others, never the best of them", () => {
    const cells = [at("null", 0.01), at("mongodb", 2), at("elasticsearch", 1)];
    expect(lines(cells)).toEqual([
      ["elasticsearch", false],
      ["mongodb", false],
      ["null", true],
    ]);
    expect(scaledBy(of(cells))).toEqual([1, 2]);
    // a floor far beyond the other figures would make their bars short
    expect(scaledBy(of([...cells, at("null", 500, "all")]))).toEqual([1, 2, 500]);
  });

  it("is drawn like any other where there is no other, and so is one that only keeps no data", () => {
    expect(lines([at("null", 0.01)])).toEqual([["null", false]]);
    const stores = BULK.stores.map((store) => ({ ...store, keeps_data: false, floor: false }));
    expect(lines([at("null", 1), at("mongodb", 2)], { ...BULK, stores })).toEqual([
      ["null", false],
      ["mongodb", false],
    ]);
  });

  it("is a limit also under its server's name, and where colours tell the stores apart", () => {
    const cells = [at("null@one", 0.01), at("mongodb", 2)];
    const data = chartData(BULK, cells, [WRITE], ONLY, { colour: "store", panel: "operation" });
    expect(data.panels[0]?.bars.map(({ name, limit }) => [name, limit])).toEqual([
      ["mongodb", false],
      ["null@one", true],
    ]);
  });
});

describe("what is said of a chart's repeats", () => {
  const spread = (n: number, low: number | null) => ({
    ...{ n, median: 1 },
    ...{ interval_low: low, interval_high: low, interval_coverage: low },
  });
  const said = (...spreads: ReturnType<typeof spread>[]) =>
    countsText(
      chartData(
        BULK,
        spreads.map((only_s, place) => ({ ...FIGURES, store: `s${place}`, figures: { only_s } })),
        [WRITE],
        ONLY,
        BY_BATCH,
      ),
      ONLY,
    );

  it("is how many there are, and whether there is an interval", () => {
    expect(said(spread(1, null))).toBe("Medians of 1 repeat, too few for intervals.");
    expect(said(spread(6, 0.9), spread(9, 0.9))).toBe(
      "Medians of 6 to 9 repeats, with intervals of 95 % or more.",
    );
    expect(said(spread(5, null), spread(6, 0.9))).toBe(
      "Medians of 5 to 6 repeats, 1 of 2 have too few for an interval.",
    );
    expect(said()).toBe("No repeat counts yet.");
  });
});

describe("a study's charts", () => {
  const charted = (chart: Chart) => operationsIn(TOY, chart, TOY.operations);
  const [sums, , saved, files] = TOY.charts as [Chart, Chart, Chart, Chart];

  it("are of the operations that they name, or of all that report the metric", () => {
    expect(charted(saved)).toEqual([SHRINK]);
    expect(charted(files)).toEqual([SHRINK]);
    expect(charted(sums)).toEqual([FILL, SUM]);
    expect(charted({ ...sums, metric: "work_total_s" })).toEqual(TOY.operations);
  });

  it("are one for each operation, or one for all where panels or colours tell them apart", () => {
    expect(apart({ colour: "store", panel: "operation" }, [FILL, SUM])).toEqual([[FILL], [SUM]]);
    expect(apart({ colour: "operation", panel: "" }, [FILL, SUM])).toEqual([[FILL, SUM]]);
    expect(apart(sums, [])).toEqual([]);
    expect([chartTitle([SUM], "latency"), chartTitle([FILL, SUM], "latency")]).toEqual([
      "Sum: latency",
      "Latency",
    ]);
  });

  it("can have the operations by colour", () => {
    const cells = ["fill", "sum"].map((operation) => measured(toy(operation, 5)));
    const data = chartData(TOY, cells, [FILL, SUM], figures(TOY, "sums_per_s")[0] as Figure, {
      colour: "operation",
      panel: "",
    });
    expect(data.panels.map((panel) => panel.bars.map((bar) => bar.name))).toEqual([["fill", "sum"]]);
  });

  it("have a panel for each value of an axis, and what else differs in the names", () => {
    const at = (operation: string, codec: string, level: string, rows: number) =>
      measured(toy(operation, 5, { codec, level }, { rows }));
    const data = chartData(
      TOY,
      [
        at("sum", "zip", "high", 1),
        at("sum", "none", "10", 1),
        at("sum", "zip", "9", 2),
        at("fill", "zip", "9", 2),
      ],
      [FILL, SUM],
      figures(TOY, "sums_per_s")[0] as Figure,
      sums,
    );
    expect(data.panels.map((panel) => [panel.name, panel.bars.map((bar) => bar.name)])).toEqual([
      ["level 9", ["sum, codec zip, rows 2", "fill, codec zip, rows 2"]],
      ["level 10", ["sum, codec none, rows 1"]],
      ["level high", ["sum, codec zip, rows 1"]],
    ]);
  });
});

describe("what differs between the cells of a chart", () => {
  const note = (cells: CellFigures[]) => chartData(BULK, cells, [WRITE], ONLY, BY_BATCH).note;

  it("is the durability", () => {
    const none = { ...ENGINE, store: "null", durability: "none" as const };
    const cells = [ATTEMPT, { ...ATTEMPT, store: "elasticsearch" }, ENGINE, none, FAILED].map(cellOf);
    expect(note(cells)).toBe(
      "Their durability differs: disk (mongodb, elasticsearch), s3 (delta-rs), none (null).",
    );
    expect(note(cells.slice(0, 2))).toBeNull();
  });

  it("is what they deliver, by client", () => {
    const read = { operation: "read", durability: null };
    const dicts = { ...ATTEMPT, ...read, delivers: "dicts" };
    const bson = { ...ATTEMPT, ...read, client: "tuned", delivers: "raw BSON" };
    const other = { ...dicts, store: "elasticsearch" };
    expect(mixed([other, dicts, { ...other, client: "tuned" }, bson])).toBe(
      "What they deliver differs: dicts (elasticsearch, mongodb reference), raw BSON (mongodb tuned).",
    );
    expect(mixed([dicts, { ...bson, delivers: "dicts" }, { ...bson, delivers: null }])).toBeNull();
  });
});

import { describe, expect, it } from "vitest";
import {
  axesOf,
  byCell,
  byValue,
  cellLabel,
  columns,
  datasetNamesOf,
  datasetsText,
  datasetText,
  labelled,
  labels,
  namesOf,
  placesText,
  titleOf,
  valueText,
} from "../../src/model/cells";
import { BULK, CELL, TOY, toy } from "../data";

const at = (axes: Record<string, string>, rows = 2000, seed = 7) => ({ ...CELL, axes, rows, seed });

describe("a cell", () => {
  it("is named by its store, its client and its axes", () => {
    expect(cellLabel(BULK, CELL)).toBe("mongodb reference, batch 10,000");
    const all = at({ batch: "all", executors: "1" });
    expect(cellLabel(BULK, all)).toBe("mongodb reference, batch all, executors 1");
    expect(cellLabel(TOY, toy("sum", 1))).toBe("abacus hand, codec none, level 2");
  });

  it("names the server that answered for another product", () => {
    const study = {
      stores: BULK.stores.map((one) => ({ ...one, product: one.name === "mongodb" ? "MongoDB" : null })),
    };
    const text = (store: string, ...servers: (string | null)[]) =>
      placesText(labelled(study, { ...CELL, store }, servers), ["store", "client"]);
    expect(text("mongodb@one", "FerretDB", null, "FerretDB")).toBe("FerretDB (store mongodb@one) reference");
    expect(text("mongodb", "MongoDB", null)).toBe("mongodb reference");
    expect(text("elasticsearch", "OpenSearch")).toBe("elasticsearch reference");
  });

  it("has its dataset apart, in words", () => {
    expect(datasetText(BULK, CELL)).toBe("rows 2,000, seed 7");
    expect(datasetText({ ...BULK, dataset: null }, CELL)).toBe("");
    expect(datasetsText(BULK, [CELL, CELL, at(CELL.axes, 2000, 8)])).toBe(
      "rows 2,000, seed 7; rows 2,000, seed 8",
    );
  });

  it("is named by its store, its client and the values in which the cells differ", () => {
    const label = (...others: (typeof CELL)[]) => labels(BULK, [CELL, ...others], () => [])(CELL);
    expect(label(CELL)).toBe("mongodb reference");
    expect(label(at({ batch: "all" }))).toBe("mongodb reference, batch 10,000");
    expect(label(at(CELL.axes, 2000, 8))).toBe("mongodb reference, seed 7");
    expect(label(at(CELL.axes, 1))).toBe("mongodb reference, rows 2,000");
  });

  it("is labelled with the server that answered for another product", () => {
    const stores = BULK.stores.map((one) => ({ ...one, product: one.name === "mongodb" ? "MongoDB" : null }));
    const label = labels({ ...BULK, stores }, [CELL, at({ batch: "all" })], () => ["FerretDB"]);
    expect(label(CELL)).toBe("FerretDB (store mongodb) reference, batch 10,000");
  });

  it("keeps what its study does not know any more", () => {
    const old = at({ ...CELL.axes, codec: "zip" });
    expect(namesOf(BULK, [old])).toEqual(["batch", "codec", "rows", "seed"]);
    expect(cellLabel(BULK, old)).toBe("mongodb reference, batch 10,000, codec zip");
  });

  it("has a column for each axis and parameter, numbers where all are", () => {
    const names = ["batch", "executors", "rows"];
    expect(columns(BULK, CELL, names)).toEqual({ batch: "10000", executors: null, rows: 2000 });
  });
});

describe("an axis", () => {
  it("has its numbers by size, before its words by name", () => {
    expect(["all", "10000", "2500", "none", "100000"].sort(byValue)).toEqual([
      "2500",
      "10000",
      "100000",
      "all",
      "none",
    ]);
    expect(["level 10", "level 9"].sort(byValue)).toEqual(["level 9", "level 10"]);
    expect([byValue(undefined, "1"), byValue("a", undefined), byValue(undefined, undefined)]).toEqual([
      -1, 2, 0,
    ]);
  });

  it("orders the cells of a store and client", () => {
    const cells = [
      at({ batch: "all" }, 5),
      at({ batch: "20" }, 10),
      at({ batch: "20" }, 9),
      { ...CELL, store: "elasticsearch" },
    ];
    expect(cells.sort(byCell).map((cell) => `${cell.store} ${cell.axes.batch} ${cell.rows}`)).toEqual([
      "elasticsearch 10000 2000",
      "mongodb 20 9",
      "mongodb 20 10",
      "mongodb all 5",
    ]);
  });

  it("is one of the study's, or a parameter of its dataset", () => {
    const cells = [CELL, at({ ...CELL.axes, executors: "2" })];
    expect(axesOf(BULK, cells)).toEqual(["batch", "executors"]);
    expect(datasetNamesOf(BULK)).toEqual(["rows", "seed"]);
  });

  it("has its title within a sentence, and its name where it has none", () => {
    const study = { ...TOY, axes: [{ ...TOY.axes[0], name: "dialect", title: "CSV dialect" }] } as typeof TOY;
    expect([titleOf(BULK, "batch"), titleOf(study, "dialect"), titleOf(study, "fields_used")]).toEqual([
      "batch",
      "CSV dialect",
      "fields used",
    ]);
  });

  it("has long numbers in groups, and words as they are", () => {
    expect(["1000", "10000", 12345678901234567890n, "all", "00012", null].map(valueText)).toEqual([
      "1,000",
      "10,000",
      "12,345,678,901,234,567,890",
      "all",
      "00012",
      "–",
    ]);
  });
});

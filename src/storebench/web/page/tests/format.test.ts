import { describe, expect, it } from "vitest";
import {
  batchLabel,
  byBatch,
  cellLabel,
  csv,
  datasetSuffix,
  datasetText,
  duration,
  figureText,
  heading,
  mebibytes,
  operationsOf,
  rate,
  remark,
  seconds,
  soundness,
} from "../src/format";
import { ATTEMPT, CELL, DISTURBED, ENGINE, FAILED, NOT_RUN } from "./data";

describe("figures for people", () => {
  it("have three digits that count, and a unit", () => {
    expect([326.614, 19.46, 1.738, 0.0612, 0.0038, 0.000018, 0, null].map(seconds)).toEqual([
      "327 s",
      "19.5 s",
      "1.74 s",
      "0.0612 s",
      "0.00380 s",
      "0.000018 s",
      "0 s",
      "–",
    ]);
    expect([1333.3, 1_240_000, 2.5, null].map(rate)).toEqual([
      "1,330 rows/s",
      "1,240,000 rows/s",
      "2.5 rows/s",
      "–",
    ]);
    expect(mebibytes(5005 * 2 ** 20)).toBe("5,005 MiB");
    expect([59.6, 61, 7260].map(duration)).toEqual(["1 min 0 s", "1 min 1 s", "2 h 1 min"]);
  });

  it("name a cell", () => {
    expect(cellLabel(CELL)).toBe("mongodb reference, batch 10,000");
    expect(cellLabel({ ...CELL, batch_size: "all", executors: 1 })).toBe(
      "mongodb reference, all at once, 1 executor",
    );
  });

  it("say in a table what their names say", () => {
    const found = Object.entries({
      batch_size: "10000",
      rows: 20000,
      seed: 20000,
      total_s: 1.5,
      rows_per_s: 1333.3333,
      memory_bytes: 200 * 2 ** 20,
      ratio: 1.23456,
      coverage: null,
      state: "failed",
    }).map(([name, value]) => figureText(name, value));
    expect(found).toEqual([
      "10,000",
      "20,000",
      "20000",
      "1.50 s",
      "1,333",
      "200 MiB",
      "1.235",
      "–",
      "failed",
    ]);
    expect(["rows", "batch_size", "total_s"].map(heading)).toEqual(["dataset rows", "batch size", "total s"]);
  });

  it("name a dataset, and cells apart where datasets differ", () => {
    expect(datasetText(CELL)).toBe("2,000 dataset rows, seed 7");
    expect(datasetSuffix([CELL, CELL])(CELL)).toBe("");
    expect(datasetSuffix([CELL, { rows: 2000, seed: 8 }])(CELL)).toBe(", seed 7");
    expect(datasetSuffix([CELL, { rows: 1, seed: 7 }])(CELL)).toBe(", 2,000 dataset rows");
  });

  it("say what is not sound", () => {
    expect(remark(ATTEMPT)).toBe("verified");
    expect(remark({ ...ATTEMPT, client_bound: true })).toBe("client-bound");
    expect(remark(FAILED)).toBe("failed: oom_killed");
    expect(remark(ENGINE)).toBe("verified");
    expect(remark(NOT_RUN)).toBe("not run");
    expect(remark({ ...FAILED, error_kind: "killed" })).toBe("stopped");
  });

  it("say that a later try has superseded an attempt, whatever it came to", () => {
    expect(soundness({ ...ATTEMPT, superseded: true })).toBe("superseded");
    expect(remark({ ...FAILED, superseded: true })).toBe("superseded by a later try (failed: oom_killed)");
  });

  it("say what disturbed an attempt, whatever else it is", () => {
    expect(soundness(DISTURBED)).toBe("disturbed");
    expect(remark(DISTURBED)).toBe("disturbed: throttled in 3 periods");
    const both = { ...DISTURBED, client_bound: true };
    expect(soundness(both)).toBe("disturbed");
    expect(remark(both)).toBe("disturbed: throttled in 3 periods; client-bound");
    expect(soundness({ ...FAILED, disturbed: "throttled in 3 periods" })).toBe("failed");
  });
});

it("batch sizes go by size, all at once last", () => {
  expect(["all", "10000", "2500", "100000"].sort(byBatch).map(batchLabel)).toEqual([
    "2,500",
    "10,000",
    "100,000",
    "all at once",
  ]);
});

it("operations are in the order of the store that has all of them", () => {
  expect(operationsOf([["read"], ["write", "read"]])).toEqual(["write", "read"]);
  expect(operationsOf([])).toEqual([]);
});

describe("csv", () => {
  it("quotes what needs it", () => {
    expect(csv([{ a: 'x"y', b: "1,2", c: null, d: -1.5 }])).toBe('a,b,c,d\r\n"x""y","1,2",,-1.5\r\n');
  });

  it("lets no spreadsheet run a text", () => {
    expect(csv([{ error: "=HYPERLINK(1)" }])).toBe("error\r\n'=HYPERLINK(1)\r\n");
  });

  it("of nothing is nothing", () => {
    expect(csv([])).toBe("");
  });
});

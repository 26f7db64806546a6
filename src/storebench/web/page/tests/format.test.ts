import { describe, expect, it } from "vitest";
import {
  batchLabel,
  byBatch,
  cellLabel,
  csv,
  duration,
  mebibytes,
  remark,
  seconds,
  soundness,
} from "../src/format";
import { ATTEMPT, CELL, DISTURBED, ENGINE, FAILED } from "./data";

describe("figures for people", () => {
  it("have three digits that count, and a unit", () => {
    expect([326.614, 19.46, 1.738, 0.0612, 0, null].map(seconds)).toEqual([
      "327 s",
      "19.5 s",
      "1.74 s",
      "0.0612 s",
      "0 s",
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

  it("say what is not sound", () => {
    expect(remark(ATTEMPT)).toBe("verified");
    expect(remark({ ...ATTEMPT, client_bound: true })).toBe("client-bound");
    expect(remark(FAILED)).toBe("failed: oom_killed");
    expect(remark(ENGINE)).toBe("verified");
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

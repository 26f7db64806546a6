import { describe, expect, it } from "vitest";
import { cellText, csv, duration, heading, remark, soundness } from "../../src/model/format";
import {
  alignedRows,
  axisTexts,
  compared,
  decimalRoom,
  figureIn,
  ratioText,
  withUnit,
} from "../../src/model/units";
import { ATTEMPT, DISTURBED, ENGINE, FAILED, NOT_RUN } from "../data";
import TABLE from "../figures.json";

describe("figures for people", () => {
  it.each(TABLE.figures)("have three significant digits and a unit: $text", ({ value, unit, text }) => {
    expect(figureIn(unit, value)).toBe(text);
  });

  it.each(TABLE.columns)("share a unit where they are compared: $texts", ({ unit, values, texts }) => {
    expect(values.map(compared(unit, values).text)).toEqual(texts);
  });

  it.each(TABLE.intervals)("have the unit of their median: $text", ({ unit, low, high, median, text }) => {
    expect(compared(unit, [median]).interval(low, high, median)).toBe(text);
  });

  it.each(TABLE.ratios)("keep the digits of a small ratio: $text", ({ value, text }) => {
    expect(ratioText(value)).toBe(text);
  });

  it("that were not measured are a dash, beside others and alone", () => {
    expect([null, 0.002].map(compared("s", [null, 0.002]).text)).toEqual(["–", "2.00 ms"]);
    expect([figureIn("s", undefined), figureIn(null, null)]).toEqual(["–", "–"]);
  });

  it("of how long something lasts are in whole seconds", () => {
    expect([59.6, 61, 7260].map(duration)).toEqual(["1 min 0 s", "1 min 1 s", "2 h 1 min"]);
  });

  it("have an axis in one unit that suits its ticks, or a unit for each tick", () => {
    const axis = (unit: string, ticks: number[]) => {
      const { unit: shared, tick } = axisTexts(unit, ticks);
      return [shared, ...ticks.map(tick)];
    };
    expect(axis("s", [0, 2e-6, 4e-6])).toEqual(["µs", "0", "2", "4"]);
    expect(axis("s", [0, 0.05, 0.1])).toEqual(["ms", "0", "50", "100"]);
    expect(axis("bytes", [0, 1e9, 2e9])).toEqual(["GB", "0", "1", "2"]);
    expect(axis("bytes/s", [1e6])).toEqual(["MB/s", "1"]);
    expect(axis("sums/s", [0, 5000, 10_000])).toEqual(["sums/s", "0", "5,000", "10,000"]);
    expect(axis("s", [1e-5, 1e-2, 10])).toEqual(["", "10 µs", "10 ms", "10 s"]);
  });

  it("say in a table what their names say", () => {
    const found = Object.entries({
      n: 20000,
      total_s: 1.5,
      sums_per_s: 1333.3333,
      saved_bytes: 200 * 2 ** 20,
      ratio: 1.23456,
      coverage: null,
      state: "failed",
    }).map(([name, value]) => cellText(name, value));
    expect(found).toEqual(["20,000", "1.50 s", "1,333", "210 MB", "1.235", "–", "failed"]);
    expect(heading("total_s")).toBe("total s");
  });

  it("say what is not sound", () => {
    expect(remark(ATTEMPT)).toBe("verified");
    expect(remark({ ...ATTEMPT, client_bound: true })).toBe("client-bound");
    const served = { ...ATTEMPT, service_bound: true };
    expect([soundness(served), remark(served)]).toEqual(["service-bound", "service-bound"]);
    const both = { ...served, client_bound: true };
    expect([soundness(both), remark(both)]).toEqual(["client-bound", "client-bound; service-bound"]);
    expect(remark({ ...both, perhaps_disturbed: "by others" })).toBe(
      "client-bound; service-bound; possibly disturbed: by others",
    );
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
    expect(remark({ ...DISTURBED, service_bound: true })).toBe(
      "disturbed: throttled in 3 periods; service-bound",
    );
    const perhaps = { ...ATTEMPT, perhaps_disturbed: "it is not known" };
    expect(remark(perhaps)).toBe("verified; possibly disturbed: it is not known");
    expect(soundness(perhaps)).toBe("verified");
    expect(remark({ ...perhaps, not_judged: "it took 20 ms" })).toBe(
      "verified; possibly disturbed: it is not known; not judged: it took 20 ms",
    );
    expect(soundness({ ...FAILED, disturbed: "throttled in 3 periods" })).toBe("failed");
  });
});

describe("csv", () => {
  it("quotes what needs it", () => {
    expect(csv([{ a: 'x"y', b: "1,2", c: null, d: -1.5 }])).toBe('a,b,c,d\r\n"x""y","1,2",,-1.5\r\n');
  });

  it("has what only some of its lines have", () => {
    expect(csv([{ a: 1 }, { a: 2, b: 3 }])).toBe("a,b\r\n1,\r\n2,3\r\n");
  });

  it("has parameters as JSON", () => {
    expect(csv([{ a: { pod_cpu: "2" } }])).toBe('a\r\n"{""pod_cpu"":""2""}"\r\n');
  });

  it("lets no spreadsheet run a text", () => {
    expect(csv([{ error: "=HYPERLINK(1)" }])).toBe("error\r\n'=HYPERLINK(1)\r\n");
  });

  it("of nothing is nothing", () => {
    expect(csv([])).toBe("");
  });
});

describe("a column of numbers", () => {
  it("has room for the decimals that a number lacks, and none for words", () => {
    expect(decimalRoom(["0.950 s", "74.0 s", "327 s", "–", "1.90 to 2.10 s"])).toEqual([
      ...["", "00", ".000", "", "0"],
    ]);
    expect(decimalRoom(["30 in 5 runs", "6 in 1 run"])).toEqual(["", ""]);
    expect(decimalRoom(["1.01 ×", "2 ×"])).toEqual(["", ".00"]);
    expect(
      alignedRows([
        ["1.5 s", "3"],
        ["12 s", "4"],
      ]),
    ).toEqual([
      [
        { text: "1.5 s", room: "" },
        { text: "3", room: "" },
      ],
      [
        { text: "12 s", room: ".0" },
        { text: "4", room: "" },
      ],
    ]);
    expect(alignedRows([])).toEqual([]);
  });

  it("has its unit once, if all numbers have the same unit", () => {
    expect(withUnit(["4.00 s", "–", "20.0 s"])).toEqual({ unit: "s", numbers: ["4.00", "–", "20.0"] });
    expect(withUnit(["4.00 s", "20.0 ms"])).toEqual({ unit: "", numbers: ["4.00 s", "20.0 ms"] });
    expect(withUnit(["4", "0.23 of 1", "–"]).unit).toBe("");
    expect(withUnit(["1", "2, try 2"]).unit).toBe("");
  });
});

import { describe, expect, it } from "vitest";
import { cellText, csv, duration, heading, remark, soundness } from "../src/format";
import { figureIn, mebibytes, seconds, unitOf } from "../src/units";
import { ATTEMPT, DISTURBED, ENGINE, FAILED, NOT_RUN } from "./data";

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
    expect([5005, 12.345, 0.00195, 0].map((size) => mebibytes(size * 2 ** 20))).toEqual([
      "5,005 MiB",
      "12.3 MiB",
      "0.00195 MiB",
      "0 MiB",
    ]);
    expect([59.6, 61, 7260].map(duration)).toEqual(["1 min 0 s", "1 min 1 s", "2 h 1 min"]);
  });

  it.each([
    ["s", 1.5, "1.50 s"],
    ["bytes", 200 * 2 ** 20, "200 MiB"],
    ["bytes/s", 2.5 * 2 ** 20, "2.5 MiB/s"],
    ["rows/s", 1_333.3, "1,330 rows/s"],
    ["sums/s", 1_240_000, "1,240,000 sums/s"],
    ["", 3, "3"],
    [null, null, "–"],
  ])("have the unit that they are measured in: %s", (unit, value, text) => {
    expect(figureIn(unit, value)).toBe(text);
  });

  it("have an axis in their unit", () => {
    expect(["s", "bytes", "bytes/s", "sums/s"].map((name) => unitOf(name).axis)).toEqual([
      "seconds",
      "MiB",
      "MiB/s",
      "sums/s",
    ]);
    expect(unitOf("bytes").scale).toBe(2 ** 20);
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
    expect(found).toEqual(["20,000", "1.50 s", "1,333", "200 MiB", "1.235", "–", "failed"]);
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
      "client-bound; service-bound; perhaps disturbed: by others",
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
    expect(remark(perhaps)).toBe("verified; perhaps disturbed: it is not known");
    expect(soundness(perhaps)).toBe("verified");
    expect(remark({ ...perhaps, not_judged: "it took 20 ms" })).toBe(
      "verified; perhaps disturbed: it is not known; not judged: it took 20 ms",
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

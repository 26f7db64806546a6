import { describe, expect, it } from "vitest";
import { COLUMNS, isDivided, partRows, partsOf, partsText } from "../../src/model/parts";
import { ATTEMPT } from "../data";
import { DIVIDED, part, SERVER } from "../partsData";

const remarks = (parts: Parameters<typeof partRows>[0]) =>
  partRows(parts).map((row) => row[COLUMNS.indexOf("remark")]);

describe("the parts of an operation", () => {
  it("are the pods with the role client, by number, and no server", () => {
    const parts = partsOf([part(10), part(2), SERVER, part(0)]);
    expect(parts.map(({ part }) => part)).toEqual([0, 2, 10]);
  });

  it("are of an attempt of several pods only", () => {
    expect([DIVIDED, { ...ATTEMPT, client_pods: 1 }, ATTEMPT].map(isDivided)).toEqual([true, false, false]);
  });

  it("are lines with a unit for each column, and the cores that each client could use", () => {
    expect(partRows([part(0, { name: "", node: null }), part(1)])).toEqual([
      ["0, leader", "–", "–", "ended last", "–", "–", "0.50 of 1", "150 MB", "2.50 s"],
      ["1", "bulk-write-9f3c-1", "node1", "–", "100 µs", "100 ms", "0.50 of 1", "151 MB", "2.50 s"],
    ]);
  });

  it("say which began last, ended last, and what bound or killed them", () => {
    const late = part(2, { start_delay_s: 0.3, waited_s: 0, client_bound: true });
    expect(remarks([part(0), part(1, { throttled_periods: 3, oom_kills: 1 }), late])).toEqual([
      "–",
      "throttled, out of memory",
      "client-bound, began last of the followers, ended last",
    ]);
    expect(remarks([part(0), part(1), part(2)]), "all others waited for the leader").toEqual([
      "ended last",
      "–",
      "began last of the followers",
    ]);
  });

  it("say nothing of times that no pod reported", () => {
    const unknown = { start_delay_s: null, waited_s: null };
    expect(remarks([part(0), part(1, unknown), part(2)])).toEqual(["–", "–", "–"]);
    const text = partsText({ ...DIVIDED, start_skew_s: null }, [part(0), part(1, unknown), part(2)]);
    expect(text).toBe("3 pods did the operation together.");
  });

  it("are summed up: the skew, the part that ended last, and the client-bound parts", () => {
    const late = part(2, { waited_s: 0, client_bound: true });
    expect(partsText(DIVIDED, [part(0), part(1), late])).toBe(
      "3 pods did the operation together. They began at most 1.32 ms apart (start skew, with the error of the clocks)." +
        " Part 2 (pod bulk-write-9f3c-2, node node2) ended last: other parts waited for it up to 100 ms." +
        " Bound by the client: Part 2 (pod bulk-write-9f3c-2, node node2).",
    );
    const bound = [0, 1, 2].map((number) => part(number, { client_bound: true }));
    expect(partsText(DIVIDED, bound)).toContain("Bound by the client: all parts.");
    expect(partsText(DIVIDED, bound)).toContain(
      "Part 0 (pod bulk-write-9f3c-0, node node0) ended last: other parts waited for it up to 200 ms.",
    );
  });
});

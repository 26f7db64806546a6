import { expect, it } from "vitest";
import {
  machineText,
  originColumns,
  originOf,
  originText,
  sourceOf,
  together,
} from "../../src/model/provenance";
import { took } from "../../src/views/run/Runs";
import { ATTEMPT, FAILED, RUN } from "../data";

const LATER = {
  ...ATTEMPT,
  durability: "memory" as const,
  code_version: "0.2.0",
  recorded_at: "2026-11-24T01:00:00Z",
  machine: { cpus: 1, cpu_model: null, memory_gib: null },
};

it("a chart's source is its run, its dataset, and how it was measured", () => {
  expect(sourceOf("s/one", "rows 2,000, seed 7", [ATTEMPT, ATTEMPT])).toBe(
    "s/one · rows 2,000, seed 7 · FerretDB v2.7.0 · durability disk · 2 CPUs (Example 9), 24 GiB · code 0.1.0 · 2026-11-22 · method 2",
  );
});

it("what differs is told of all, each once", () => {
  expect(originColumns(originOf([ATTEMPT, LATER, ATTEMPT]), "_before")).toEqual({
    server_before: "FerretDB v2.7.0",
    durability_before: "disk, memory",
    machine_before: "2 CPUs (Example 9), 24 GiB; 1 CPU",
    code_version_before: "0.1.0, 0.2.0",
    recorded_on_before: "2026-11-22 to 2026-11-24",
  });
  expect(together([originOf([ATTEMPT]), originOf([LATER])])).toEqual(originOf([ATTEMPT, LATER]));
});

it("what is not known is excluded", () => {
  const unknown = { ...FAILED, machine: null, server_name: null, server_version: null };
  expect(originText(originOf([unknown]))).toBe("code 0.1.0 · 2026-11-22");
  expect(originColumns(originOf([unknown])).machine).toBeNull();
  expect(originText(originOf([]))).toBe("");
  expect(machineText({ cpus: null, cpu_model: "Example 9", memory_gib: 1 })).toBe("(Example 9), 1 GiB");
});

it("a run took as long as its work, without the time at rest before it was cleared", () => {
  expect(took(RUN)).toBe(120);
  expect(took({ ...RUN, finished_at: "2026-11-22T22:01:00Z", rested_s: 36_000 })).toBe(120);
});

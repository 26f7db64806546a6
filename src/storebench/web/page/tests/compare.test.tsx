import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { VerdictTable } from "../src/CompareView";
import type { Comparison, Run } from "../src/types";
import { CELL } from "./data";

const RUN = { id: "s/one" } as Run;
const FOUND: Comparison = {
  before: RUN,
  after: RUN,
  verdicts: [
    {
      ...CELL,
      operation: "write",
      label: "cannot tell",
      reason: "too noisy: with a noise of 8.0% about 14 repeats would do",
      n_before: 3,
      n_after: 3,
      median_before_s: 1,
      median_after_s: 1.1,
      ratio: 1.1,
      low: 0.9,
      high: 1.3,
      p_adjusted: 0.4,
      remarks: [],
    },
  ],
  without: [{ ...CELL, operation: "read", reason: "B has none", remarks: [] }],
  differences: [],
  test: "t-test",
  margin_percent: 5,
  caution: null,
};

it("says why a verdict cannot tell, and how many repeats would do", () => {
  render(<VerdictTable found={FOUND} />);
  const cell = screen.getByText("cannot tell", { exact: false, selector: "td" });
  expect(cell.className).toContain("sb-cannot-tell");
  expect(cell.textContent).toContain("about 14 repeats would do");
  expect(screen.getByText("B has none")).toBeTruthy();
});

it("has a mark of its own for what is the same", () => {
  const same = {
    ...(FOUND.verdicts[0] as Comparison["verdicts"][0]),
    label: "the same" as const,
    reason: null,
  };
  render(<VerdictTable found={{ ...FOUND, verdicts: [same] }} />);
  expect(screen.getByText("the same").className).toContain("sb-the-same");
});

it("lists no two cells alike: their dataset's rows and seed stand beside them", () => {
  const one = FOUND.verdicts[0] as Comparison["verdicts"][0];
  const other = { ...one, cell_key: "other", rows: 20_000, seed: 42 };
  render(<VerdictTable found={{ ...FOUND, verdicts: [one, other], without: [] }} />);
  const lines = screen.getAllByRole("row").slice(1);
  expect(lines.map((line) => [...line.children].slice(0, 3).map((cell) => cell.textContent))).toEqual([
    ["mongodb reference, batch 10,000", "2,000", "7"],
    ["mongodb reference, batch 10,000", "20,000", "42"],
  ]);
});

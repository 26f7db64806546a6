import { fireEvent, screen, within } from "@testing-library/react";
import { act } from "react";
import { afterEach, expect, it, vi } from "vitest";
import type { Attempt } from "../src/api/types";
import { CLAIMS, NO_CLAIMS } from "./claimsData";
import { BULK, cellOf, FAILED, measured, RUN, TOY, TURN, toy, unfold } from "./data";
import { RANKING } from "./rankingData";

afterEach(() => {
  document.body.replaceChildren();
  vi.resetModules();
});

/** Return the text of a report with this content. */
async function report(content: unknown) {
  document.body.innerHTML = '<div id="report"></div><script type="application/json" id="content"></script>';
  (document.getElementById("content") as HTMLElement).textContent = JSON.stringify(content);
  await act(() => import("../src/report"));
}

it("a report is of the study in its file", async () => {
  const attempts = ["zip", "none"].map((codec) => toy("sum", 5, { codec, level: "2" }));
  const used = { n: 1, cpu_hours: 2, memory_gib_hours: 4 };
  const cells = attempts.map((attempt) => ({ ...measured(attempt), used }));
  const phases = attempts.map((attempt) => ({ ...cellOf(attempt), attempt, phases: { connect: 1 } }));
  const run = { ...RUN, study: "toy", cell_key: null, stores: ["abacus"] };
  const artifacts = cells.map(({ attempts: _, figures: __, used: ___, ...cell }) => ({
    ...cell,
    servers: [],
    percentiles: {
      latency_s: [
        [50, 0.1],
        [100, 0.2],
      ],
    },
    series: {},
    series_of: null,
    n: 1,
  }));
  const warm_up = toy("sum", 9, { codec: "zip", level: "2" }, { repeat: 0, warm_up: true });
  const turns = [warm_up, ...attempts].map(({ repeat, warm_up, ...one }) => ({
    ...TURN,
    ...cellOf(one as Attempt),
    repeat,
    warm_up,
    operations: ["fill", "sum"],
  }));
  await report({
    run,
    study: TOY,
    turns,
    cells,
    warm_ups: [warm_up],
    artifacts,
    phases,
    claims: CLAIMS,
    overview: [],
    environments: [{ hash: "0123456789", cpus: 2 }],
  });
  const headings = screen.getAllByRole("heading").map((heading) => heading.textContent);
  expect(headings[0]).toContain("abacus; 2,000 rows · success");
  expect(headings).toContain("Sum: sums a second");
  expect(headings).toContain("Sum: latency");
  expect(headings).toContain("Sum: where the time went");
  const claims = screen.getByRole("region", { name: "Claims" });
  expect(within(claims).getAllByRole("rowheader")).toHaveLength(2); // what the run did not measure is left to the study's page
  const table = within(screen.getByRole("region", { name: "Every attempt" }));
  expect(table.getAllByRole("columnheader").map((heading) => heading.textContent)).toEqual(["codec"]);
  expect(document.body.textContent).toContain("sums a second 5.00 sums/s");
  const squares = within(screen.getByRole("region", { name: "The run's cells" }));
  expect(squares.getAllByRole("row").map((line) => line.textContent)).toEqual([
    "cellrepeatfillsum",
    "abacus hand, codec zipwarm-up○ not runthe run ended without it✓ 9.00 sums/s",
    "abacus hand, codec zip1○ not runthe run ended without it✓ 5.00 sums/s",
    "abacus hand, codec none1○ not runthe run ended without it✓ 5.00 sums/s",
  ]);
  expect(squares.queryByRole("link")).toBeNull();

  for (const [label, text] of [
    [/one core/, "0.04"],
    [/one GiB/, "0.005"],
  ] as const)
    act(() => fireEvent.change(screen.getByLabelText(label), { target: { value: text } }));
  const cost = await screen.findByRole("heading", { name: /Sum: cost/ });
  unfold();
  // both cells cost the same: the column folds into a sentence
  expect(cost.closest("figure")?.textContent).toContain("median 0.100 USD");
});

/** The content of a report in which nothing was measured. */
const NOTHING = {
  turns: [],
  cells: [],
  warm_ups: [],
  artifacts: [],
  phases: [],
  claims: NO_CLAIMS,
  overview: [],
  environments: [],
};

it("a report of a run of which nothing counts names it", async () => {
  await report({ run: RUN, study: BULK, ...NOTHING, cells: [cellOf(FAILED)] });
  expect(screen.getByText("1 attempt is in no median: 1 failed")).toBeTruthy();
});

it("a run of a site leads back to all runs, and a report by itself to nothing", async () => {
  await report({ home: "../../index.html", run: RUN, study: BULK, ...NOTHING });
  const home = screen.getByRole("link", { name: "All runs" });
  expect(home.getAttribute("href")).toBe("../../index.html");
  vi.resetModules();
  await report({ run: RUN, study: BULK, ...NOTHING });
  expect(screen.queryByRole("link")).toBeNull();
});

it("a report begins with the answer for each operation of its run", async () => {
  const read = { ...RANKING, operation: "read", ranked: [...RANKING.ranked].reverse() };
  await report({ run: RUN, study: BULK, ...NOTHING, overview: [RANKING, read] });
  const card = screen.getByRole("region", { name: "Overview" });
  expect(within(card).getByText(/Write: mongodb reference is fastest\./)).toBeTruthy();
  const bars = within(card).getAllByRole("list", { name: /from the best to the worst/ });
  expect(bars.map((list) => list.querySelectorAll("li").length)).toEqual([2, 2]);
  expect(bars[0]?.textContent).toContain("1.9 to 2.1 × slower");
  expect(within(card).queryByRole("link")).toBeNull();
  const headings = screen.getAllByRole("heading", { level: 2 }).map((heading) => heading.textContent);
  expect(headings.slice(0, 2)).toEqual(["Overview", "Run"]);
});

it("the first page of a site is drawn by the same script", async () => {
  const { params: _, ...listed } = RUN;
  const runs = [{ ...listed, page: "runs/one.html" }];
  const overview = { study: TOY, rankings: [] };
  const studies = [{ name: RUN.study, title: "Bulk write and read", rows: {}, rankings: null, overview }];
  await report({ site: { written_at: RUN.started_at, code_version: "0.1.0", studies, runs } });
  expect(screen.getByRole("heading", { level: 2 }).textContent).toBe("Bulk write and read");
});

import { cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Comparison, Study } from "../../src/api/types";
import { Compared, CompareView } from "../../src/views/compare/CompareView";
import { VerdictTable } from "../../src/views/compare/VerdictTable";
import { BULK, CELL, NO_CHOICE, ORIGINS, RUN, TOY, toy, UNITS, unfold } from "../data";

type Verdict = Comparison["verdicts"][0];

const FOUND: Comparison = {
  before: [RUN],
  after: [RUN],
  ...{ units: "repeats", matched: false, running: [], metrics: [] },
  verdicts: [
    {
      ...CELL,
      ...ORIGINS,
      ...UNITS,
      operation: "write",
      verdict: "cannot tell",
      metric: "only_s",
      unit: "s",
      reason: "too noisy: with a noise of 8.0% about 14 repeats would do",
      n_before: 3,
      n_after: 3,
      median_before: 1,
      median_after: 1.1,
      mean_before: 1.02,
      mean_after: 1.122,
      ratio: 1.1,
      ratio_low: 0.9,
      ratio_high: 1.3,
      p_adjusted: 0.4,
      remarks: [],
    },
  ],
  no_verdict: [{ ...CELL, ...ORIGINS, operation: "read", reason: "B has none", remarks: [] }],
  differences: [],
  test: "t-test",
  margin_percent: 5,
  caution: null,
};
const RATIO = "B / A, the ratio of the figures";
const ONE = FOUND.verdicts[0] as Verdict;

it("says why a verdict cannot tell, and how many repeats would do", () => {
  render(<VerdictTable choice={NO_CHOICE} study={BULK} comparison={FOUND} />);
  const cell = screen.getByText("cannot tell", { exact: false, selector: "td" });
  expect(cell.className).toContain("sb-cannot-tell");
  expect(cell.textContent).toContain("about 14 repeats would do");
  expect(screen.getByText("B has none")).toBeTruthy();
});

it("lists on request what goes along with a difference, figures that may explain most of it first", () => {
  const figure = {
    unit: "s",
    ratio: 9,
    ratio_low: 8.5,
    ratio_high: 9.5,
    p_adjusted: 0.001,
    share: 0.8,
    seen_in: null,
  };
  const why: Verdict["why"] = {
    differences: [{ name: "server_settings.refresh", before: ["30s"], after: ["1s"] }],
    figures: [
      {
        ...figure,
        kind: "counter",
        name: "refreshes",
        unit: "",
        ratio: null,
        ratio_low: null,
        ratio_high: null,
        share: null,
        median_before: 0,
        median_after: 8,
      },
      { ...figure, kind: "phase", name: "barrier", median_before: 0.1, median_after: 0.9 },
      {
        ...figure,
        kind: "function",
        name: "send (a.py)",
        ratio: null,
        ratio_low: null,
        ratio_high: null,
        p_adjusted: null,
        median_before: 0.2,
        median_after: 1,
        seen_in: 3,
      },
    ],
    looked_at: 7,
    too_few: 2,
  };
  const verdicts = [
    { ...ONE, verdict: "worse" as const, why },
    { ...ONE, cell_key: "other" },
  ];
  render(<VerdictTable choice={NO_CHOICE} study={BULK} comparison={{ ...FOUND, verdicts }} />);
  const [folded, ...more] = screen.getAllByText("goes along with");
  expect(more).toEqual([]);
  const details = folded?.closest("details") as HTMLDetailsElement;
  expect(details.open).toBe(false);
  expect([...details.querySelectorAll("li")].map((line) => line.textContent)).toEqual([
    "differs: server_settings.refresh: 30s → 1s",
    "counter refreshes: 0 → 8",
    "phase barrier: 100 ms → 900 ms, B / A 9.000 (8.500 to 9.500), covers 80 % of the difference",
    "function send (a.py): 0.200 s → 1.00 s, covers 80 % of the difference, seen in 3 profiles, without an interval",
    "2 of 7 figures that vary differ; 2 more have too few repeats",
  ]);
});

it("shows the means that the ratio is made of, which medians are not", () => {
  render(<VerdictTable choice={NO_CHOICE} study={BULK} comparison={FOUND} />);
  const texts = () =>
    [...(screen.getAllByRole("row")[1]?.children ?? [])].map((cell) => cell.textContent).slice(3);
  expect(texts()).toEqual(["1.100", "0.900 to 1.300", "1.00 s (3)", "1.10 s (3)"]);
  fireEvent.click(screen.getByRole("button", { name: "all columns" }));
  expect(texts()).toEqual([
    "1.100",
    "0.900 to 1.300",
    "1.00 s (3)",
    "1.10 s (3)",
    "1.02 s",
    "1.12 s",
    "0.4000",
  ]);
});

it("has no ratio and no means of figures that have none", () => {
  const none = {
    ...ONE,
    mean_before: null,
    mean_after: null,
    ratio: null,
    ratio_low: null,
    ratio_high: null,
  };
  render(<VerdictTable choice={NO_CHOICE} study={BULK} comparison={{ ...FOUND, verdicts: [none] }} />);
  fireEvent.click(screen.getByRole("button", { name: "all columns" }));
  const texts = [...(screen.getAllByRole("row")[1]?.children ?? [])].map((cell) => cell.textContent);
  expect([...texts.slice(3, 5), ...texts.slice(7, 9)]).toEqual(["–", "–", "–", "–"]);
});

it("says of no difference that it is never by chance", () => {
  const sure = { ...ONE, verdict: "worse" as const, p_adjusted: 1e-9 };
  render(<VerdictTable choice={NO_CHOICE} study={BULK} comparison={{ ...FOUND, verdicts: [sure] }} />);
  fireEvent.click(screen.getByRole("button", { name: "all columns" }));
  expect(screen.getByText("< 0.0001")).toBeTruthy();
});

it("has a mark of its own for what is the same", () => {
  const same = { ...ONE, verdict: "the same" as const, reason: null };
  render(<VerdictTable choice={NO_CHOICE} study={BULK} comparison={{ ...FOUND, verdicts: [same] }} />);
  expect(screen.getByText("the same").className).toContain("sb-the-same");
});

it("says once what all cells have in common, and shows a long reason on request", () => {
  const long = {
    ...ONE,
    reason: "too noisy: with a noise of 80.0% about 1,400 repeats would do, which is many",
  };
  render(<VerdictTable choice={NO_CHOICE} study={BULK} comparison={{ ...FOUND, verdicts: [long] }} />);
  expect(document.body.textContent).toContain(
    "All cells: store mongodb, client reference, batch 10,000, rows 2,000, seed 7",
  );
  expect(screen.queryByRole("columnheader", { name: "rows" })).toBeNull();
  expect(screen.queryByRole("columnheader", { name: "unsound" })).toBeNull();
  expect(screen.getByText("why").closest("details")).toHaveProperty("open", false);
});

it("says which server answered for all cells, and no value of the compared name", () => {
  const ferret = { ...ONE, origin_before: { ...ONE.origin_before, servers: ["FerretDB v2.7.0"] } };
  const common = () => document.body.querySelector(".sb-common")?.textContent;
  const stores = BULK.stores.map((store) => ({ ...store, product: "MongoDB" }));
  const study = { ...BULK, stores };
  const table = { choice: NO_CHOICE, study, comparison: { ...FOUND, verdicts: [ferret] } };
  const { rerender } = render(<VerdictTable {...table} />);
  expect(common()).toContain("All cells: FerretDB (store mongodb), client reference");
  rerender(<VerdictTable {...table} place="store" />);
  expect(common()).toContain("All cells: client reference");
});

it("names cells by the parameters of their datasets if the datasets differ", () => {
  const other = { ...ONE, cell_key: "other", rows: 20000, seed: 42 };
  render(
    <VerdictTable
      choice={NO_CHOICE}
      study={BULK}
      comparison={{ ...FOUND, verdicts: [ONE, other], no_verdict: [] }}
    />,
  );
  const lines = screen.getAllByRole("row").slice(1);
  expect(lines.map((line) => [...line.children].slice(0, 1).map((cell) => cell.textContent))).toEqual([
    ["mongodb reference, rows 2,000, seed 7"],
    ["mongodb reference, rows 20,000, seed 42"],
  ]);
});

describe("a comparison", () => {
  const show = (study: Study, verdicts: Verdict[], address = "") =>
    render(
      <Compared
        study={study}
        comparison={{ ...FOUND, verdicts, no_verdict: [] }}
        metric={undefined}
        choice={{ ...NO_CHOICE, asked: new URLSearchParams(address) }}
      />,
    );
  const { study, store, client, axes, rows, seed, cell_key } = toy("sum", 1);
  const sums = {
    ...ONE,
    ...{ study, store, client, axes, rows, seed, cell_key },
    operation: "sum",
    metric: "sums_per_s",
    unit: "sums/s",
    median_before: 1000,
    verdict: "better" as const,
  };
  const text = () => document.body.textContent;

  it("counts the verdicts that there can be, in the words of times", () => {
    show(BULK, [ONE]);
    expect(screen.getByText("1 compared: 0 faster, 0 slower, 0 the same, 1 cannot tell")).toBeTruthy();
    expect(text()).toContain("Above 1, B is slower.");
  });

  it("begins with the verdict: where B is slower, and by how much", () => {
    const at = (store: string, ratio: number, verdict: Verdict["verdict"]) => ({
      ...ONE,
      cell_key: store,
      store,
      ratio,
      verdict,
    });
    show(BULK, [
      at("mongodb", 1.32, "worse"),
      at("redis", 2, "worse"),
      at("delta-rs", 0.5, "better"),
      at("null", 1, "the same"),
      at("hdfs", 1.1, "cannot tell"),
    ]);
    expect(document.querySelector(".sb-verdict-line")?.textContent).toBe(
      "B is slower at 2 of 5: redis (2×), mongodb (1.32×); faster at 1: delta-rs (0.5×); the same at 1; 1 inconclusive.",
    );
    const chart = screen.getByRole("img").closest("figure") as HTMLElement;
    const follows = (one: Element, other: Element) =>
      Boolean(one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING);
    expect(follows(screen.getByText(/^B is slower/), chart)).toBe(true);
    expect(follows(chart, screen.getByRole("region", { name: "Verdicts" }))).toBe(true);
  });

  it("says so where no difference is sure, and where nothing is compared", () => {
    show(BULK, [ONE]);
    expect(text()).toContain("No difference is sure at any of 1.");
    cleanup();
    show(BULK, []);
    expect(text()).toContain("Nothing is compared.");
  });

  it("offers the metrics that the compared operations report", () => {
    show(TOY, [sums]);
    const options = () => screen.getAllByRole("option").map((option) => option.textContent);
    expect(options()).toContain("space saved");
    cleanup();
    const study = {
      ...TOY,
      stores: TOY.stores.map((store) => ({ ...store, name: "mongodb", operations: ["sum"] })),
    };
    show(study, [sums]);
    expect(options()).not.toContain("space saved");
  });

  it("has the words, the unit and the way of the metric", () => {
    show(TOY, [sums]);
    expect(screen.getByText("1 compared: 1 better, 0 worse, 0 the same, 0 cannot tell")).toBeTruthy();
    expect(text()).toContain("Above 1, B is better.");
    expect(screen.getByText("1,000 sums/s (3)")).toBeTruthy();
    unfold();
    expect(screen.getAllByRole("columnheader", { name: "seed" })).toHaveLength(1);
    expect(text()).toContain("All cells: store abacus, client hand, codec none, level 2, rows 2,000, seed 7");
    expect(screen.getByRole("option", { name: "space saved" })).toBeTruthy();
    expect(screen.queryByRole("option", { name: "latency" })).toBeNull();
  });

  it("of several metrics says no more than which figure is higher", () => {
    const files = { ...sums, metric: "files", unit: "", verdict: "lower" as const, cell_key: "other" };
    show(TOY, [sums, files]);
    expect(text()).toContain("2 compared: 1 better, 0 worse, 0 higher, 1 lower, 0 the same, 0 cannot tell");
    expect(text()).toContain("Above 1, B's figure is the higher one.");
  });

  it("says of each side where its figures come from", () => {
    const origin_after = {
      servers: ["FerretDB v2.7.0"],
      durability: ["disk"],
      machines: [{ cpus: 2, cpu_model: null, memory_gib: 24 }],
      code_versions: ["0.1.0"],
      dates: ["2026-11-22"],
    };
    show(BULK, [{ ...ONE, origin_after }]);
    expect(text()).toContain(
      `B: ${RUN.id} · FerretDB v2.7.0 · durability disk · 2 CPUs, 24 GiB · code 0.1.0 · 2026-11-22`,
    );
    fireEvent.click(screen.getByRole("button", { name: "Export the verdicts" }));
    expect(screen.getByRole("button", { name: "Save the verdicts as CSV" })).toBeTruthy();
  });

  it("says at the chart, in its picture and in its question what one has to know to read it", async () => {
    const copied: string[] = [];
    vi.stubGlobal("navigator", { clipboard: { writeText: async (text: string) => copied.push(text) } });
    vi.stubGlobal("ClipboardItem", undefined);
    show(BULK, [ONE, { ...ONE, cell_key: "other", n_after: 1, ratio_low: null, ratio_high: null }]);
    const chart = screen.getByRole("img").closest("figure") as HTMLElement;
    for (const type of ["SVG", "SQL"]) {
      fireEvent.click(within(chart).getByRole("button", { name: `Export ${RATIO}` }));
      fireEvent.click(within(chart).getByRole("button", { name: `Copy ${RATIO} as ${type}` }));
      await within(chart).findByText(`${type} copied`);
    }
    const [svg, sql] = copied.map((text) => text.replaceAll(/<[^>]*>|\n-- /g, " "));
    expect(svg).toMatch(/B \/ A/);
    expect(sql).toMatch(/SELECT/);
    for (const text of [document.body.textContent, svg, sql])
      for (const told of [
        "Geometric means of 3 repeats in A and 1 to 3 repeats in B, 1 of 2 have too few for an interval.",
        "rows 2,000, seed 7",
        "method 2",
        "Above 1, B is slower.",
      ])
        expect(text?.replaceAll(/\s+/g, " ")).toContain(told);
    vi.unstubAllGlobals();
  });

  it("excludes what is hidden", () => {
    const other = { ...sums, cell_key: "other", axes: { ...sums.axes, codec: "zip" } };
    show(TOY, [sums, other], "without=axis:codec:zip");
    expect(text()).toContain("1 compared:");
    expect(screen.getByRole("checkbox", { name: "zip" })).toHaveProperty("checked", false);
  });
});

describe("two runs of which one has nothing to compare", () => {
  /** Airflow's answers about the runs; the page's API knows none of these runs. */
  let states: Record<string, string>;
  beforeEach(() => {
    states = {};
    vi.stubGlobal("fetch", async ({ url: address }: Request) => {
      const { pathname } = new URL(address);
      const json = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status });
      if (pathname.startsWith("/storebench/")) return json({ detail: "There is none" }, 404);
      const first = { dag_run_id: "first", state: "running", queued_at: "2026-11-22T12:00:00Z" };
      if (pathname.endsWith("/dagRuns")) return json({ dag_runs: [first], total_entries: 1 });
      const state = states[pathname.split("/").at(-1) ?? ""];
      return state ? json({ state }) : json({ detail: "not found" }, 404);
    });
  });
  afterEach(() => vi.unstubAllGlobals());

  const show = (before: string | undefined, after: string, runs = [RUN]) =>
    render(<CompareView {...{ runs, before, after, metric: undefined, by: undefined, choice: NO_CHOICE }} />);

  it("say behind which runs it is queued, whichever it is", async () => {
    states.mine = "queued";
    for (const [before, after, label] of [
      [undefined, "s/mine", "B"],
      [RUN.id, "s/mine", "B"],
      ["s/mine", RUN.id, "A"],
    ] as const) {
      show(before, after);
      await screen.findByText(/Queued behind/);
      expect(screen.getByRole("status").textContent).toContain(`${label} Queued behind first (running)`);
      expect(document.body.textContent).not.toMatch(/Choose two runs|There is no/);
      cleanup();
    }
  });

  it("say that there is no other one, if it has something", () => {
    show(undefined, RUN.id);
    expect(screen.getByText("Choose two runs: B is compared with A.")).toBeTruthy();
  });

  it("say why it was refused, and how to send it again", () => {
    const refused = { ...RUN, id: "s/refused", state: "refused" as const, reason: "The disk is full." };
    show(refused.id, RUN.id, [RUN, refused]);
    expect(document.body.textContent).toContain("A This run was refused before any work. The disk is full.");
    expect(document.body.textContent).toContain("Trigger again with this config");
  });
});

import { act, cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { MemoryRouter, useSearchParams } from "react-router-dom";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ExcludedCell, RankedCell, Ranking } from "../../src/api/types";
import { changed } from "../../src/model/choice";
import {
  chosen,
  chosenMetric,
  chosenOnAxis,
  metricsOf,
  missingIn,
  questionOf,
  rankKey,
} from "../../src/model/ranking";
import { RankingView } from "../../src/views/ranking/RankingView";
import { rankedBars } from "../../src/views/ranking/rankingSpec";
import { SiteRankings } from "../../src/views/site/SiteRankings";
import { CLAIMS } from "../claimsData";
import { BULK, NO_ORIGIN, TOY } from "../data";
import { line as rankedCell } from "../rankingData";

const cell = (store: string, axes: Record<string, string> = { batch: "10" }) => ({
  cell_key: `bulk_write_read/${store}/reference/batch=10/rows=2000/seed=7`,
  study: "bulk_write_read",
  store,
  client: "reference",
  axes,
  rows: 2000,
  seed: 7,
  runs: 5,
  guarantee: "disk",
  environment_hash: `e-${store}`,
  parameters_hash: "p1",
  method_version: 2,
  origin: NO_ORIGIN,
});
const line = (store: string, median: number, changes: Partial<RankedCell> = {}): RankedCell =>
  rankedCell(store, median, { ...cell(store), ...changes });
const EXCLUDED: ExcludedCell = {
  ...cell("null"),
  spread: null,
  guarantee: "none",
  reasons: [{ reason: "floor", text: "this is what the client alone takes" }],
};
const FOUND: Ranking = {
  study: "bulk_write_read",
  studies: ["bulk_write_read", "toy"],
  operation: "write",
  metric: "only_s",
  title: "time in the store's client",
  unit: "s",
  better: "lower",
  rows: 2000,
  seed: 7,
  datasets: [
    { rows: 100000, seed: 7 },
    { rows: 2000, seed: 7 },
  ],
  axes: { batch: "10", executors: "*" },
  offered: { batch: ["10", "all"], executors: ["1", "2"] },
  environment: "ab12cd34",
  environments: [
    { id: "ab12cd34", text: "2 CPUs, method 2", cells: 3, newest_at: "2026-11-22T12:00:00Z" },
    { id: "00000000", text: "64 CPUs, method 2", cells: 1, newest_at: "2026-11-21T12:00:00Z" },
  ],
  guarantee: "disk",
  guarantees: ["disk", "s3"],
  included: [],
  alike: true,
  margin_percent: 5,
  ranked: [
    line("mongodb", 2),
    line("elasticsearch", 2.02, {
      verdict: "cannot tell",
      reason: "too noisy: about 14 runs would do",
      relative_to_best: 1.01,
      ratio: 1.01,
      ratio_low: 0.9,
      ratio_high: 1.1,
      remarks: ["1 of 31 not verified"],
    }),
    line("delta-rs", 4, {
      place: 3,
      verdict: "worse",
      relative_to_best: 2,
      ratio: 2,
      ratio_low: 1.9,
      ratio_high: 2.1,
      guarantee: "s3",
      differences: [
        { reason: "unlike", text: "guarantees s3, and not disk" },
        { reason: "few", text: "too few attempts for an interval: 1" },
      ],
    }),
  ],
  excluded: [EXCLUDED],
  test: "t-test",
  caution: null,
};
const FULL = {
  study: "bulk_write_read",
  operation: "write",
  metric: "only_s",
  rows: "2000",
  seed: "7",
  "axis:batch": "10",
  "axis:executors": "*",
  environment: "ab12cd34",
  guarantee: "disk",
  alike: "yes",
  margin: "5",
};

let questions: URLSearchParams[];
let refused: boolean;

beforeEach(() => {
  [questions, refused, only] = [[], false, false];
  vi.stubGlobal("fetch", async ({ url: address }: Request) => {
    const { pathname, searchParams } = new URL(address);
    if (pathname.endsWith("/study")) return new Response(JSON.stringify(BULK));
    if (pathname.endsWith("/claims")) return new Response(JSON.stringify(CLAIMS));
    questions.push(searchParams);
    if (refused) return new Response(JSON.stringify({ detail: "Unknown environment 'x'" }), { status: 404 });
    const margin = Number(searchParams.get("margin_percent") ?? 5);
    const included = searchParams.getAll("include") as Ranking["included"];
    return new Response(JSON.stringify({ ...FOUND, margin_percent: margin, included }));
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

let address: URLSearchParams;
let only = false;

function Page() {
  const [asked, setAsked] = useSearchParams();
  address = asked;
  return (
    <RankingView
      study="bulk_write_read"
      only={only}
      asked={asked}
      choice={{
        asked,
        choose: (changes, replace = false) => setAsked((before) => changed(before, changes), { replace }),
        link: (changes) => `?${changed(asked, changes)}`,
      }}
    />
  );
}

const show = async (at = "/") => {
  render(
    <MemoryRouter initialEntries={[at]}>
      <Page />
    </MemoryRouter>,
  );
  await screen.findByRole("combobox", { name: "Operation" });
};
const inAddress = () =>
  Object.fromEntries([...address].map(([name, value]) => [name.replace(/^rank:/, ""), value]));
const lines = (label: string) =>
  [...screen.getByLabelText(label).querySelectorAll("tbody tr")].map((one) =>
    [...one.children].map((field) => field.textContent),
  );

describe("the view", () => {
  it("has the cells in their places, with verdicts against the best", async () => {
    await show();
    expect(lines("Places")).toEqual([
      ["best median", "=1", "mongodb reference", "", "2.00 s", "1.90 to 2.10 s", "30 in 5 runs", "1 ×", "–"],
      [
        "cannot tellratio 0.900 to 1.100whytoo noisy: about 14 runs would do",
        "=1",
        "elasticsearch reference",
        "",
        "2.02 s",
        "1.92 to 2.12 s",
        "30 in 5 runs",
        "1.01 ×",
        "1 of 31 not verified",
      ],
      [
        "slowerratio 1.900 to 2.100",
        "3",
        "delta-rs reference",
        "s3few attempts",
        "4.00 s",
        "3.90 to 4.10 s",
        "30 in 5 runs",
        "2 ×",
        "–",
      ],
    ]);
    expect(lines("Excluded")).toEqual([
      ["null reference", "floor", "this is what the client alone takes", "–", "–", "0"],
    ]);
    expect(screen.getByText("rows 2,000, seed 7 · batch 10 · executors any · 2 CPUs, method 2")).toBeTruthy();
  });

  it("marks a shared place, and says so in words", async () => {
    await show();
    const shared = within(screen.getByLabelText("Places")).getAllByLabelText("shared place 1");
    expect(shared.map(({ textContent, title }) => [textContent, title])).toEqual(
      Array(2).fill(["=1", "shared place 1"]),
    );
    expect(rankedBars(BULK, FOUND).panels[0]?.bars.map(({ name }) => name)).toEqual([
      ...["=1. mongodb reference", "=1. elasticsearch reference", "3. delta-rs reference"],
    ]);
  });

  it("aligns the figures at their decimal points", async () => {
    await show();
    const rooms = [...screen.getByLabelText("Places").querySelectorAll("tbody tr")].map((row) =>
      row.querySelector("td:nth-last-child(2)")?.getAttribute("data-room"),
    );
    expect(rooms).toEqual([".00", null, ".00"]);
  });

  it("explains what differs where its badge is pressed", async () => {
    await show();
    fireEvent.click(screen.getByRole("button", { name: "s3" }));
    expect(screen.getByText("guarantees s3, and not disk.")).toBeTruthy();
  });

  it("has a switch between all cells and alike ones", async () => {
    await show();
    await waitFor(() => expect(inAddress()).toEqual(FULL));
    expect(questions.at(-1)?.get("alike")).toBeNull();
    fireEvent.click(screen.getByRole("checkbox", { name: "Only alike cells" }));
    await waitFor(() => expect(questions.length).toBeGreaterThan(1));
    expect(questions.at(-1)?.get("guarantee")).toBeNull();
  });

  it("puts all that was chosen for it into the address, and asks only once for it", async () => {
    await show();
    await waitFor(() => expect(inAddress()).toEqual(FULL));
    await act(() => new Promise((rested) => setTimeout(rested, 50)));
    expect(questions).toHaveLength(1);
  });

  it("asks for what its address says", async () => {
    const asked = new URLSearchParams(
      Object.entries({ ...FULL, include: "floor,unlike", margin: "2" }).map(([name, value]) => [
        rankKey(name),
        value,
      ]),
    );
    await show(`/?${asked}`);
    const [question] = questions;
    expect(question?.getAll("axis")).toEqual(["batch=10", "executors=*"]);
    expect(question?.getAll("include")).toEqual(["floor", "unlike"]);
    expect(Object.fromEntries(question ?? [])).toMatchObject({
      ...{ study: "bulk_write_read", operation: "write", metric: "only_s", rows: "2000", seed: "7" },
      ...{ environment: "ab12cd34", guarantee: "disk", margin_percent: "2" },
    });
    expect(new URLSearchParams(address).toString()).toBe(asked.toString());
  });

  it("takes each choice into the address", async () => {
    await show();
    await waitFor(() => expect(inAddress()).toEqual(FULL));
    fireEvent.click(screen.getByRole("checkbox", { name: "floors: clients without a store" }));
    await waitFor(() => expect(questions.at(-1)?.getAll("include")).toEqual(["floor"]));
    await waitFor(() =>
      expect(screen.getByRole("checkbox", { name: "floors: clients without a store" })).toHaveProperty(
        "checked",
        true,
      ),
    );
    fireEvent.change(screen.getByRole("combobox", { name: "Margin" }), { target: { value: "10" } });
    await waitFor(() => expect(questions.at(-1)?.get("margin_percent")).toBe("10"));
    const menus = screen.getAllByRole("combobox").map((menu) => menu.parentElement?.firstChild?.textContent);
    expect(menus).toEqual([
      ...["Study", "Operation", "Metric", "Dataset", "batch", "executors", "Environment"],
      ...["Guarantee", "Margin"],
    ]);
  });

  it("leads from a cell to all that was ever measured of it", async () => {
    await show();
    const link = within(screen.getByLabelText("Places")).getByRole("link", { name: "mongodb reference" });
    const to = new URLSearchParams(link.getAttribute("href")?.split("?")[1]);
    expect([to.get("view"), to.get("cell"), to.get("operation"), to.get("metric")]).toEqual([
      "history",
      FOUND.ranked[0]?.cell_key,
      "write",
      "only_s",
    ]);
  });

  it("on a DAG's own page is of its study, whatever its address says", async () => {
    only = true;
    await show(`/?${rankKey("study")}=toy`);
    expect(questions[0]?.get("study")).toBe("bulk_write_read");
    await waitFor(() => expect(inAddress()).toEqual(FULL));
    expect(screen.queryByRole("combobox", { name: "Study" })).toBeNull();
  });

  it("has a way out of an address that asks for what there is not", async () => {
    refused = true;
    render(
      <MemoryRouter initialEntries={[`/?run=r&${rankKey("environment")}=x`]}>
        <Page />
      </MemoryRouter>,
    );
    expect(await screen.findByText("Unknown environment 'x'.", { exact: false })).toBeTruthy();
    refused = false;
    fireEvent.click(screen.getByRole("button", { name: "reset the choices" }));
    await screen.findByRole("combobox", { name: "Operation" });
    expect(address.get("run")).toBe("r");
    await waitFor(() => expect(address.get(rankKey("environment"))).toBe("ab12cd34"));
  });
});

describe("a choice", () => {
  const forgotten = (changes: Record<string, string>) =>
    Object.entries(changes)
      .filter(([, value]) => !value)
      .map(([name]) => name.replace(/^rank:/, ""));

  it("leaves what is behind it to what most cells were measured at", () => {
    expect(forgotten(chosen(FOUND, "study", ["toy"]))).toEqual([
      ...["operation", "metric", "rows", "seed", "axis:batch", "axis:executors", "environment", "guarantee"],
    ]);
    expect(chosen(FOUND, "dataset", ["100000", "7"])).toMatchObject({
      [rankKey("rows")]: "100000",
      [rankKey("seed")]: "7",
    });
    expect(forgotten(chosen(FOUND, "dataset", ["100000", "7"]))).toEqual([
      ...["axis:batch", "axis:executors", "environment", "guarantee"],
    ]);
    expect(forgotten(chosenOnAxis(FOUND, "batch", "all"))).toEqual([
      ...["axis:executors", "environment", "guarantee"],
    ]);
    expect(forgotten(chosen(FOUND, "environment", ["00000000"]))).toEqual(["guarantee"]);
  });

  it("of an operation or a metric keeps dataset and axes", () => {
    expect(forgotten(chosen(FOUND, "operation", ["read"]))).toEqual(["metric", "environment", "guarantee"]);
    expect(chosenMetric(BULK, FOUND, "rows_per_s")).toEqual({ [rankKey("metric")]: "rows_per_s" });
    expect(forgotten(chosenMetric(BULK, FOUND, "all_cpu_s"))).toEqual(["guarantee"]);
    const memory = { ...FOUND, metric: "all_memory_working_set_peak_bytes" };
    expect(forgotten(chosenMetric(BULK, memory, "only_s"))).toEqual(["guarantee"]);
  });

  it("of a metric is among those that can rank the operation", () => {
    expect(metricsOf(BULK, "write").map(({ name }) => name)).toEqual([
      ...["only_s", "rows_per_s", "work_total_s", "all_memory_working_set_peak_bytes", "all_cpu_s"],
    ]);
    expect(metricsOf(TOY, "sum")[0]?.name).toBe("sums_per_s");
    expect(metricsOf(TOY, "sum").map(({ name }) => name)).not.toContain("latency_s");
  });

  it("that nobody made is that of the run that is looked at", () => {
    expect(questionOf(new URLSearchParams("view=ranking"), "toy")).toEqual({
      study: "toy",
      axis: [],
      include: [],
    });
  });

  it("on an axis that means nothing any more is forgotten", () => {
    const asked = new URLSearchParams(Object.entries(FULL).map(([name, value]) => [rankKey(name), value]));
    expect(missingIn(asked, FOUND)).toEqual({});
    asked.set(rankKey("axis:codec"), "zstd");
    expect(missingIn(asked, FOUND)).toEqual({ [rankKey("axis:codec")]: "" });
  });
});

it("a site has the rankings of a study one below the other, and they lead nowhere but back", () => {
  const far = { ...cell("mongodb"), rows: 100_000 };
  const other = { ...FOUND, rows: 100_000, ranked: [{ ...line("mongodb", 9), ...far }], excluded: [] };
  render(
    <SiteRankings
      content={{ home: "../index.html", study: BULK, rankings: [FOUND, other], claims: CLAIMS }}
    />,
  );
  const titles = screen.getAllByRole("heading").map((heading) => heading.textContent);
  expect(titles).toEqual([
    "Ranking of Bulk write and read",
    "Write, rows 2,000, seed 7",
    "Write: time in the store's client, lower is better",
    "Excluded: 1",
    "Write, rows 100,000, seed 7",
    "Write: time in the store's client, lower is better",
    "What the original study said",
  ]);
  const tables = screen.getAllByRole("region", { name: /^Places/ });
  expect(new Set(tables.map((table) => table.getAttribute("aria-label"))).size).toBe(2);
  expect(tables.map((table) => within(table).getAllByRole("rowheader").length)).toEqual([3, 1]);
  expect(screen.getAllByRole("link").map((link) => link.getAttribute("href"))).toEqual(["../index.html"]);
});

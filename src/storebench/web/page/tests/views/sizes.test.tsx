import { fireEvent, render, screen, within } from "@testing-library/react";
import * as vega from "vega";
import { compile } from "vega-lite";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Metric, ServerSizes, SizePoint } from "../../src/api/types";
import { LIGHT } from "../../src/ui/theme";
import { SizesView } from "../../src/views/sizes/SizesView";
import { layoutFor, lineNames, runsText, sizeMarks, sizePanels } from "../../src/views/sizes/sizes";
import { sizesSpec } from "../../src/views/sizes/sizesSpec";
import { NO_ORIGIN, TOY, toy, unfold } from "../data";

const [METRIC] = TOY.metrics as [Metric];
const RUN = "toy/manual__2026-01-02T03:04:05.000000+00:00";

function point(cores: number, median: number, changes: Partial<SizePoint> = {}): SizePoint {
  const { cell_key, study, client, axes, rows, seed } = toy("sum", 1);
  return {
    ...{ cell_key, study, client, axes, rows, seed, operation: "sum", store: "abacus@one" },
    line: `line of ${changes.store ?? "abacus@one"}`,
    cores,
    memory_bytes: 2 ** 30,
    spread: {
      n: 6,
      median,
      interval_low: 0.9 * median,
      interval_high: 1.1 * median,
      interval_coverage: 0.97,
    },
    excluded: 0,
    server_pods: 3,
    used_cores: 0.4,
    used_memory_bytes: 3e9,
    runs: [RUN],
    attempts: ["a", "b"],
    origin: NO_ORIGIN,
    ...changes,
  };
}

const POINTS = [point(0.25, 1000), point(0.5, 2100, { runs: [RUN, "toy/x"] })];
const ANSWER: ServerSizes = {
  study: "toy",
  operation: "sum",
  metric: "sums_per_s",
  offered: { fill: [METRIC], sum: [METRIC] },
  points: POINTS,
  excluded: [
    { reason: "users 20, not 40", differ: true, runs: ["toy/c", "toy/d"], cells: ["k"] },
    { reason: "server_cpu is not set", differ: false, runs: ["toy/e"], cells: ["k", "l"] },
  ],
  single: null,
};
let answer: ServerSizes;
let questions: URLSearchParams[];
let chosen: Record<string, string>;

beforeEach(() => {
  [answer, questions, chosen] = [ANSWER, [], {}];
  vi.stubGlobal("fetch", async ({ url }: Request) => {
    const { pathname, searchParams } = new URL(url);
    if (pathname.endsWith("/study")) return new Response(JSON.stringify(TOY));
    questions.push(searchParams);
    return new Response(JSON.stringify(answer));
  });
});
afterEach(() => vi.unstubAllGlobals());

const show = (address = "") =>
  render(
    <SizesView
      study="toy"
      choice={{
        asked: new URLSearchParams(address),
        choose: (changes) => Object.assign(chosen, changes),
      }}
    />,
  );

describe("a metric over the size of servers", () => {
  it("has a table with what the servers had and used", async () => {
    show();
    await screen.findByRole("heading", { name: "Sum: sums a second, level 2" });
    unfold();
    const table = within(document.querySelector("figure") as HTMLElement).getByRole("table");
    const text = (row: Element) => [...row.children].map((cell) => cell.textContent);
    const [head, first, second] = within(table).getAllByRole("row").map(text);
    const column = (name: string) => [first, second].map((row) => row?.[head?.indexOf(name) ?? -1]);
    expect(column("server cores")).toEqual(["0.25", "0.5"]);
    expect(column("sums per s")).toEqual(["1,000 sums/s", "2,100 sums/s"]);
    expect(column("interval low")).toEqual(["900 sums/s", "1,890 sums/s"]);
    expect(column("runs")).toEqual([RUN, `${RUN}, toy/x`]);
    expect(document.querySelector("figure details .sb-note")?.textContent).toContain(
      "used memory bytes 3.00 GB",
    );
  });

  it("is of the operation, metric and runs in the address, which the menus change", async () => {
    show("sizes:operation=sum&sizes:metric=sums_per_s&sizes:runs=toy/a,toy/b");
    fireEvent.change(await screen.findByLabelText("Operation"), { target: { value: "fill" } });
    expect(chosen).toEqual({ "sizes:operation": "fill", "sizes:metric": "" });
    expect([questions[0]?.get("operation"), questions[0]?.getAll("run")]).toEqual([
      "sum",
      ["toy/a", "toy/b"],
    ]);
    fireEvent.click(screen.getByRole("button", { name: "Use all runs" }));
    expect(chosen["sizes:runs"]).toBe("");
  });

  it("lists the excluded runs, and shows those that differ without the others", async () => {
    show();
    const table = await screen.findByLabelText("Excluded runs");
    const buttons = within(table).getAllByRole("button", { hidden: true });
    expect(table.textContent).toContain("users 20, not 40");
    expect(buttons).toHaveLength(1);
    fireEvent.click(buttons[0] as HTMLElement);
    expect(chosen).toEqual({ "sizes:runs": "toy/c,toy/d" });
  });

  it("tells how to measure another size where there is one, or none", async () => {
    answer = { ...ANSWER, points: [point(0.25, 1000)], single: RUN };
    const { unmount } = show();
    const command = (size: string) => `storebench replay ${RUN} --param 'server_cpu="${size}"' --follow`;
    expect(await screen.findByText(command("0.5"))).toBeTruthy();
    unmount();
    answer = { ...ANSWER, points: [], single: RUN, study: "toy2" };
    show("sizes:runs=toy/e");
    expect((await screen.findByText(/No sizes to compare/)).textContent).toBeTruthy();
    expect(document.querySelector("pre")?.textContent).toBe(`${command("500m")}\n${command("1")}`);
  });
});

describe("the chart", () => {
  const other = { store: "abacus@three" };
  const points = [...POINTS, point(0.5, 4000, { ...other, runs: ["toy/other"] })];
  const layout = layoutFor({ ...TOY, charts: [] }, METRIC.name);

  it("has a line for each store, intervals, and names of runs", async () => {
    const marks = sizeMarks(TOY, points, METRIC, layout.colour, lineNames(TOY, points, layout));
    expect(new Set(marks.map(({ line }) => line)).size).toBe(2);
    expect(marks[0]).toMatchObject({ size: "0.25 cores, 1.07 GB", used: "0.4 cores, 3.00 GB by 3 servers" });
    const spec = sizesSpec(marks, METRIC, [["abacus@one", "#000"]], "d", 700, LIGHT, false);
    const svg = await new vega.View(vega.parse(compile(spec).spec), { renderer: "none" }).toSVG();
    for (const text of ["run of 2026-01-02 03:04", "2 runs", "other", "sums/s"]) expect(svg).toContain(text);
    expect(svg.match(/mark-rule role-mark layer_1_marks|interval_marks/g)).not.toBeNull();
  });

  it("has a panel for each value of the axis that the study's chart of the metric names", () => {
    const one = point(1, 1, { axes: { level: "1" } });
    const layout = layoutFor(TOY, METRIC.name);
    expect(sizePanels([one, { ...one, axes: { level: "9" } }], layout).map(({ name }) => name)).toEqual([
      "level 1",
      "level 9",
    ]);
  });

  it("names a run without a time by its id", () => {
    expect(runsText(["toy/turns__1"])).toBe("turns__1");
  });
});

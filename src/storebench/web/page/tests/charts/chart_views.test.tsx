import { render, screen, within } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import type { Attempt, Study } from "../../src/api/types";
import { Figures } from "../../src/charts/Chart";
import { Charts } from "../../src/charts/ChartViews";
import { Phases } from "../../src/charts/PhaseCharts";
import { withoutOrigin } from "../../src/model/provenance";
import { painter } from "../../src/ui/colours";
import { LIGHT } from "../../src/ui/theme";
import { loadRun } from "../../src/views/run/RunView";
import {
  ATTEMPT,
  BULK,
  cellOf,
  DISTURBED,
  ENGINE,
  FAILED,
  measured,
  NO_CHOICE,
  RUN,
  TOY,
  TURN,
  toy,
} from "../data";

describe("the charts of a run", () => {
  it("name what is in no median, with the reason", () => {
    render(
      <Charts
        of={{ data: { study: BULK, cells: [ATTEMPT, FAILED, DISTURBED].map(cellOf), artifacts: [] } }}
        choice={NO_CHOICE}
      />,
    );
    const list = screen.getByText("2 attempts are in no median: 1 failed, 1 disturbed").parentElement;
    expect(list?.textContent).toContain("repeat 1: disturbed: throttled in 3 periods");
    expect(list?.textContent).toContain("repeat 2: failed: oom_killed");
  });

  const titles = () => screen.getAllByRole("heading").map((heading) => heading.textContent);

  it("are those of the study, and rank no client's memory with an engine's", () => {
    const both = (one: Attempt) => [cellOf(one), cellOf({ ...one, operation: "read" })];
    const of = (cells: ReturnType<typeof both>) => (
      <Charts of={{ data: { study: BULK, cells, artifacts: [] } }} choice={NO_CHOICE} />
    );
    const { rerender } = render(of(both(ATTEMPT)));
    expect(titles()).toHaveLength(8);
    rerender(of([...both(ATTEMPT), ...both(ENGINE)]));
    expect(titles()).toEqual(
      [
        "time in the store's client",
        "dataset rows a second",
        "total pod time without verification",
        "memory of the client (its server is not in it)",
        "memory of the engine, in all its pods",
      ]
        .flatMap((title) => (title.startsWith("memory") ? [] : [`Write: ${title}`, `Read: ${title}`]))
        .concat(
          ["Write", "Read"].flatMap((operation) => [
            `${operation}: memory of the client (its server is not in it)`,
            `${operation}: memory of the engine, in all its pods`,
          ]),
        ),
    );
  });

  it("of another study are its own, in its order, and of its operations", () => {
    const attempts = [
      toy("shrink", 7, undefined, { metrics: { saved_bytes: 7, files: 2 } }),
      toy("sum", 5),
      toy("fill", 5),
    ];
    const data = { study: TOY, cells: attempts.map(measured), artifacts: [] };
    render(<Charts of={{ data }} choice={NO_CHOICE} />);
    expect(titles()).toEqual(["Sums a second", "Shrink: space saved", "Shrink: files"]);
  });

  it("say below them in what else the cells differ", () => {
    render(
      <Charts
        of={{ data: { study: BULK, cells: [ATTEMPT, ENGINE].map(cellOf), artifacts: [] } }}
        choice={NO_CHOICE}
      />,
    );
    const chart = screen
      .getByRole("heading", { name: "Write: time in the store's client" })
      .closest("figure") as HTMLElement;
    expect(
      within(chart).getByText(/Their durability differs: s3 \(delta-rs\), disk \(mongodb\)/),
    ).toBeTruthy();
  });
});

it("a filter has the colours of the charts, and none for a name that no chart distinguishes by colour", () => {
  const cells = ["10", "20"].flatMap((batch) =>
    [ATTEMPT, ENGINE].map((attempt) => cellOf({ ...attempt, axes: { ...attempt.axes, batch } })),
  );
  const show = (charts: Study["charts"]) => {
    const study = { ...BULK, charts };
    const { unmount } = render(<Charts of={{ data: { study, cells, artifacts: [] } }} choice={NO_CHOICE} />);
    const swatches = [...document.querySelectorAll<HTMLElement>(".sb-fields label .sb-colour")].map(
      (swatch) => [swatch.parentElement?.textContent, swatch.style.backgroundColor],
    );
    unmount();
    return swatches;
  };
  const rgb = (colour: string) => Object.assign(document.createElement("i").style, { color: colour }).color;
  const shown = (name: string, values: string[]) =>
    values.map((value) => [value, rgb(painter(BULK, cells, name)(LIGHT, value))]);
  expect(show(BULK.charts)).toEqual(shown("batch", ["10", "20"]));
  expect(show(BULK.charts.map((chart) => ({ ...chart, colour: "store" })))).toEqual(
    shown("store", ["delta-rs", "mongodb"]),
  );
});

it("the figures of a chart are aligned at their decimal points", () => {
  const table = [4, 20, null].map((median) => ({ store: "mongodb", median }));
  render(<Figures table={table} units={{ median: "s" }} caption="medians" />);
  const cells = [...document.querySelectorAll("td.sb-number")];
  expect(cells.map((cell) => [cell.textContent, cell.getAttribute("data-room")])).toEqual([
    ["4.00 s", null],
    ["20.0 s", "0"],
    ["–", null],
  ]);
});

it("the words of a single line fold, and the origin of figures is only in the export", () => {
  const table = [{ store: "mongodb", client: "reference", median: 4 }];
  render(<Figures table={table} units={{ median: "s" }} caption="medians" />);
  expect(screen.getByText("Equal in all lines: client reference")).toBeTruthy();
  expect(screen.getAllByRole("columnheader").map((heading) => heading.textContent)).toEqual([
    "store",
    "median",
  ]);
  expect(withoutOrigin([{ store: "mongodb", server: "FerretDB", machine_before: "2 CPUs", n: 3 }])).toEqual([
    { store: "mongodb", n: 3 },
  ]);
});

it("the phases of attempts of different durability say so", () => {
  const phases = { connect: 1 };
  const cells = [ATTEMPT, ENGINE].map((attempt) => ({ ...cellOf(attempt), attempt, phases }));
  render(<Phases of={{ data: { study: BULK, cells } }} choice={NO_CHOICE} />);
  expect(
    screen.getByText("One attempt of each cell. Their durability differs: s3 (delta-rs), disk (mongodb)."),
  ).toBeTruthy();
});

it("the phases that are told to the second are dashed in the legend, too, and said to be", () => {
  const phases = { queued: 2, connect: 1 };
  const cells = [{ ...cellOf(ATTEMPT), attempt: ATTEMPT, phases }];
  render(<Phases of={{ data: { study: BULK, cells } }} choice={NO_CHOICE} />);
  const dashed = [...document.querySelectorAll(".sb-dashed")].map((one) => one.parentElement?.textContent);
  expect(dashed).toEqual(["queued"]);
  expect(screen.getByText(/Pale and dashed: reported by Kubernetes, to the second\./)).toBeTruthy();
});

it("only what needs an operation that has failed is not run for it", async () => {
  const { study, cell_key, store, client, axes, rows, seed } = toy("fill", 5);
  const cell = { study, cell_key, store, client, axes, rows, seed };
  const turns = [{ ...TURN, ...cell, operations: ["fill", "sum", "shrink"] }];
  const tried = (operation: string, status: Attempt["status"]) => toy(operation, 5, undefined, { status });
  const squares = async (attempts: Attempt[]) => {
    vi.stubGlobal("fetch", async ({ url: address }: Request) => {
      const path = new URL(address).pathname.split("/").at(-1) ?? "";
      const items = { turns, attempts }[path];
      if (items) return new Response(JSON.stringify({ items, offset: 0, more: false }));
      return new Response(JSON.stringify(path === "study" ? TOY : { ...RUN, study }));
    });
    const live = await loadRun(RUN.id).finally(() => vi.unstubAllGlobals());
    return [...live.squares.values()].map(({ state, detail }) => [state, detail]);
  };
  expect(await squares([tried("fill", "verified"), tried("sum", "failed")])).toMatchObject([
    ["verified", null],
    ["failed", expect.anything()],
    ["not run", "the run ended without it"],
  ]);
  const why = "an operation that it depends on has failed";
  expect((await squares([tried("fill", "failed")])).slice(1)).toEqual([
    ["not run", why],
    ["not run", why],
  ]);
});

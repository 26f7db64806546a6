import { fireEvent, render, screen } from "@testing-library/react";
import { MemoryRouter, useSearchParams } from "react-router-dom";
import { describe, expect, it } from "vitest";
import type { CellFigures, Study } from "../../src/api/types";
import { Charts, useOwnChoice } from "../../src/charts/ChartViews";
import {
  hiddenOf,
  isShown,
  kindOf,
  moved,
  ordered,
  scaleFor,
  scaleOf,
  toggled,
} from "../../src/model/choice";
import { ATTEMPT, BULK, CELL, measured, spread, TOY, toy, unfold } from "../data";

const asked = (text: string) => new URLSearchParams(text);

describe("what is shown of the charts", () => {
  it("is all of it, each chart on its own scale, until something else is asked for", () => {
    expect(scaleOf(asked(""))).toBeNull();
    expect(scaleOf(asked("scale=nonesuch"))).toBeNull();
    expect(scaleOf(asked("scale=best"))).toBe("best");
    expect(hiddenOf(asked(""), "store").size).toBe(0);
  });

  it("has a logarithmic scale where values are 20-fold apart, if nothing else is asked for", () => {
    const [near, far] = [
      [1, 19.9],
      [1, 20],
    ] as [number[], number[]];
    expect([near, far, [0, 50], [-1, 50], []].map((values) => scaleFor(null, values, "lower"))).toEqual([
      "linear",
      "logarithmic",
      "linear",
      "linear",
      "linear",
    ]);
    expect(scaleFor("linear", far, "lower")).toBe("linear");
    expect(scaleFor("best", far, "lower")).toBe("best");
    // a metric without a better direction has no best value
    expect(scaleFor("best", far, "neither")).toBe("logarithmic");
    expect(scaleFor("best", near, "neither")).toBe("linear");
  });

  it("is hidden and shown again by name and kind", () => {
    const once = toggled(asked(""), "store", "null");
    const twice = toggled(asked(`without=${once.without}`), kindOf("batch"), "all");
    expect(twice).toEqual({ without: "store:null,axis:batch:all" });
    const both = asked(`without=${twice.without}`);
    expect([...hiddenOf(both, "store"), ...hiddenOf(both, kindOf("batch"))]).toEqual(["null", "all"]);
    expect(toggled(both, "store", "null")).toEqual({ without: "axis:batch:all" });
  });

  it("is hidden also where a value has a comma", () => {
    const { without = "" } = toggled(new URLSearchParams({ without: "store:a" }), "axis:sep", "a,%b");
    const both = new URLSearchParams({ without });
    expect([...hiddenOf(both, "axis:sep"), ...hiddenOf(both, "store")]).toEqual(["a,%b", "a"]);
    expect(toggled(both, "axis:sep", "a,%b")).toEqual({ without: "store:a" });
  });

  it("excludes cells by store, client, and each axis", () => {
    const shown = (without: string) => isShown(asked(`without=${without}`), ["batch", "executors"])(CELL);
    expect(shown("store:mongodb")).toBe(false);
    expect(shown("client:reference")).toBe(false);
    expect(shown("axis:batch:10000")).toBe(false);
    expect(shown("axis:batch:1000,axis:executors:1,client:mongodb")).toBe(true);
    // the legend has an entry for cells that the axis does not apply to, too
    expect(shown("axis:executors:")).toBe(false);
  });

  it("has the order that was chosen, and what that does not name behind", () => {
    const stores = ["a", "b", "c"];
    expect(ordered(asked("stores=c,gone"), stores)).toEqual(["c", "a", "b"]);
    expect(moved(asked(""), stores, "c", -1)).toEqual({ stores: "a,c,b" });
    expect(moved(asked("stores=a,c,b"), stores, "a", 1)).toEqual({ stores: "c,a,b" });
  });
});

const CELLS = ["mongodb", "redis"].flatMap((store) =>
  ["100", "1000"].map((batch) => ({
    ...measured({ ...ATTEMPT, store, axes: { ...CELL.axes, batch } }),
    cell_key: `${store} ${batch}`,
    figures: { only_s: spread(store === "redis" ? 1 : 2) },
  })),
);
const firstChart = () =>
  screen.getByRole("heading", { name: "Write: time in the store's client" }).closest("figure") as HTMLElement;
/** Return store and batch of each line; a column that all lines share folds into the sentence above. */
const lines = () => {
  unfold();
  const chart = firstChart();
  const headings = [...chart.querySelectorAll("thead th")].map((one) => one.textContent);
  const equal = chart.querySelector("details")?.textContent ?? "";
  return [...chart.querySelectorAll("tbody tr")].map((line) =>
    ["store", "batch"]
      .map((name) => {
        const column = headings.indexOf(name);
        return column < 0
          ? new RegExp(`${name} (\\S+)`).exec(equal)?.[1]
          : line.children[column]?.textContent;
      })
      .join(" "),
  );
};

function Own() {
  return <Charts of={{ data: { study: BULK, cells: CELLS, artifacts: [] } }} choice={useOwnChoice()} />;
}

function Addressed({ study = BULK, cells = CELLS }: { study?: Study; cells?: CellFigures[] }) {
  const [asked, setAsked] = useSearchParams();
  const choose = (changes: Record<string, string>) => setAsked({ ...Object.fromEntries(asked), ...changes });
  return (
    <>
      <Charts of={{ data: { study, cells, artifacts: [] } }} choice={{ asked, choose }} />
      <output>{asked.toString()}</output>
    </>
  );
}
const addressed = () => new URLSearchParams(screen.getByRole("status").textContent ?? "");

describe("the charts", () => {
  it("exclude the stores that are hidden, in pictures and figures, and show them again", () => {
    render(<Own />);
    expect(lines()).toEqual(["redis 100", "redis 1,000", "mongodb 100", "mongodb 1,000"]);
    fireEvent.click(screen.getByRole("checkbox", { name: "redis" }));
    expect(lines()).toEqual(["mongodb 100", "mongodb 1,000"]);
    fireEvent.click(screen.getByRole("checkbox", { name: "redis" }));
    expect(lines()).toHaveLength(4);
  });

  it("have the stores in the order of their list, or the best first", () => {
    render(<Own />);
    expect(screen.getByRole("button", { name: "Move mongodb up" })).toHaveProperty("disabled", true);
    fireEvent.click(screen.getByRole("button", { name: "Move redis up" }));
    const best = ["redis 100", "redis 1,000", "mongodb 100", "mongodb 1,000"];
    expect(lines()).toEqual(best);
    // whoever moves a store wants the order of stores
    fireEvent.click(screen.getByRole("button", { name: "Move redis down" }));
    expect(screen.getByLabelText("Order")).toHaveProperty("value", "store");
    expect(lines()).toEqual(["mongodb 100", "mongodb 1,000", "redis 100", "redis 1,000"]);
    fireEvent.change(screen.getByLabelText("Order"), { target: { value: "" } });
    expect(lines()).toEqual(best);
  });

  it("hide a value of an axis, also the last one, and bring it back", () => {
    render(<Own />);
    const press = (name: string) => fireEvent.click(screen.getByRole("checkbox", { name }));
    press("100");
    expect(lines()).toEqual(["redis 1,000", "mongodb 1,000"]);
    press("1,000");
    expect(lines()).toEqual([]);
    press("100");
    expect(lines()).toEqual(["redis 100", "mongodb 100"]);
  });

  it("say once what all cells share, and in no caption what a hidden store would add", () => {
    render(<Own />);
    expect(screen.getByText("All cells:").parentElement?.textContent).toContain(
      "client reference, rows 2,000, seed 7",
    );
    expect(screen.getAllByText(/^Source:/)).toHaveLength(1);
    fireEvent.click(screen.getByRole("checkbox", { name: "redis" }));
    expect(firstChart().textContent).toContain("All: mongodb.");
  });

  it("keep what was chosen in the page's address", () => {
    render(
      <MemoryRouter initialEntries={["/?without=store:mongodb"]}>
        <Addressed />
      </MemoryRouter>,
    );
    expect(lines()).toEqual(["redis 100", "redis 1,000"]);
    fireEvent.change(screen.getByLabelText("Scale"), { target: { value: "logarithmic" } });
    expect(addressed().get("scale")).toBe("logarithmic");
    fireEvent.click(screen.getByRole("checkbox", { name: "100" }));
    expect(addressed().get("without")).toBe("store:mongodb,axis:batch:100");
    expect(lines()).toEqual(["redis 1,000"]);
  });

  it("of another study are chosen by its axes and its dataset, words after numbers", () => {
    const cells = ["most", "10", "9"].map((level) => measured(toy("sum", 5, { codec: "none", level })));
    cells.push({ ...measured(toy("sum", 5)), client: "foot", rows: 1 });
    render(
      <MemoryRouter>
        <Addressed study={TOY} cells={cells} />
      </MemoryRouter>,
    );
    const boxes = (name: string) =>
      [...screen.getByRole("group", { name }).querySelectorAll("label")].map((label) => label.textContent);
    expect(boxes("Clients")).toEqual(["foot", "hand"]);
    expect(boxes("level")).toEqual(["2", "9", "10", "most"]);
    expect(boxes("rows")).toEqual(["1", "2,000"]);
    fireEvent.click(screen.getByRole("checkbox", { name: "most" }));
    expect(addressed().get("without")).toBe("axis:level:most");
  });
});

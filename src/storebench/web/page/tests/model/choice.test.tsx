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
const lines = () => {
  unfold();
  return [...firstChart().querySelectorAll("tbody tr")].map((line) =>
    [line.children[0], line.children[3]].map((cell) => cell?.textContent).join(" "),
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
    expect(lines()).toEqual(["mongodb 100", "mongodb 1,000", "redis 100", "redis 1,000"]);
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
    fireEvent.click(screen.getByRole("button", { name: "Move redis down" }));
    expect(lines()).not.toEqual(best);
    fireEvent.change(screen.getByLabelText("Order"), { target: { value: "value" } });
    expect(lines()).toEqual(best);
  });

  it("have a legend that hides a value of an axis and can bring back the last one", () => {
    render(<Own />);
    const entry = (name: string) =>
      [...firstChart().querySelectorAll("button[aria-pressed]")].find(
        (one) => one.textContent === name,
      ) as HTMLElement;
    fireEvent.click(entry("100"));
    expect(lines()).toEqual(["mongodb 1,000", "redis 1,000"]);
    expect(entry("100").getAttribute("aria-pressed")).toBe("false");
    expect(screen.getByRole("checkbox", { name: "100" })).toHaveProperty("checked", false);
    fireEvent.click(entry("1,000"));
    expect(lines()).toEqual([]);
    fireEvent.click(entry("100"));
    expect(lines()).toEqual(["mongodb 100", "redis 100"]);
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

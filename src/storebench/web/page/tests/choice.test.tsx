import { fireEvent, render, screen } from "@testing-library/react";
import { MemoryRouter, useSearchParams } from "react-router-dom";
import { describe, expect, it } from "vitest";
import { Charts, useOwnChoice } from "../src/ChartViews";
import { hiddenOf, moved, ordered, scaleOf, toggled } from "../src/choice";
import { measured } from "./data";

const asked = (text: string) => new URLSearchParams(text);

describe("what is shown of the charts", () => {
  it("is all of it, linear, until something else is asked for", () => {
    expect(scaleOf(asked(""))).toBe("linear");
    expect(scaleOf(asked("scale=nonesuch"))).toBe("linear");
    expect(scaleOf(asked("scale=best"))).toBe("best");
    expect(hiddenOf(asked(""), "store").size).toBe(0);
  });

  it("is hidden and shown again by name and kind", () => {
    const once = toggled(asked(""), "store", "null");
    const twice = toggled(asked(`without=${once.without}`), "batch", "all");
    expect(twice).toEqual({ without: "store:null,batch:all" });
    const both = asked(`without=${twice.without}`);
    expect([...hiddenOf(both, "store"), ...hiddenOf(both, "batch")]).toEqual(["null", "all"]);
    expect(toggled(both, "store", "null")).toEqual({ without: "batch:all" });
  });

  it("has the order that was chosen, and what that does not name behind", () => {
    const stores = ["a", "b", "c"];
    expect(ordered(asked("stores=c,gone"), stores)).toEqual(["c", "a", "b"]);
    expect(moved(asked(""), stores, "c", -1)).toEqual({ stores: "a,c,b" });
    expect(moved(asked("stores=a,c,b"), stores, "a", 1)).toEqual({ stores: "c,a,b" });
  });
});

const CELLS = ["mongodb", "null"].flatMap((store) =>
  ["100", "1000"].map((batch_size) => measured({ store, batch_size, cell_key: `${store} ${batch_size}` })),
);
const firstChart = () =>
  screen.getByRole("heading", { name: "Write-only time" }).closest("figure") as HTMLElement;
const lines = () =>
  [...firstChart().querySelectorAll("tbody tr")].map((line) =>
    [line.children[0], line.children[3]].map((cell) => cell?.textContent).join(" "),
  );

function Own() {
  return <Charts of={{ data: CELLS }} choice={useOwnChoice()} />;
}

function Addressed() {
  const [asked, setAsked] = useSearchParams();
  const choose = (changes: Record<string, string>) => setAsked({ ...Object.fromEntries(asked), ...changes });
  return (
    <>
      <Charts of={{ data: CELLS }} choice={{ asked, choose }} />
      <output>{asked.toString()}</output>
    </>
  );
}

describe("the charts", () => {
  it("leave out the stores that are hidden, in pictures and figures, and show them again", () => {
    render(<Own />);
    expect(lines()).toEqual(["mongodb 100", "mongodb 1,000", "null 100", "null 1,000"]);
    fireEvent.click(screen.getByRole("checkbox", { name: "null" }));
    expect(lines()).toEqual(["mongodb 100", "mongodb 1,000"]);
    fireEvent.click(screen.getByRole("checkbox", { name: "null" }));
    expect(lines()).toHaveLength(4);
  });

  it("have the stores in the order of their list", () => {
    render(<Own />);
    expect(screen.getByRole("button", { name: "Move mongodb up" })).toHaveProperty("disabled", true);
    fireEvent.click(screen.getByRole("button", { name: "Move null up" }));
    expect(lines()).toEqual(["null 100", "null 1,000", "mongodb 100", "mongodb 1,000"]);
  });

  it("have a legend that hides a batch size and can bring back the last one", () => {
    render(<Own />);
    const entry = (name: string) =>
      [...firstChart().querySelectorAll("button[aria-pressed]")].find(
        (one) => one.textContent === name,
      ) as HTMLElement;
    fireEvent.click(entry("100"));
    expect(lines()).toEqual(["mongodb 1,000", "null 1,000"]);
    expect(entry("100").getAttribute("aria-pressed")).toBe("false");
    fireEvent.click(entry("1,000"));
    expect(lines()).toEqual([]);
    fireEvent.click(entry("100"));
    expect(lines()).toEqual(["mongodb 100", "null 100"]);
  });

  it("keep what was chosen in the page's address", () => {
    render(
      <MemoryRouter initialEntries={["/?without=store:mongodb"]}>
        <Addressed />
      </MemoryRouter>,
    );
    expect(lines()).toEqual(["null 100", "null 1,000"]);
    fireEvent.change(screen.getByLabelText("Scale"), { target: { value: "logarithmic" } });
    expect(new URLSearchParams(screen.getByRole("status").textContent ?? "").get("scale")).toBe(
      "logarithmic",
    );
  });
});

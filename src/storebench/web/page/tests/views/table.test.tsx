import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { MemoryRouter, useNavigate, useSearchParams } from "react-router-dom";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { TableView } from "../../src/views/table/TableView";
import { ATTEMPT, BULK, TURN } from "../data";

const questions: URLSearchParams[] = [];
const TURNS = ["100", "20", "all"].map((batch) => ({ ...TURN, axes: { ...TURN.axes, batch } }));

beforeEach(() => {
  questions.length = 0;
  vi.stubGlobal("fetch", async ({ url: address }: Request) => {
    const { pathname, searchParams: asked } = new URL(address);
    if (pathname.endsWith("/study")) return new Response(JSON.stringify(BULK));
    if (pathname.endsWith("/turns"))
      return new Response(JSON.stringify({ items: TURNS, offset: 0, more: false }));
    questions.push(asked);
    const items = ["mongodb", "elasticsearch"]
      .filter((store) => store.includes(asked.get("store") ?? ""))
      .map((store, n) => ({
        ...ATTEMPT,
        attempt_id: store,
        store,
        total_s: asked.get("operation") ? [4, 20][n] : 4,
      }));
    return new Response(JSON.stringify({ items, offset: 0, more: true }));
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function Page() {
  const [asked, setAsked] = useSearchParams();
  const back = useNavigate();
  return (
    <>
      <TableView
        run="one"
        asked={asked}
        choose={(changes, replace) =>
          setAsked({ ...Object.fromEntries(asked), ...changes }, { replace: replace ?? false })
        }
      />
      <output>{asked.toString()}</output>
      <button type="button" onClick={() => back(-1)}>
        back
      </button>
    </>
  );
}

const show = (address = "/") =>
  render(
    <MemoryRouter initialEntries={["/?store=elastic", address]} initialIndex={1}>
      <Page />
    </MemoryRouter>,
  );
const headings = () =>
  [...document.querySelectorAll("thead th")].map((one) =>
    (one.querySelector("button") ?? one).textContent?.replace(/[↓↑]/, "").trim(),
  );
const stores = () =>
  [...document.querySelectorAll("tbody tr")]
    .map((line) => line.children[headings().indexOf("store")]?.textContent)
    .join(" ");
const type = (text: string) => fireEvent.change(screen.getByLabelText("store"), { target: { value: text } });

describe("the columns of the table", () => {
  it("fold into a sentence where all lines are equal", async () => {
    show();
    await waitFor(() => expect(stores()).toBe("mongodb elasticsearch"));
    expect(headings()).not.toContain("client");
    expect(document.querySelector(".sb-equal")?.textContent).toContain("client reference");
  });

  it("of numbers are aligned at their decimal points", async () => {
    show("/?operation=read");
    await waitFor(() => expect(stores()).toBe("mongodb elasticsearch"));
    const times = [...document.querySelectorAll("tbody tr")].map(
      (line) => line.children[headings().indexOf("total time")],
    );
    expect(times.map((cell) => [cell?.textContent, cell?.getAttribute("data-room")])).toEqual([
      ["4.00", null],
      ["20.0", "0"],
    ]);
    expect(screen.getByRole("columnheader", { name: "total time s" })).toBeTruthy();
  });

  it("are chosen, also figures that no table shows by itself, and the address has them", async () => {
    show();
    await waitFor(() => expect(stores()).toBe("mongodb elasticsearch"));
    fireEvent.click(screen.getByRole("button", { name: "Columns" }));
    fireEvent.click(screen.getByRole("checkbox", { name: "store" }));
    await waitFor(() => expect(headings()).not.toContain("store"));
    expect(new URLSearchParams(screen.getByRole("status").textContent ?? "").get("columns")).toBe("-store");
    fireEvent.click(screen.getByRole("checkbox", { name: "reading and parsing the CSV" }));
    await waitFor(() => expect(document.body.textContent).toMatch(/reading and parsing the CSV.*500 ms/s));
  });
});

describe("the filters of the table", () => {
  it("act as one types, once the keys rest", async () => {
    show();
    await waitFor(() => expect(stores()).toBe("mongodb elasticsearch"));
    for (const text of ["g", "go", "god"]) type(text);
    await waitFor(() => expect(stores()).toBe("mongodb"));
    expect(questions.map((asked) => asked.get("store"))).toEqual([null, "god"]);
  });

  it("hold whatever else is changed meanwhile", async () => {
    show();
    await waitFor(() => expect(stores()).toBe("mongodb elasticsearch"));
    type("elas");
    fireEvent.click(screen.getByRole("button", { name: "total time" }));
    await waitFor(() => expect(stores()).toBe("elasticsearch"));
    expect(screen.getByLabelText("store")).toHaveProperty("value", "elas");
    expect(questions.at(-1)?.get("sort")).toBe("total_s");
  });

  it("begin at the first page", async () => {
    show();
    await waitFor(() => expect(stores()).toBe("mongodb elasticsearch"));
    fireEvent.click(screen.getByRole("button", { name: "next page" }));
    await waitFor(() => expect(questions.at(-1)?.get("offset")).toBe("100"));
    type("mongo");
    await waitFor(() => expect(questions.at(-1)?.get("store")).toBe("mongo"));
    expect(questions.at(-1)?.get("offset")).toBe("0");
  });

  it("have the operations and the axes of the run, numbers before words, in the address and the question", async () => {
    show();
    const menu = await screen.findByLabelText("batch");
    const options = (one: Element) => [...one.querySelectorAll("option")].map((option) => option.textContent);
    expect(options(menu)).toEqual(["all", "20", "100", "all"]);
    expect(options(screen.getByLabelText("operation"))).toEqual(["all", "write", "read"]);
    expect(screen.queryByLabelText("seed")).toBeNull();
    fireEvent.change(menu, { target: { value: "100" } });
    await waitFor(() => expect(questions.at(-1)?.getAll("axis")).toEqual(["batch=100"]));
    expect(new URLSearchParams(screen.getByRole("status").textContent ?? "").get("axis:batch")).toBe("100");
  });

  it("are forgotten by no old address: what it sorts by and nobody knows any more is the time", async () => {
    show("/?sort=only_s");
    await waitFor(() => expect(stores()).toBe("mongodb elasticsearch"));
    expect(questions.at(-1)?.get("sort")).toBe("recorded_at");
    fireEvent.click(screen.getByRole("button", { name: "batch" }));
    await waitFor(() => expect(questions.at(-1)?.get("sort")).toBe("axis:batch"));
  });

  it("are those of the address, also after a step back", async () => {
    show("/?store=mongo");
    await waitFor(() => expect(stores()).toBe("mongodb"));
    expect(screen.getByLabelText("store")).toHaveProperty("value", "mongo");
    act(() => screen.getByRole("button", { name: "back" }).click());
    await waitFor(() => expect(stores()).toBe("elasticsearch"));
    expect(screen.getByLabelText("store")).toHaveProperty("value", "elastic");
    await new Promise((rested) => setTimeout(rested, 400));
    expect(new URLSearchParams(screen.getByRole("status").textContent ?? "").get("store")).toBe("elastic");
  });
});

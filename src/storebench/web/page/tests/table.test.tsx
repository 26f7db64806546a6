import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { MemoryRouter, useNavigate, useSearchParams } from "react-router-dom";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { TableView } from "../src/TableView";
import { ATTEMPT } from "./data";

const questions: URLSearchParams[] = [];

beforeEach(() => {
  questions.length = 0;
  vi.stubGlobal("fetch", async (address: string) => {
    const asked = new URL(address).searchParams;
    questions.push(asked);
    const items = ["mongodb", "elasticsearch"]
      .filter((store) => store.includes(asked.get("store") ?? ""))
      .map((store) => ({ ...ATTEMPT, attempt_id: store, store }));
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
const stores = () =>
  [...document.querySelectorAll("tbody tr")].map((line) => line.children[1]?.textContent).join(" ");
const type = (text: string) => fireEvent.change(screen.getByLabelText("store"), { target: { value: text } });

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

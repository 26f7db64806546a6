import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { amount, Costs, keptPrices } from "../src/Costs";
import { BULK, CELL, FIGURES, NO_CHOICE } from "./data";

const questions: URLSearchParams[] = [];

beforeEach(() => {
  localStorage.clear();
  questions.length = 0;
  vi.stubGlobal("fetch", async (address: string) => {
    const asked = new URL(address).searchParams;
    questions.push(asked);
    const price = {
      ...CELL,
      operation: "write",
      figures_cover: "client",
      n: 1,
      left_out: 1,
      per: "GB",
      cpu_hours: 2,
      memory_gib_hours: 4,
      cost: 2 * Number(asked.get("cpu_hour")) + 4 * Number(asked.get("gib_hour")),
    };
    return new Response(JSON.stringify({ items: [price], offset: 0, more: false }));
  });
});
afterEach(() => vi.unstubAllGlobals());

const show = () => render(<Costs run="one" study={BULK} cells={[FIGURES]} choice={NO_CHOICE} />);
const type = (label: RegExp, text: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value: text } });

describe("what a run cost", () => {
  it("is asked for with the prices that are typed, and shown in their currency", async () => {
    show();
    expect(screen.getByText(/Type what an hour costs/)).toBeTruthy();
    type(/core/, "0.04");
    type(/GiB/, "0,005");
    type(/Currency/, "EUR");
    const heading = await screen.findByRole("heading", {
      name: "Write: cost of the client (its server is not in it)",
    });
    const chart = heading.closest("figure") as HTMLElement;
    await waitFor(() => expect(within(chart).getByText("0.1")).toBeTruthy());
    expect(chart.textContent).toContain("EUR for each GB");
    expect(questions.map((asked) => asked.get("gib_hour"))).toEqual(["0.005"]);
  });

  it("is told for each attempt where there is no dataset", async () => {
    render(<Costs run="one" study={{ ...BULK, dataset: null }} cells={[FIGURES]} choice={NO_CHOICE} />);
    type(/core/, "0.04");
    type(/GiB/, "0.005");
    const heading = await screen.findByRole("heading", { name: /cost of the client/ });
    expect(heading.closest("figure")?.textContent).toContain("for each attempt");
  });

  it("is kept in the browser", () => {
    show();
    type(/core/, "0.04");
    expect(keptPrices().cpu_hour).toBe("0.04");
    cleanup();
    show();
    expect(screen.getByLabelText(/core/)).toHaveProperty("value", "0.04");
  });

  it("has no price but a number that is not negative", () => {
    expect(["0.04", " 1 ", "0,5", "0", "", "-1", "x", "1e400"].map(amount)).toEqual([
      0.04,
      1,
      0.5,
      0,
      null,
      null,
      null,
      null,
    ]);
    localStorage.setItem("storebench.prices", "not JSON");
    expect(keptPrices().currency).toBe("USD");
  });
});

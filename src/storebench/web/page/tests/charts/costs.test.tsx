import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { CellFigures } from "../../src/api/types";
import { amount, Costs, keptPrices } from "../../src/charts/Costs";
import { BULK, FIGURES, NO_CHOICE, unfold } from "../data";

beforeEach(() => localStorage.clear());

const CELLS: CellFigures[] = [{ ...FIGURES, used: { n: 1, cpu_hours: 2, memory_gib_hours: 4 } }];
const show = (study = BULK, cells = CELLS) =>
  render(<Costs study={study} cells={cells} choice={NO_CHOICE} />);
const type = (label: RegExp, text: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value: text } });

describe("what a run cost", () => {
  it("is made of the prices that are typed, and shown in their currency, without a server", async () => {
    vi.stubGlobal("fetch", () => expect.unreachable());
    show();
    expect(screen.getByText(/Type the prices of an hour/)).toBeTruthy();
    type(/core/, "0.04");
    type(/GiB/, "0,005");
    type(/Currency/, "EUR");
    const heading = await screen.findByRole("heading", {
      name: "Write: cost of the client (its server is not in it)",
    });
    const chart = heading.closest("figure") as HTMLElement;
    unfold();
    await waitFor(() => expect(within(chart).getByText("0.100 EUR")).toBeTruthy());
    expect(chart.textContent).toContain("EUR per GB");
    vi.unstubAllGlobals();
  });

  it("is told for each attempt where there is no dataset", async () => {
    show({ ...BULK, dataset: null });
    type(/core/, "0.04");
    type(/GiB/, "0.005");
    const heading = await screen.findByRole("heading", { name: /cost of the client/ });
    unfold();
    expect(heading.closest("figure")?.textContent).toContain("per attempt");
  });

  it("is of the cells of which it is known what they used", async () => {
    show(BULK, [...CELLS, { ...FIGURES, store: "null", cell_key: "other", used: null }]);
    type(/core/, "1");
    type(/GiB/, "1");
    const heading = await screen.findByRole("heading", { name: /cost of the client/ });
    unfold();
    const lines = within(heading.closest("figure") as HTMLElement).getAllByRole("row");
    expect(lines.slice(1).map((line) => line.firstChild?.textContent)).toEqual(["mongodb"]);
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

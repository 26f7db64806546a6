import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { tableSpec } from "../../src/charts/charts";
import { commented, Exports, type Taken } from "../../src/charts/Exports";
import { LIGHT } from "../../src/ui/theme";

const TAKEN: Taken = {
  title: "a chart",
  source: "s/one · MongoDB 8",
  run: "s/one",
  name: "chart",
  table: [{ store: "mongodb", value: 1 }],
  sql: "SELECT 1;\n",
  note: "Medians of 7 repeats.",
  spec: () => tableSpec([{ store: "mongodb" }], LIGHT),
};
const SQL = "-- a chart\n-- s/one · MongoDB 8\n-- Medians of 7 repeats.\nSELECT 1;\n";

/** The content of the clipboard, by type. */
let copied: Record<string, string>;

class Item {
  static supports = (type: string) => type === "image/svg+xml";
  constructor(readonly content: Record<string, Promise<Blob>>) {}
}

beforeEach(() => {
  copied = {};
  vi.stubGlobal("ClipboardItem", Item);
  vi.stubGlobal("navigator", {
    clipboard: {
      writeText: async (text: string) => {
        copied.text = text;
      },
      write: async ([item]: Item[]) => {
        for (const [type, blob] of Object.entries(item?.content ?? {}))
          copied[type] = await (await blob).text();
      },
    },
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

/** Choose an item of the menu. */
function press(name: string): void {
  fireEvent.click(screen.getByRole("button", { name: "Export a chart" }));
  fireEvent.click(screen.getByRole("button", { name }));
}

describe("what is taken away", () => {
  it("is copied as figures and as the question to the database, with where it comes from", async () => {
    render(<Exports {...TAKEN} />);
    press("Copy a chart as CSV");
    await screen.findByText("CSV copied");
    expect(copied.text).toBe("store,value\r\nmongodb,1\r\n");
    press("Copy a chart as SQL");
    await screen.findByText("SQL copied");
    expect(copied.text).toBe(SQL);
  });

  it("is copied as a drawing, for programs that draw and for those that take texts", async () => {
    render(<Exports {...TAKEN} />);
    press("Copy a chart as SVG");
    await screen.findByText("SVG copied");
    expect(Object.keys(copied)).toEqual(["text/plain", "image/svg+xml"]);
    expect(copied["text/plain"]).toMatch(/^<svg/);
    for (const text of ["s/one · MongoDB 8", "Medians of 7 repeats."])
      expect(copied["text/plain"]).toContain(text);
  });

  it("is a text where the page came without HTTPS, and no picture, which it says", async () => {
    vi.stubGlobal("navigator", {});
    const old = vi.fn(() => true);
    document.execCommand = old;
    render(<Exports {...TAKEN} />);
    press("Copy a chart as CSV");
    await screen.findByText("CSV copied");
    expect(old).toHaveBeenCalledWith("copy");
    expect(document.querySelector("textarea")).toBeNull();
    press("Copy a chart as PNG");
    expect(
      await screen.findByText(/Without HTTPS, the browser does not allow copying pictures/),
    ).toBeTruthy();
    old.mockReturnValue(false);
    press("Copy a chart as SQL");
    expect(await screen.findByText(/does not allow copying:/)).toBeTruthy();
  });

  it("is offered by one button, which opens nine ways", () => {
    render(<Exports {...TAKEN} />);
    expect(screen.getAllByRole("button")).toHaveLength(1);
    fireEvent.click(screen.getByRole("button", { name: "Export a chart" }));
    expect(screen.getAllByRole("button", { name: /^(Save|Copy) a chart as/ })).toHaveLength(9);
  });

  it("cannot end the comment of its question", () => {
    expect(commented({ ...TAKEN, note: "one\nDROP TABLE x;" })).toBe(
      "-- a chart\n-- s/one · MongoDB 8\n-- one\n-- DROP TABLE x;\nSELECT 1;\n",
    );
  });
});

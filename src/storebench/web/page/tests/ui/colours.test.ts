import { describe, expect, it } from "vitest";
import { colourNames, legendOf, painter } from "../../src/ui/colours";
import { DARK, LIGHT } from "../../src/ui/theme";
import { BULK, FIGURES } from "../data";

const stores = Array.from(
  { length: 16 },
  (_, n) => ({ ...BULK.stores[0], name: `s${n}` }) as (typeof BULK.stores)[0],
);
const STUDY = { ...BULK, stores };
const cell = (store: string) => ({ ...FIGURES, store });

describe("a store's colour", () => {
  it("is that of its place in the study's list, whatever is shown", () => {
    const few = painter(STUDY, [cell("s3")], "store");
    const many = painter(
      STUDY,
      stores.map(({ name }) => cell(name)),
      "store",
    );
    for (const theme of [LIGHT, DARK]) {
      expect(few(theme, "s3")).toBe(theme.colours[3]);
      expect(many(theme, "s3")).toBe(theme.colours[3]);
    }
  });

  it("is that of no other store", () => {
    for (const theme of [LIGHT, DARK]) {
      const colour = painter(STUDY, [], "store");
      expect(new Set(stores.map(({ name }) => colour(theme, name))).size).toBe(stores.length);
    }
  });

  it("is a shade of the store's colour for another server, and the same in each chart", () => {
    const colour = painter(STUDY, [cell("s1@one")], "store");
    const other = painter(STUDY, [cell("s1"), cell("s1@one"), cell("s1@three")], "store");
    expect(colour(LIGHT, "s1@one")).toBe(other(LIGHT, "s1@one"));
    const all = ["s1", "s1@one", "s1@three"].map((name) => other(LIGHT, name));
    expect(new Set(all).size).toBe(3);
  });

  it("is in the legend of what a chart has", () => {
    const entries = legendOf(STUDY, [cell("s1"), cell("s2")], [cell("s2")], "store");
    expect(entries.map(({ name, colour }) => [name, colour(LIGHT)])).toEqual([["s2", LIGHT.colours[2]]]);
    expect(colourNames(STUDY, [cell("mine")], "store").at(-1)).toBe("mine");
  });
});

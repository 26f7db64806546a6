import * as vega from "vega";
import { compile } from "vega-lite";
import { describe, expect, it } from "vitest";
import { flameSpec } from "../../src/charts/flame";
import { boxesOf, frameAt, stacksOf, topFunctions, treeOf } from "../../src/model/profile";
import { LIGHT } from "../../src/ui/theme";

const FOLDED = "main (a.py);send (b.py) 6\nmain (a.py);send (b.py);send (b.py) 2\nmain (a.py) 1\nidle; x\n";
const stacks = stacksOf(FOLDED);
const root = treeOf(stacks);
const draw = (path: string[]) =>
  new vega.View(
    vega.parse(compile(flameSpec(frameAt(root, path), path, root.total, "flames", 800, LIGHT)).spec),
    {
      renderer: "none",
    },
  ).toSVG();

describe("a profile", () => {
  it("is a tree of functions, each with the samples of the functions that it called", () => {
    expect(root.total).toBe(9);
    expect(boxesOf(root, [], 1).map(({ name, depth, from, to }) => [name, depth, from, to])).toEqual([
      ["all", 0, 0, 9],
      ["main (a.py)", 1, 0, 9],
      ["send (b.py)", 2, 0, 8],
      ["send (b.py)", 3, 0, 2],
    ]);
    expect(boxesOf(root, [], 3)).toHaveLength(3);
  });

  it("lists functions by their own samples, and counts a recursion once", () => {
    expect(topFunctions(stacks, 5)).toEqual([
      { name: "send (b.py)", self: 8, total: 8 },
      { name: "main (a.py)", self: 1, total: 9 },
    ]);
    expect(topFunctions(stacks, 1)).toHaveLength(1);
  });

  it("shows each function, and only the functions below the chosen one", async () => {
    const all = await draw([]);
    for (const name of ["all", "main (a.py)", "send (b.py)"]) expect(all).toContain(`>${name}<`);
    const part = await draw(["main (a.py)", "send (b.py)"]);
    expect(part).toContain(">send (b.py)<");
    expect(part).not.toContain(">main (a.py)<");
  });
});

/** Draws charts. What does so is large: it comes when the first chart is to be drawn, and never before what can be read without it. */
import type { View, ViewOptions } from "vega";
import type { TopLevelSpec } from "vega-lite";

let coming: Promise<typeof import("./vega")> | undefined;

/** Let it come: for what is about to be drawn. Rejects where it is away; the next one asks again. */
export function vega(): Promise<typeof import("./vega")> {
  coming ??= import("./vega").catch((error: unknown) => {
    coming = undefined;
    throw new Error(`Load the page again: what draws the charts has not come (${error})`);
  });
  return coming;
}

/** A chart, which is not drawn yet. */
export async function viewOf(spec: TopLevelSpec, options: ViewOptions): Promise<View> {
  const { compile, parse, View } = await vega();
  return new View(parse(compile(spec).spec), options);
}

/** How long a chart waits at most for what is more urgent, in ms. */
const PATIENCE_MS = 500;

/** When the browser has nothing else to do: rows are on the screen, and nobody types. */
const idle = () =>
  new Promise<void>((done) => {
    if (typeof requestIdleCallback === "undefined") setTimeout(done);
    else requestIdleCallback(() => done(), { timeout: PATIENCE_MS });
  });

let last: Promise<unknown> = Promise.resolve();

/** Draw one chart after the other, each when there is time: `draw` is what is to be done when it is its turn. */
export function inTurn<T>(draw: () => Promise<T>): Promise<T> {
  const turn = last.then(idle).then(draw);
  last = turn.catch(() => {});
  return turn;
}

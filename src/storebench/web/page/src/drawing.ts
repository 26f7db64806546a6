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

/** The smallest image that there is. */
const DOT = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=";

/** When an image has loaded. Meanwhile the browser can show what is drawn, and the page's event `load` waits for the image. */
const loaded = () =>
  new Promise<void>((done) => {
    const image = new Image();
    image.onload = () => done();
    image.onerror = () => done();
    image.src = DOT;
  });

let due = idle;

/**
 * Draw charts while the page loads, for pages that are complete when they have loaded: a browser without a window takes its picture, or prints
 * the page, at the event `load`, and then nothing but time would bring the charts.
 */
export function drawWhileLoading(): void {
  due = loaded;
}

let last: Promise<unknown> = Promise.resolve();

/** Draw one chart after the other, each when there is time, or while the page loads: `draw` is what is to be done when it is its turn. */
export function inTurn<T>(draw: () => Promise<T>): Promise<T> {
  const turn = last.then(due).then(draw);
  last = turn.catch(() => {});
  return turn;
}

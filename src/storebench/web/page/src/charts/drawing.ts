/** Draw charts. Vega is large: the browser loads it for the first chart, after all content that needs no chart. */
import type { TooltipHandler, View, ViewOptions } from "vega";
import type { TopLevelSpec } from "vega-lite";

let coming: Promise<typeof import("./vega")> | undefined;

/** Load Vega. Rejects if loading fails; the next call tries again. */
export function vega(): Promise<typeof import("./vega")> {
  coming ??= import("./vega").catch((error: unknown) => {
    coming = undefined;
    throw new Error(`Load the page again: the script that draws the charts did not load (${error})`);
  });
  return coming;
}

/** Return a chart that is not drawn yet. */
export async function viewOf(spec: TopLevelSpec, options: ViewOptions): Promise<View> {
  const { compile, parse, View } = await vega();
  return new View(parse(compile(spec).spec), options);
}

/** The maximum time that a chart waits for more urgent work, in ms. */
const PATIENCE_MS = 500;

/** Wait until the browser is idle: rows are on the screen, and nobody types. */
const idle = () =>
  new Promise<void>((resolve) => {
    if (typeof requestIdleCallback === "undefined") setTimeout(resolve);
    else requestIdleCallback(() => resolve(), { timeout: PATIENCE_MS });
  });

/** The smallest image that there is. */
const DOT = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=";

/** Wait until an image has loaded. Meanwhile the browser can paint, and the page's `load` event waits for the image. */
const loaded = () =>
  new Promise<void>((resolve) => {
    const image = new Image();
    image.onload = () => resolve();
    image.onerror = () => resolve();
    image.src = DOT;
  });

let due = idle;

/**
 * Draw charts before the page's `load` event: a headless browser takes its screenshot, or prints the page, at this event, and would
 * otherwise miss the charts.
 */
export function drawWhileLoading(): void {
  due = loaded;
}

let last: Promise<unknown> = Promise.resolve();

/** Draw charts one after the other, each when the browser is idle, or while the page loads. `draw` runs when its turn comes. */
export function inTurn<T>(draw: () => Promise<T>): Promise<T> {
  const turn = last.then(due).then(draw);
  last = turn.catch(() => {});
  return turn;
}

/** Return a handler that shows a mark's figures beside the mouse, within `host`. It never interprets a text as HTML. */
export function tooltip(host: HTMLElement): TooltipHandler {
  return (_handler, event, _item, value) => {
    let box = host.querySelector<HTMLElement>(".sb-tip");
    if (value === null || value === undefined || typeof value !== "object") {
      box?.remove();
      return;
    }
    if (!box) {
      box = document.createElement("div");
      box.className = "sb-tip";
      box.setAttribute("aria-hidden", "true"); // the table below the chart serves readers who cannot see the tooltip
      host.append(box);
    }
    box.replaceChildren(
      ...Object.entries(value).flatMap(([name, text]) => {
        if (text === "null") return []; // Vega-Lite's text for an absent value
        const line = document.createElement("div");
        const strong = document.createElement("strong");
        strong.textContent = String(text);
        line.append(`${name}: `, strong);
        return [line];
      }),
    );
    const around = host.getBoundingClientRect();
    const left = event.clientX - around.left + 14;
    box.style.left = `${Math.max(0, Math.min(left, around.width - box.offsetWidth - 4))}px`;
    box.style.top = `${event.clientY - around.top + 16}px`;
  };
}

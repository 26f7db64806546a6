/** Vega, which draws charts. It would be most of the page's script, so drawing.ts loads it separately. */
export { parse, View } from "vega";
export { compile } from "vega-lite";

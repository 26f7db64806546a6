/** What draws: most of what the page's script would be, so it comes by itself (drawing.ts). */
export { parse, View } from "vega";
export { compile } from "vega-lite";

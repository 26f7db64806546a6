/** Draw a flame graph: each function below the function that called it, as wide as its share of the samples. */
import type { TopLevelSpec } from "vega-lite";
import { boxesOf, type Frame } from "../model/profile";
import { colourOf, pale, type Theme } from "../ui/theme";
import { frame } from "./frame";

const LINE_HEIGHT = 18;
const LETTER_WIDTH = 7; // of most letters at 11 pixels, in pixels
const LEAST_WIDTH = 1; // of a shown frame, in pixels

/** Return a number that depends on the text alone, so that a file has the same colour in each profile. */
const placeOf = (text: string) =>
  [...text].reduce((sum, letter) => (31 * sum + letter.charCodeAt(0)) % 9973, 7);

/** Return the file of a function: the text in its last parentheses. */
const fileOf = (name: string) => /\(([^()]*)\)$/.exec(name)?.[1] ?? name;

const percent = (share: number) => `${(100 * share).toPrecision(3)} %`;

/** Return the chart of a frame and of the frames below it. `samples`: of the whole profile. A mark's `path` leads to its frame. */
export function flameSpec(
  shown: Frame,
  path: string[],
  samples: number,
  description: string,
  width: number,
  theme: Theme,
): TopLevelSpec {
  const pixels = width / shown.total;
  const values = boxesOf(shown, path, LEAST_WIDTH / pixels).map(({ name, path, depth, from, to }) => ({
    function: name,
    path,
    depth,
    from,
    to,
    middle: (from + to) / 2,
    samples: `${to - from}, ${percent((to - from) / samples)} of all`,
    label: shortened(name, Math.floor(((to - from) * pixels) / LETTER_WIDTH) - 1),
    colour: depth || path.length ? pale(theme, colourOf(theme, placeOf(fileOf(name)))) : theme.grid,
  }));
  const depths = 1 + Math.max(...values.map(({ depth }) => depth));
  const x = { type: "quantitative" as const, scale: { domain: [0, shown.total], nice: false }, axis: null };
  const y = { field: "depth", type: "ordinal" as const, scale: { paddingInner: 0.06 }, axis: null };
  const tooltip = ["function", "samples"].map((field) => ({ field, type: "nominal" as const }));
  return {
    ...frame(description, width, theme),
    height: depths * LINE_HEIGHT,
    data: { values },
    layer: [
      {
        mark: { type: "rect", clip: true, stroke: theme.ground, strokeWidth: 0.5, cursor: "pointer" },
        encoding: {
          x: { ...x, field: "from" },
          x2: { field: "to" },
          y,
          color: { field: "colour", type: "nominal", scale: null },
          tooltip,
        },
      },
      {
        mark: {
          type: "text",
          clip: true,
          fontSize: 11,
          color: theme.text,
          baseline: "middle",
          tooltip: null,
        },
        transform: [{ filter: "datum.label !== ''" }],
        encoding: { x: { ...x, field: "middle" }, y, text: { field: "label" } },
      },
    ],
  };
}

/** Return a name that fits into a number of letters; empty if hardly any letter fits. */
function shortened(name: string, letters: number): string {
  if (name.length <= letters) return name;
  return letters < 4 ? "" : `${name.slice(0, letters - 1)}…`;
}

import type { Soundness } from "../model/format";
import type { Theme } from "../ui/theme";

/** The mark of an attempt's state, in every chart. */
const MARKS: Record<Soundness, string> = {
  verified: "circle",
  "client-bound": "triangle-up",
  "service-bound": "triangle-down",
  disturbed: "M0,-1.1L1.1,0L0,1.1L-1.1,0Z", // a diamond as large as the other marks: Vega's own diamond is small
  failed: "cross",
  stopped: "M-.9,-.9L.9,.9M-.9,.9L.9,-.9",
  "not run": "stroke",
  superseded: "square",
};

/** Return the settings that all charts share. `width` is the width of the whole picture, including labels. */
export function frame(description: string, width: number, theme: Theme) {
  // the same font and size as in styles.css
  const words = { labelColor: theme.text, titleColor: theme.text, labelFontSize: 12, titleFontSize: 12 };
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    description,
    width,
    autosize: { type: "fit-x" as const, contains: "padding" as const },
    padding: 8,
    config: {
      mark: { aria: false }, // the surrounding elements describe the chart, and have its figures as a table
      background: "transparent",
      view: { stroke: "transparent" },
      font: "Helvetica, Arial, sans-serif",
      axis: {
        ...words,
        gridColor: theme.grid,
        domainColor: theme.grid,
        tickColor: theme.grid,
        titleFontWeight: "normal" as const,
        labelLimit: width / 2,
      },
      axisQuantitative: { tickCount: Math.ceil(width / 100) },
      legend: {
        ...words,
        titleFontWeight: "normal" as const,
        labelLimit: width,
      },
    },
  };
}

/** Encode states by marks, for the states that occur: the legend must not list others. */
export function shape(marks: { state: string }[], theme: Theme) {
  const states = (Object.keys(MARKS) as Soundness[]).filter((state) =>
    marks.some((mark) => mark.state === state),
  );
  return {
    field: "state",
    type: "nominal" as const,
    title: null,
    scale: { domain: states, range: states.map((state) => MARKS[state]) },
    // the mark of a verified attempt alone needs no explanation
    legend: states.some((state) => state !== "verified")
      ? { orient: "bottom" as const, direction: "horizontal" as const, symbolStrokeColor: theme.text }
      : null,
  };
}

/** Below this width, names stand above their bars, not beside them. */
export const NARROW = 520;
export const NAME_HEIGHT = 18;

/** Return an axis of `count` names in order, with `band` pixels for each name, and the total `height`. */
export function lines(field: string, count: number, band: number, width: number) {
  const name = { field, type: "nominal" as const, title: null, sort: null };
  if (width >= NARROW)
    return { height: count * (band + 6), y: { ...name, scale: { paddingInner: 6 / (band + 6) } } };
  const step = band + NAME_HEIGHT;
  return {
    height: count * step - NAME_HEIGHT,
    y: {
      ...name,
      scale: { paddingInner: NAME_HEIGHT / step, paddingOuter: 0 },
      axis: {
        labelAlign: "left" as const,
        labelOffset: -(band + NAME_HEIGHT) / 2,
        labelPadding: 0,
        labelLimit: width - 16,
        ticks: false,
        domain: false,
      },
    },
  };
}

export const quantity = (field: string, title: string) => ({ field, type: "quantitative" as const, title });

/** Return an axis's expression that shows these texts at these values. */
export const labelled = (texts: [number, string][]): string =>
  `${JSON.stringify(Object.fromEntries(texts))}[datum.value]`;

/** Return an axis's ticks at these values, each with its text. */
export const ticked = (values: number[], tick: (value: number) => string) => ({
  values,
  labelExpr: labelled(values.map((value) => [value, tick(value)])),
});

/** Encode the values of a field by their colours. Only a picture has a legend: the page shows its own. */
export const coloured = (
  field: string,
  title: string | null,
  colours: (readonly [value: string, colour: string])[],
  picture: boolean,
) => ({
  field,
  type: "nominal" as const,
  title,
  scale: { domain: colours.map(([value]) => value), range: colours.map(([, colour]) => colour) },
  legend: picture ? { orient: "top" as const, columns: 6 } : null,
});

/** Return about `count` round values of a linear axis: multiples of 1, 2 or 5 times a power of ten. */
export function niceTicks([least, most]: [number, number], count: number): number[] {
  const rough = (most - least) / count;
  if (!(rough > 0)) return [least];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5].find((factor) => factor * power >= rough * 0.999) ?? 10) * power;
  const first = Math.ceil(least / step - 1e-9);
  const last = Math.floor(most / step + 1e-9);
  // rounded, because a sum of steps is not exact
  return Array.from({ length: last - first + 1 }, (_, n) => Number(((first + n) * step).toPrecision(12)));
}

/** Return a tooltip's field with an exact figure. */
export const figure = (field: string, title?: string) => ({
  field,
  format: ",.6~r",
  ...(title ? { title } : {}),
});

/** Return a logarithmic axis's grid lines: only powers of ten on an axis with at least 3 of them, else also their multiples by 2 and 5. */
export function tens([least = 1, most = 1]: number[]): { values?: number[] } {
  const [first, last] = [Math.ceil(Math.log10(least)), Math.floor(Math.log10(most))];
  const steps = last - first + 1 < 3 ? [1, 2, 5] : [1];
  const powers = Array.from({ length: Math.max(0, last - first + 3) }, (_, n) => 10 ** (first - 1 + n));
  const values = powers
    .flatMap((power) => steps.map((step) => step * power))
    .filter((value) => least <= value && value <= most);
  return values.length < 2 ? {} : { values };
}

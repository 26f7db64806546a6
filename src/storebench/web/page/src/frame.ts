import type { Soundness } from "./format";

export interface Theme {
  /** What is behind it all, about: the page around a chart has its own. */
  ground: string;
  text: string;
  grid: string;
  /** For what has a colour each, in its order. */
  colours: string[];
}

/** Okabe and Ito's colours, which colour-blind people can tell apart; black and yellow, which a theme would swallow, left out. */
export const LIGHT: Theme = {
  ground: "#ffffff",
  text: "#27272a",
  grid: "#d4d4d8",
  colours: ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#8C8C8C"],
};
/** The same hues, light enough for a dark ground. */
export const DARK: Theme = {
  ground: "#18181b",
  text: "#e4e4e7",
  grid: "#52525b",
  colours: ["#4D9FE6", "#F2B233", "#2BBF93", "#F27D3D", "#E39AC2", "#9BD4F7", "#B4B4B4"],
};

/** Of the one at this place; where there are more than colours they begin again. */
export function colourOf(theme: Theme, place: number): string {
  return theme.colours[place % theme.colours.length] as string;
}

/** A colour with more of the ground in it than of itself. */
export function pale(theme: Theme, colour: string): string {
  const parts = [colour, theme.ground].map((one) => one.match(/[\da-f]{2}/gi) ?? []);
  const [own, ground] = parts.map((part) => part.map((text) => Number.parseInt(text, 16)));
  const mixed = own?.map((part, at) => Math.round(0.4 * part + 0.6 * (ground?.[at] ?? 0)));
  return `#${mixed?.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/** How an attempt is marked, in every chart. */
const MARKS: Record<Soundness, string> = {
  verified: "circle",
  "client-bound": "triangle-up",
  "service-bound": "triangle-down",
  disturbed: "M0,-1.1L1.1,0L0,1.1L-1.1,0Z", // a diamond, as large as the others: Vega's own is small
  failed: "cross",
  stopped: "M-.9,-.9L.9,.9M-.9,.9L.9,-.9",
  "not run": "stroke",
  superseded: "square",
};

/** What all charts share; their width is that of the whole picture, labels included. */
export function frame(description: string, width: number, theme: Theme) {
  // font and size are those of styles.css, too
  const words = { labelColor: theme.text, titleColor: theme.text, labelFontSize: 12, titleFontSize: 12 };
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    description,
    width,
    autosize: { type: "fit-x" as const, contains: "padding" as const },
    padding: 8,
    config: {
      mark: { aria: false }, // what is around it says what it shows, and has its figures as a table
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

/** Marks for the states that there are: a legend of others would be a riddle. */
export function shape(marks: { state: string }[], theme: Theme) {
  const states = (Object.keys(MARKS) as Soundness[]).filter((state) =>
    marks.some((mark) => mark.state === state),
  );
  return {
    field: "state",
    type: "nominal" as const,
    title: null,
    scale: { domain: states, range: states.map((state) => MARKS[state]) },
    legend: { orient: "bottom" as const, direction: "horizontal" as const, symbolStrokeColor: theme.text },
  };
}

/** Below it names stand above their bars, not beside them. */
export const NARROW = 520;
export const NAME_HEIGHT = 18;

/** An axis of `count` names, in their order; each has a band of that many pixels, and all of them `height`. */
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

/** An exact figure where the mouse rests. */
export const figure = (field: string, title?: string) => ({
  field,
  format: ",.6~r",
  ...(title ? { title } : {}),
});

/** Where a logarithmic axis has its lines: at the powers of ten alone where there are several, for more would be a hatching, else at 1, 2, 5. */
export function tens([least = 1, most = 1]: number[]): { values?: number[] } {
  const [first, last] = [Math.ceil(Math.log10(least)), Math.floor(Math.log10(most))];
  const steps = last - first + 1 < 3 ? [1, 2, 5] : [1];
  const powers = Array.from({ length: Math.max(0, last - first + 3) }, (_, n) => 10 ** (first - 1 + n));
  const values = powers
    .flatMap((power) => steps.map((step) => step * power))
    .filter((value) => least <= value && value <= most);
  return values.length < 2 ? {} : { values };
}

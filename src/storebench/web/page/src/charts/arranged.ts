/** Arrange the bars of a chart and their names from top to bottom, in pixels. */

import { NARROW } from "./frame";

/** The height of a bar, and the gaps between bars and between panels. */
const BAR = 16;
const GAP = 5;
const PANEL_GAP = 12;
/** The height of a line of a name above its bar. */
const LINE = 16;
/** About the width of a letter. */
export const LETTER = 6.8;
/** The largest share of a wide and of a narrow chart's width that names beside the bars may take. */
const [MOST_NAMES, MOST_NARROW] = [0.45, 0.3];
/** The width of the axis's padding, and of a chart's padding. */
const PADDING = 30;

/** A range without names, in which lines may cross the chart. */
export interface Band {
  above: number;
  below: number;
}

interface Place<T> {
  bar: T;
  top: number;
  bottom: number;
  /** The bands of the bar's panel. */
  bands: Band[];
}

interface Text {
  middle: number;
  text: string;
  heading: boolean;
}

export interface Arranged<T> {
  /** Whether the names stand beside their bars, and not above. */
  beside: boolean;
  /** About the width of the area with bars. */
  plot: number;
  height: number;
  places: Place<T>[];
  bands: Band[];
  /** The names beside bars. */
  names: Text[];
  /** The names above bars, and the names of panels. */
  texts: Text[];
}

/** Return the positions of panels, names and bars. Names too long for a place beside their bars stand above them, complete. */
export function arranged<T>(
  panels: { name: string; bars: { bar: T; name: string }[] }[],
  width: number,
): Arranged<T> {
  const longest = LETTER * Math.max(0, ...panels.flatMap(({ bars }) => bars.map(({ name }) => name.length)));
  const beside = longest <= (width >= NARROW ? MOST_NAMES : MOST_NARROW) * width;
  const plot = Math.max(80, width - (beside ? longest : 0) - PADDING);
  const letters = Math.max(12, Math.floor(plot / LETTER));
  const result: Arranged<T> = { beside, plot, height: 0, places: [], bands: [], names: [], texts: [] };
  let top = 0;
  const write = (text: string, heading: boolean) => {
    const lines = wrapped(text, letters);
    result.texts.push({ middle: top + (LINE * lines.length) / 2, text: lines.join("\n"), heading });
    top += LINE * lines.length;
  };
  for (const panel of panels) {
    if (panel.name) write(panel.name, true);
    const bands: Band[] = [];
    if (beside) bands.push({ above: top, below: top });
    for (const { bar, name } of panel.bars) {
      if (!beside) {
        write(name, false);
        bands.push({ above: top, below: top + BAR });
      } else result.names.push({ middle: top + BAR / 2, text: name, heading: false });
      result.places.push({ bar, top, bottom: top + BAR, bands });
      top += BAR + GAP;
    }
    const last = bands.at(-1);
    if (last) last.below = Math.max(last.below, top - GAP);
    result.bands.push(...bands);
    top += PANEL_GAP - GAP;
  }
  result.height = Math.max(BAR, top - PANEL_GAP + GAP);
  return result;
}

/** Break a text into lines of at most this many letters, between words if possible. */
export function wrapped(text: string, letters: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    if (line !== undefined && `${line} ${word}`.length <= letters)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(...(word.match(new RegExp(`.{1,${letters}}`, "g")) ?? [""]));
  }
  return lines;
}

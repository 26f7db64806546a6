import type { TopLevelSpec } from "vega-lite";
import type { CellArtifacts, CellFigures, Chart, Metric, Study } from "../api/types";
import { figureOf, metricNamed } from "../model/study";
import { figureIn } from "../model/units";
import type { Theme } from "../ui/theme";

/** The stretches of time that a chart shades, one for each cell. */
export interface Bands {
  title: string;
  /** The metrics with the seconds at which each stretch begins and ends. */
  begin: Metric;
  end: Metric;
  stretches: Stretch[];
}

/** A cell's stretch, in seconds of its series. */
interface Stretch {
  cell: CellArtifacts;
  from: number;
  to: number;
}

/** Return the stretches of a chart's band, of the attempts whose series the cells show; undefined if no attempt has a stretch. */
export function bandsOf(
  study: Study,
  { band }: Pick<Chart, "band">,
  measured: CellFigures[],
  cells: CellArtifacts[],
): Bands | undefined {
  const [begin, end] = [metricNamed(study, band?.begin ?? ""), metricNamed(study, band?.end ?? "")];
  if (!band || !begin || !end) return undefined;
  const attempts = new Map(
    measured.flatMap(({ attempts }) => attempts).map((attempt) => [attempt.attempt_id, attempt]),
  );
  const stretches = cells.flatMap((cell) => {
    const attempt = attempts.get(cell.series_of ?? "");
    const [from, to] = [begin, end].map(({ name }) => attempt && figureOf(study, attempt, name));
    return typeof from === "number" && typeof to === "number" ? [{ cell, from, to }] : [];
  });
  return stretches.length ? { title: band.title, begin, end, stretches } : undefined;
}

/** Return the sentence below a chart that explains its bands. */
export const bandsText = ({ title, begin, end, stretches }: Bands): string =>
  `Shaded${stretches.length > 1 ? ", each in the colour of its curve" : ""}: ${title} (${begin.title}, to ${end.title}).`;

/** Return a cell's stretch as columns of the chart's table; empty if the cell has none. */
export function bandColumns(bands: Bands | undefined, cell: CellArtifacts): Record<string, number | null> {
  if (!bands) return {};
  const stretch = bands.stretches.find((stretch) => stretch.cell === cell);
  return { [bands.begin.name]: stretch?.from ?? null, [bands.end.name]: stretch?.to ?? null };
}

/** A stretch with the fields that encode its cell: its colour, its dashes and its tooltip. */
export interface BandMark {
  from: number;
  to: number;
  /** The name of the cell among the chart's cells. */
  label: string;
  [field: string]: unknown;
}

/** A layer of a specification. */
export type Layer = Extract<TopLevelSpec, { layer: unknown }>["layer"][number];
type Encoding = NonNullable<Extract<Layer, { mark: unknown }>["encoding"]>;

/** The largest number of stretches that have a label each. */
const LABELLED = 5;
const LINE_HEIGHT = 14;

/** The encodings of a stretch, which are those of its cell's curve. */
type Encodings = { x: (field: string) => Encoding["x"] } & Pick<Encoding, "color" | "strokeDash">;

/** Return the layers of the stretches behind the curves: a pale area with an edge at both ends, which has dashes if the curve has them. */
export function bandLayers({ title }: Bands, marks: BandMark[], { x, color, ...dashed }: Encodings): Layer[] {
  const values = marks.map((of) => ({
    ...of,
    stretch: `${figureIn("s", of.from)} to ${figureIn("s", of.to)}`,
  }));
  return [
    {
      name: "band",
      data: { values },
      mark: { type: "rect", opacity: 0.14 },
      encoding: {
        x: x("from"),
        x2: { field: "to" },
        color,
        tooltip: [{ field: "cell" }, { field: "dataset" }, { field: "stretch", title }],
      },
    },
    ...["from", "to"].map((end) => ({
      name: `band_${end}`,
      data: { values },
      mark: { type: "rule" as const, strokeWidth: 1, opacity: 0.8 },
      encoding: { x: x(end), color, ...dashed },
    })),
  ];
}

/**
 * Return the layers of the labels of stretches, which belong before the curves. They name the cells, because a colour alone does not tell
 * stretches apart for all readers. `last`: the largest second of the curves.
 */
export function bandLabels(
  { title }: Bands,
  marks: BandMark[],
  last: number,
  theme: Theme,
  { x }: Pick<Encodings, "x">,
): Layer[] {
  const named = marks.length > 1 && marks.length <= LABELLED;
  return [...marks]
    .sort((one, other) => one.from - other.from)
    .slice(0, named ? LABELLED : 1)
    .flatMap(({ from, label }, row) => {
      const text = named ? `${title}: ${label}` : title;
      // a label beside a late stretch would exceed the chart
      const late = from > last / 2;
      const mark = {
        type: "text" as const,
        fontSize: 12,
        align: late ? ("right" as const) : ("left" as const),
        baseline: "top" as const,
        dx: late ? -3 : 3,
      };
      const layer = {
        data: { values: [{ from, text: late ? `${text} ▸` : `▸ ${text}` }] },
        // below the label of the time before the measurement
        encoding: { x: x("from"), y: { value: LINE_HEIGHT * (row + 1) + 2 }, text: { field: "text" } },
      };
      return [
        // a text over curves is legible with an edge of the background
        {
          ...layer,
          name: `band_ground_${row}`,
          mark: { ...mark, stroke: theme.ground, strokeWidth: 4, opacity: 0.8 },
        },
        { ...layer, name: `band_text_${row}`, mark: { ...mark, color: theme.text } },
      ];
    });
}

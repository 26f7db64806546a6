import { type ReactNode, useEffect, useRef, useState } from "react";
import * as vega from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import { download } from "./download";
import { csv, figureText, heading, textClass } from "./format";
import { LIGHT, type Theme } from "./frame";
import { ScrollTable } from "./ScrollTable";
import { useTheme } from "./theme";
import { tooltip } from "./tooltip";

/** Pixels: of a picture that is taken away, whatever the screen. */
const SAVED_WIDTH = 900;

/** `picture`: it is taken away, and has no legend beside it but its own. */
type Spec = (width: number, theme: Theme, picture: boolean) => TopLevelSpec;

interface Props {
  title: string;
  /** Which run, or runs: said in pictures that are taken away. */
  source: string;
  /** The chart's file name without its ending. */
  name: string;
  /** What it shows, in a sentence: read out instead of the picture. */
  description: string;
  spec: Spec;
  /** What its colours mean. */
  legend?: ReactNode;
  /** What the chart is drawn from; it is its text alternative, too. */
  rows: Record<string, unknown>[];
  /** What a reader must know of it: below it, and in pictures that are taken away. */
  note?: string | null;
}

/** A chart with its figures as a table, and all of it to take away. */
export function Chart({ title, source, name, description, legend, spec, rows, note }: Props) {
  const whole = useRef<HTMLElement>(null);
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [failed, setFailed] = useState<string>();
  const theme = useTheme();

  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    const [element, host] = [place.current, whole.current];
    if (!element || !host || width < 50) return;
    let drawn: vega.View | undefined;
    setFailed(undefined);
    try {
      drawn = new vega.View(vega.parse(compile(spec(width, theme, false)).spec), {
        renderer: "svg",
        container: element,
        hover: true,
        tooltip: tooltip(host),
      });
      drawn.runAsync().catch((error: unknown) => drawn && setFailed(String(error)));
    } catch (error) {
      setFailed(String(error));
    }
    return () => {
      drawn?.finalize();
      drawn = undefined;
      host.querySelector(".sb-tip")?.remove();
    };
  }, [spec, width, theme]);

  return (
    <figure className="sb-chart" ref={whole}>
      <figcaption>
        <h3>{title}</h3>
        <Exports name={name} title={title} source={source} rows={rows} spec={spec} note={note} />
      </figcaption>
      {legend}
      {failed ? <p role="alert">The chart cannot be drawn: {failed}</p> : null}
      <div ref={place} role="img" aria-label={description} className="sb-plot" />
      {note ? <p className="sb-note">{note}</p> : null}
      <details>
        <summary>Figures</summary>
        <Figures rows={rows} caption={description} />
      </details>
    </figure>
  );
}

/** A text in lines that a picture has room for. */
function wrapped(text: string): string[] {
  return text.match(/.{1,130}(?: |$)/g) ?? [];
}

/** A picture on white, with its title: what is taken away must be readable by itself. */
function picture({
  title,
  source,
  spec,
  note,
}: Pick<Props, "title" | "source" | "spec" | "note">): vega.View {
  const whole = {
    ...spec(SAVED_WIDTH, LIGHT, true),
    background: "white",
    padding: 12,
    title: { text: title, subtitle: [source, ...wrapped(note ?? "")], anchor: "start" as const },
  };
  return new vega.View(vega.parse(compile(whole).spec), { renderer: "none" });
}

/** Buttons that hand out a picture and its rows. */
export function Exports({ name, title, source, rows, spec, note }: Omit<Props, "description" | "legend">) {
  const svg = async () =>
    download(`${name}.svg`, await picture({ title, source, spec, note }).toSVG(), "image/svg+xml");
  const png = async () => {
    const image = await fetch(await picture({ title, source, spec, note }).toImageURL("png", 2));
    download(`${name}.png`, await image.blob(), "image/png");
  };
  const files: [string, () => void][] = [
    ["SVG", svg],
    ["PNG", png],
    ["CSV", () => download(`${name}.csv`, csv(rows), "text/csv")],
    ["JSON", () => download(`${name}.json`, JSON.stringify(rows, null, 2), "application/json")],
  ];
  return (
    <span className="sb-exports">
      {files.map(([type, save]) => (
        <button key={type} type="button" onClick={save} aria-label={`Save ${title} as ${type}`}>
          {type}
        </button>
      ))}
    </span>
  );
}

/** Rows as a plain table. */
export function Figures({ rows, caption }: { rows: Record<string, unknown>[]; caption: string }) {
  const first = rows[0];
  if (!first) return <p>None</p>;
  const names = Object.keys(first);
  return (
    <ScrollTable label={caption} columns={names.map(heading)}>
      {rows.map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row has no name of its own, and rows keep their order
        <tr key={index}>
          {names.map((name) => (
            <td
              key={name}
              className={typeof row[name] === "number" ? "sb-number" : textClass(figureText(name, row[name]))}
            >
              {figureText(name, row[name])}
            </td>
          ))}
        </tr>
      ))}
    </ScrollTable>
  );
}

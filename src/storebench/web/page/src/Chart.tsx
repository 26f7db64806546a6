import { useEffect, useRef, useState } from "react";
import * as vega from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import type { Theme } from "./charts";
import { download } from "./download";
import { csv } from "./format";
import { useTheme } from "./theme";

interface Props {
  title: string;
  /** The chart's file name without its ending. */
  name: string;
  /** What it shows, in a sentence: read out instead of the picture. */
  description: string;
  spec: (width: number, theme: Theme) => TopLevelSpec;
  /** What the chart is drawn from; it is its text alternative, too. */
  rows: Record<string, unknown>[];
}

/** A chart with its figures as a table, and all of it to take away. */
export function Chart({ title, name, description, spec, rows }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<vega.View | undefined>(undefined);
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
    const element = place.current;
    if (!element || width < 50) return;
    let gone = false;
    try {
      const drawn = new vega.View(vega.parse(compile(spec(Math.max(120, width - 70), theme)).spec), {
        renderer: "svg",
        container: element,
        hover: true,
      });
      view.current = drawn;
      drawn.runAsync().catch((error: unknown) => !gone && setFailed(String(error)));
    } catch (error) {
      setFailed(String(error));
    }
    return () => {
      gone = true;
      view.current?.finalize();
      view.current = undefined;
    };
  }, [spec, width, theme]);

  const picture = async (type: "svg" | "png") => {
    const drawn = view.current;
    if (!drawn) return;
    if (type === "svg") download(`${name}.svg`, await drawn.toSVG(), "image/svg+xml");
    else {
      const image = await fetch(await drawn.toImageURL("png", 2));
      download(`${name}.png`, await image.blob(), "image/png");
    }
  };

  return (
    <figure className="sb-chart">
      <figcaption>
        <h3>{title}</h3>
        <span className="sb-exports">
          <button type="button" onClick={() => picture("svg")} aria-label={`Save ${title} as SVG`}>
            SVG
          </button>
          <button type="button" onClick={() => picture("png")} aria-label={`Save ${title} as PNG`}>
            PNG
          </button>
          <Exports name={name} title={title} rows={rows} />
        </span>
      </figcaption>
      {failed ? <p role="alert">The chart cannot be drawn: {failed}</p> : null}
      <div ref={place} role="img" aria-label={description} className="sb-plot" />
      <details>
        <summary>Figures</summary>
        <Figures rows={rows} caption={description} />
      </details>
    </figure>
  );
}

/** Buttons that hand out rows as CSV and as JSON. */
export function Exports({
  name,
  title,
  rows,
}: {
  name: string;
  title: string;
  rows: Record<string, unknown>[];
}) {
  return (
    <>
      <button
        type="button"
        onClick={() => download(`${name}.csv`, csv(rows), "text/csv")}
        aria-label={`Save ${title} as CSV`}
      >
        CSV
      </button>
      <button
        type="button"
        onClick={() => download(`${name}.json`, JSON.stringify(rows, null, 2), "application/json")}
        aria-label={`Save ${title} as JSON`}
      >
        JSON
      </button>
    </>
  );
}

/** Rows as a plain table. */
export function Figures({ rows, caption }: { rows: Record<string, unknown>[]; caption: string }) {
  const first = rows[0];
  if (!first) return <p>None</p>;
  const names = Object.keys(first);
  const text = (value: unknown) =>
    value === null || value === undefined
      ? "–"
      : typeof value === "number" && !Number.isInteger(value)
        ? Number(value.toPrecision(4)).toLocaleString("en")
        : String(value);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className="sb-scroll" tabIndex={0} aria-label={caption}>
      <table>
        <thead>
          <tr>
            {names.map((name) => (
              <th key={name} scope="col">
                {name.replaceAll("_", " ")}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {names.map((name) => (
                <td key={name} className={typeof row[name] === "number" ? "sb-number" : undefined}>
                  {text(row[name])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

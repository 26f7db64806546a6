import { type ReactNode, useEffect, useRef, useState } from "react";
import * as vega from "vega";
import { compile } from "vega-lite";
import { valueText } from "./cells";
import { Exports, type Taken } from "./Exports";
import { cellText, heading, textClass } from "./format";
import { ScrollTable } from "./ScrollTable";
import { useTheme } from "./theme";
import { tooltip } from "./tooltip";

/** `table` is what the chart is drawn from; it is its text alternative, too. Source and note stand below it. */
interface Props extends Taken {
  /** What it shows, in a sentence: spoken instead of the picture. */
  description: string;
  /** What its colours mean. */
  legend?: ReactNode;
  /** The columns of the table that are places on axes, or parameters of datasets. */
  places?: string[];
}

/** A chart with its figures as a table, and all of it to take away. */
export function Chart({ description, legend, places, ...taken }: Props) {
  const { title, source, spec, table, note } = taken;
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
        <Exports {...taken} />
      </figcaption>
      {legend}
      {failed ? <p role="alert">The chart cannot be drawn: {failed}</p> : null}
      <div ref={place} role="img" aria-label={description} className="sb-plot" />
      {note ? <p className="sb-note">{note}</p> : null}
      <p className="sb-source">{source}</p>
      <details>
        <summary>Figures</summary>
        <Figures table={table} caption={description} places={places} />
      </details>
    </figure>
  );
}

/** A plain table. */
export function Figures({
  table,
  caption,
  places = [],
}: Pick<Props, "table" | "places"> & {
  caption: string;
}) {
  const first = table[0];
  if (!first) return <p>None</p>;
  const names = Object.keys(first);
  const text = (name: string, value: unknown) =>
    places.includes(name) ? valueText(value) : cellText(name, value);
  return (
    <ScrollTable label={caption} columns={names.map(heading)}>
      {table.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines of figures have no names, and none moves
        <tr key={index}>
          {names.map((name) => (
            <td
              key={name}
              className={typeof line[name] === "number" ? "sb-number" : textClass(text(name, line[name]))}
            >
              {text(name, line[name])}
            </td>
          ))}
        </tr>
      ))}
    </ScrollTable>
  );
}

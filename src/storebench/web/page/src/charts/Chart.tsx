import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { View } from "vega";
import { valueText } from "../model/cells";
import type { Choice } from "../model/choice";
import { columnText, heading, textClass } from "../model/format";
import type { LinkTarget, To } from "../model/lead";
import { Lead } from "../ui/Lead";
import { ScrollTable } from "../ui/ScrollTable";
import { useTheme } from "../ui/theme";
import { inTurn, tooltip, viewOf } from "./drawing";
import { Exports, type Taken } from "./Exports";

/** `table` has the chart's data, and is also its text alternative. Source and note stand below the chart. */
interface Props extends Taken {
  /** A sentence that describes the chart, for screen readers. */
  description: string;
  /** The legend of the colours. */
  legend?: ReactNode;
  /** The columns of the table with axes, or with parameters of datasets. */
  places?: string[];
  leads?: Leads;
}

/** The links of a chart's figures: `of` has the target of each line of the table; a mark's target is its datum's `target`. */
export interface Leads {
  choice: Choice;
  of: LinkTarget[];
  to: (target: LinkTarget) => To;
  /** The link's text. */
  what: string;
}

/** Show a chart with its figures as a table, and with exports. */
export function Chart({ description, legend, places, leads, ...taken }: Props) {
  const { title, source, spec, table, note } = taken;
  const outer = useRef<HTMLElement>(null);
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [failed, setFailed] = useState<string>();
  const [open, setOpen] = useState(false);
  const leading = useRef(leads);
  leading.current = leads;
  const shown = useRef(false);
  const theme = useTheme();

  // measure at once: a chart that is drawn while the page loads cannot wait for the observer
  useLayoutEffect(() => {
    const element = place.current;
    if (!element) return;
    const measure = () => setWidth(Math.floor(element.getBoundingClientRect().width));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    const [element, host] = [place.current, outer.current];
    if (!element || !host || width < 50) return;
    let drawn: View | undefined;
    let gone = false;
    setFailed(undefined);
    const draw = async () => {
      if (gone) return;
      const view = await viewOf(spec(width, theme, false), {
        renderer: "svg",
        container: element,
        hover: true,
        tooltip: tooltip(host),
      });
      if (gone) return view.finalize();
      drawn = view;
      view.addEventListener("click", (_event, item) => {
        const target = (item?.datum as { target?: LinkTarget } | undefined)?.target;
        if (target) follow(leading.current, target);
      });
      await view.runAsync();
      shown.current = true;
    };
    // redraw a visible chart at once: until then it has the wrong size
    (shown.current ? draw() : inTurn(draw)).catch((error: unknown) => gone || setFailed(String(error)));
    return () => {
      gone = true;
      drawn?.finalize();
      host.querySelector(".sb-tip")?.remove();
    };
  }, [spec, width, theme]);

  return (
    <figure className={leads?.choice.link ? "sb-chart sb-leads" : "sb-chart"} ref={outer}>
      <figcaption>
        <h3>{title}</h3>
        <Exports {...taken} />
      </figcaption>
      {legend}
      {failed ? <p role="alert">The chart cannot be drawn: {failed}</p> : null}
      <div ref={place} role="img" aria-label={description} className="sb-plot" />
      {note ? <p className="sb-note">{note}</p> : null}
      <p className="sb-source">{source}</p>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Figures</summary>
        {/* render the table only when unfolded: with many cells it would be most of the page */}
        {open ? <Figures table={table} caption={description} places={places} leads={leads} /> : null}
      </details>
    </figure>
  );
}

/** Follow the link of a clicked mark; a report has no links. */
function follow(leads: Leads | undefined, target: LinkTarget): void {
  if (leads?.choice.link) leads.choice.choose(leads.to(target));
}

/** Show figures as a table. */
export function Figures({
  table,
  caption,
  places = [],
  leads,
}: Pick<Props, "table" | "places" | "leads"> & {
  caption: string;
}) {
  const first = table[0];
  if (!first) return <p>None</p>;
  const names = Object.keys(first);
  const linked = leads?.choice.link ? leads : undefined;
  const texts = names.map((name) =>
    places.includes(name)
      ? valueText
      : columnText(
          name,
          table.map((line) => line[name]),
        ),
  );
  return (
    <ScrollTable label={caption} columns={[...(linked ? ["leads to"] : []), ...names.map(heading)]}>
      {table.map((line, index) => (
        <tr key={index}>
          {linked ? <LeadCell leads={linked} target={linked.of[index]} /> : null}
          {names.map((name, column) => {
            const text = texts[column]?.(line[name]) ?? "";
            return (
              <td key={name} className={typeof line[name] === "number" ? "sb-number" : textClass(text)}>
                {text}
              </td>
            );
          })}
        </tr>
      ))}
    </ScrollTable>
  );
}

function LeadCell({ leads: { choice, to, what }, target }: { leads: Leads; target: LinkTarget | undefined }) {
  return (
    <td>
      {target ? (
        <Lead choice={choice} to={to(target)}>
          {what}
        </Lead>
      ) : null}
    </td>
  );
}

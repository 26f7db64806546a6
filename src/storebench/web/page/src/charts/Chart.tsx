import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { View } from "vega";
import { valueText } from "../model/cells";
import type { Choice } from "../model/choice";
import { columnText, heading, textClass } from "../model/format";
import type { LinkTarget, To } from "../model/lead";
import { withoutOrigin } from "../model/provenance";
import { compared, decimalRoom, NONE } from "../model/units";
import { Lead } from "../ui/Lead";
import { LongText } from "../ui/Reason";
import { NumberCell, ScrollTable } from "../ui/ScrollTable";
import { useTheme } from "../ui/theme";
import { inTurn, tooltip, viewOf } from "./drawing";
import { Exports, type Taken } from "./Exports";

/** `table` has the chart's data, and is also its text alternative. An exported picture has the note and the source; the page has the caption. */
interface Props extends Taken {
  /** A sentence that describes the chart, for screen readers. */
  description: string;
  /** The legend of the colours. */
  legend?: ReactNode;
  /** The text below the chart, if it is not the note. */
  caption?: string;
  /** The units of the table's columns. */
  units?: Record<string, string>;
  /** Content below the chart instead of the table. */
  children?: ReactNode;
  /** The columns of the table with axes, or with parameters of datasets. */
  places?: string[];
  leads?: Leads;
  /** Called with the datum of a clicked mark. */
  pick?: (datum: unknown) => void;
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
export function Chart(props: Props) {
  const { description, legend, places, leads, pick, units, caption, children, ...taken } = props;
  const { title, spec, table, note } = taken;
  const said = caption ?? note;
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
        pick?.(item?.datum);
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
  }, [spec, pick, width, theme]);

  return (
    <figure className={leads?.choice.link ? "sb-chart sb-leads" : "sb-chart"} ref={outer}>
      <figcaption>
        <h3>{title}</h3>
        <Exports {...taken} />
      </figcaption>
      {legend}
      {failed ? <p role="alert">The chart cannot be drawn: {failed}</p> : null}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the chart scrolls where it is wider than its place, and until it is redrawn */}
      <div ref={place} role="img" aria-label={description} className="sb-plot" tabIndex={0} />
      {said ? <p className="sb-note">{said}</p> : null}
      {children ?? (
        <details onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>Figures</summary>
          {/* render the table only when unfolded: with many cells it would be most of the page */}
          {open ? (
            <Figures {...{ places, leads, units }} table={withoutOrigin(table)} caption={description} />
          ) : null}
        </details>
      )}
    </figure>
  );
}

/** Follow the link of a clicked mark; a report has no links. */
function follow(leads: Leads | undefined, target: LinkTarget): void {
  if (leads?.choice.link) leads.choice.choose(leads.to(target));
}

/** Show figures as a table. Columns that are equal in all lines fold into a sentence above the table. */
export function Figures({
  table,
  caption,
  places = [],
  leads,
  units = {},
}: Pick<Props, "table" | "places" | "leads" | "units"> & {
  caption: string;
}) {
  const first = table[0];
  if (!first) return <p>None</p>;
  const linked = leads?.choice.link ? leads : undefined;
  const textOf = (name: string) => {
    const values = table.map((line) => line[name]);
    const unit = units[name];
    if (unit === undefined) return places.includes(name) ? valueText : columnText(name, values);
    const { text } = compared(unit, values as number[]);
    return (value: unknown) => text(value as number | null);
  };
  const columns = Object.keys(first).map((name) => {
    const text = textOf(name);
    const texts = table.map((line) => text(line[name]));
    return { name, texts, room: decimalRoom(texts), number: isNumber(table, name) };
  });
  const same = columns.filter(({ texts, number }, place) => {
    // of a single line, the words fold
    if (table.length < 2) return place > 0 && !number;
    return new Set(texts).size === 1;
  });
  const shown = columns.filter((column) => !same.includes(column));
  const equal = same.flatMap(({ name, texts }) => (texts[0] === NONE ? [] : `${heading(name)} ${texts[0]}`));
  return (
    <>
      {equal.length ? <p className="sb-note">Equal in all lines: {equal.join(" · ")}</p> : null}
      <ScrollTable
        label={caption}
        dense
        columns={[...(linked ? ["leads to"] : []), ...shown.map(({ name }) => heading(name))]}
      >
        {table.map((_line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other key, and are never moved
          <tr key={index}>
            {linked ? <LeadCell leads={linked} target={linked.of[index]} /> : null}
            {shown.map(({ name, texts, room, number }) => {
              const text = texts[index] ?? "";
              return number ? (
                <NumberCell key={name} text={text} room={room[index] ?? ""} />
              ) : (
                <td key={name} className={textClass(text)}>
                  <LongText text={text} />
                </td>
              );
            })}
          </tr>
        ))}
      </ScrollTable>
    </>
  );
}

const isNumber = (table: Record<string, unknown>[], name: string) =>
  table.some((line) => typeof line[name] === "number");

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

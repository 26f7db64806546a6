import { useState } from "react";
import type { View } from "vega";
import type { TopLevelSpec } from "vega-lite";
import { csv } from "../model/format";
import { copyPicture, copySvg, copyText } from "../ui/clipboard";
import { Menu, MenuGroup } from "../ui/Menu";
import { LIGHT, type Theme } from "../ui/theme";
import { viewOf } from "./drawing";

/** The width of an exported picture in pixels, whatever the screen. */
const SAVED_WIDTH = 900;

/** Return a chart's specification. `picture`: the chart is exported, and includes its legend. */
export type Spec = (width: number, theme: Theme, picture: boolean) => TopLevelSpec;

/** A picture and its figures for export. */
export interface Taken {
  title: string;
  /** The source: runs, dataset and origin. It appears in exported pictures and in the SQL query. */
  source: string;
  /** The run or runs of the figures, with which the files' names begin. */
  run: string;
  /** The second part of the files' names, before the extension. */
  name: string;
  spec: Spec;
  table: Record<string, unknown>[];
  /** The SQL query that returns the figures from the results database. */
  sql: string;
  /** A note for readers of the figures. */
  note?: string | null;
}

/** Wrap a text into lines that fit into a picture. */
function wrapped(text: string): string[] {
  return text.match(/.{1,130}(?: |$)/g) ?? [];
}

/** Draw a picture on white, with title, source and note: an exported picture must be readable by itself. */
function picture({
  title,
  source,
  spec,
  note,
}: Pick<Taken, "title" | "source" | "spec" | "note">): Promise<View> {
  const framed = {
    ...spec(SAVED_WIDTH, LIGHT, true),
    background: "white",
    padding: 12,
    title: { text: title, subtitle: [...wrapped(source), ...wrapped(note ?? "")], anchor: "start" as const },
  };
  return viewOf(framed, { renderer: "none" });
}

async function svg(taken: Taken): Promise<string> {
  return (await picture(taken)).toSVG();
}

async function png(taken: Taken): Promise<Blob> {
  const image = await fetch(await (await picture(taken)).toImageURL("png", 2));
  return image.blob();
}

/** Return the SQL query with title, source and note as comments. */
export function commented({
  title,
  source,
  note,
  sql,
}: Pick<Taken, "title" | "source" | "note" | "sql">): string {
  const lines = [title, source, note ?? ""].flatMap((text) => text.split(/[\r\n]+/)).filter(Boolean);
  return `${lines.map((line) => `-- ${line}\n`).join("")}${sql}`;
}

/** Return a file name that is valid on any system, and begins with the run. */
export const fileName = (run: string, name: string) =>
  [run, name]
    .map((part) => part.replaceAll(/[^\w.-]+/g, "_"))
    .filter(Boolean)
    .join("-");

/** Show a menu that exports a picture and its figures, as files and to the clipboard. */
export function Exports(taken: Taken) {
  const [said, setSaid] = useState("");
  const { run, name, title, table } = taken;
  const file = fileName(run, name);
  const ways: Record<"Save" | "Copy", [string, () => Promise<void>][]> = {
    Save: [
      ["SVG", async () => download(`${file}.svg`, await svg(taken), "image/svg+xml")],
      ["PNG", async () => download(`${file}.png`, await png(taken), "image/png")],
      ["CSV", async () => download(`${file}.csv`, csv(table), "text/csv")],
      ["JSON", async () => download(`${file}.json`, JSON.stringify(table, null, 2), "application/json")],
      ["SQL", async () => download(`${file}.sql`, commented(taken), "application/sql")],
    ],
    Copy: [
      ["CSV", () => copyText(csv(table))],
      ["SQL", () => copyText(commented(taken))],
      ["SVG", () => copySvg(svg(taken))],
      ["PNG", () => copyPicture("image/png", () => png(taken))],
    ],
  };
  const act = async (way: string, type: string, todo: () => Promise<void>) => {
    try {
      await todo();
      setSaid(way === "Copy" ? `${type} copied` : "");
    } catch (problem) {
      setSaid(problem instanceof Error ? problem.message : String(problem));
    }
  };
  return (
    <span className="sb-exports">
      <span aria-live="polite">{said}</span>
      <Menu label="Export" name={`Export ${title}`}>
        {Object.entries(ways).map(([way, types]) => (
          <MenuGroup key={way} title={way}>
            {types.map(([type, todo]) => (
              <button
                key={type}
                type="button"
                onClick={() => act(way, type, todo)}
                aria-label={`${way} ${title} as ${type}`}
              >
                {type} {WHAT[type]}
              </button>
            ))}
          </MenuGroup>
        ))}
      </Menu>
    </span>
  );
}

/** What each type of export contains. */
const WHAT: Record<string, string> = {
  SVG: "picture",
  PNG: "picture",
  CSV: "figures",
  JSON: "figures",
  SQL: "query",
};

/** Hand the user a file. */
function download(name: string, content: string | Blob, type: string): void {
  const blob = typeof content === "string" ? new Blob([content], { type }) : content;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

import type { ReactNode } from "react";

/** The length of a text from which a table shows the text only on request. */
const LONG = 60;

/** Show a reason or a remark in a table's cell: a long text on request. `summary`: the text of the request. */
export function Reason({ text, summary = "why" }: { text: string | null; summary?: string }): ReactNode {
  if (!text) return null;
  if (text.length <= LONG) return <span className="sb-reason">{text}</span>;
  return (
    <details>
      <summary>{summary}</summary>
      <span className="sb-reason">{text}</span>
    </details>
  );
}

import type { ReactNode } from "react";

/** The length of a text from which a table shows the text only on request. */
const LONG = 60;

/** Show a text in a table's cell. Of a long text, the part before the first colon is shown, and the remaining text on request. */
export function LongText({ text }: { text: string }): ReactNode {
  if (text.length <= LONG) return text;
  const end = text.indexOf(": ");
  const [first, rest] =
    end > 0 && end <= LONG ? [text.slice(0, end), text.slice(end + 2)] : [text.slice(0, LONG), text];
  return (
    <details>
      <summary>{end > 0 && end <= LONG ? first : `${first} …`}</summary>
      {rest}
    </details>
  );
}

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

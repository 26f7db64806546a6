import type { ReactNode } from "react";

/** The parts of a text with meaning: bold text, code, and links to other servers. */
const MARKED = /\*\*(.+?)\*\*|`(.+?)`|\[(.+?)\]\((https?:[^)\s]+)\)/g;

/** Show a text of a form, which is Markdown for Airflow's own form: bold text, code and links. */
export function Marked({ text }: { text: string }): ReactNode {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(MARKED)) {
    const [all, bold, code, label, address] = match;
    parts.push(text.slice(end, match.index));
    end = match.index + all.length;
    if (bold) parts.push(<strong key={end}>{bold}</strong>);
    else if (code) parts.push(<code key={end}>{code}</code>);
    else
      parts.push(
        <a key={end} href={address}>
          {label}
        </a>,
      );
  }
  parts.push(text.slice(end));
  return parts;
}

/** Split a text into its first sentence and the remaining sentences. */
export function firstSentence(text: string): [string, string] {
  const end = /[.!?](?=\s+[A-Z*`[])/.exec(text);
  return end ? [text.slice(0, end.index + 1), text.slice(end.index + 1).trim()] : [text, ""];
}

/** Show the help of a field: its first sentence, and the remaining sentences on request. */
export function HelpText({ id, text }: { id: string; text: string }) {
  const [first, others] = firstSentence(text);
  return (
    <div className="sb-help">
      <span id={id}>
        <Marked text={first} />
      </span>{" "}
      {others ? (
        <details>
          <summary>more</summary>
          <Marked text={others} />
        </details>
      ) : null}
    </div>
  );
}

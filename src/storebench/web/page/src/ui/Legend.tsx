import { type Choice, hiddenOf, type Kind, toggled } from "../model/choice";
import { type Theme, useTheme } from "./theme";

export interface Entry {
  name: string;
  label: string;
  colour: (theme: Theme) => string;
  /** Whether the name is drawn with a dashed edge. */
  dashed?: boolean;
}

/** Show a chart's legend. Each entry is a button that hides or shows its name. */
export function Legend({
  title,
  kind,
  entries,
  choice,
}: {
  title: string;
  kind: Kind;
  entries: Entry[];
  choice: Choice;
}) {
  const theme = useTheme();
  const hidden = hiddenOf(choice.asked, kind);
  return (
    <fieldset className="sb-key">
      <legend>{title}</legend>
      {entries.map(({ name, label, colour, dashed }) => (
        <button
          key={name}
          type="button"
          aria-pressed={!hidden.has(name)}
          title={hidden.has(name) ? "show" : "hide"}
          onClick={() => choice.choose(toggled(choice.asked, kind, name))}
        >
          <span
            className={dashed ? "sb-colour sb-dashed" : "sb-colour"}
            style={{ backgroundColor: colour(theme) }}
            aria-hidden="true"
          />
          {label}
        </button>
      ))}
    </fieldset>
  );
}

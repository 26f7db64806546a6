import { type ReactNode, useId, useState } from "react";
import type { FormField } from "../../api/types";
import { HelpText } from "../../ui/HelpText";
import { FieldProblem, textOfValue } from "../../ui/Parameters";

interface Props {
  of: FormField;
  value: string;
  set: (value: string) => void;
  problem?: string;
}

/** Chosen items of a list, and functions that change the choice. */
interface Chosen {
  known: string[];
  isChosen: (item: string) => boolean;
  toggle: (item: string) => void;
}

const itemsOf = (text: string) =>
  text
    .split(",")
    .map((item) => item.trim())
    .filter(Boolean);

/** Show a field of several values: a checkbox for each known value, and a text field for other values. */
export function ListField(props: Props) {
  return (
    <Items {...props}>
      {({ known, isChosen, toggle }) => (
        <div className="sb-chips">
          {known.map((item) => (
            <label key={item} className="sb-chip">
              <input type="checkbox" checked={isChosen(item)} onChange={() => toggle(item)} /> {item}
            </label>
          ))}
        </div>
      )}
    </Items>
  );
}

/** Show the frame of a field of several values. `children` shows the known values. */
export function Items({
  of: { title, text, default: byDefault, examples },
  value,
  set,
  problem,
  children,
}: Props & { children: (chosen: Chosen) => ReactNode }) {
  const id = useId();
  const known = examples.map(String);
  const chosen = itemsOf(value || textOfValue(byDefault ?? ""));
  const others = chosen.filter((item) => !known.includes(item));
  // the text as typed, with a comma at its end
  const [typed, setTyped] = useState("");
  const shown = itemsOf(typed).join() === others.join() ? typed : others.join(", ");
  const toggle = (item: string) =>
    set((chosen.includes(item) ? chosen.filter((other) => other !== item) : [...chosen, item]).join(", "));
  const type = (text: string) => {
    setTyped(text);
    set([...chosen.filter((item) => known.includes(item)), ...itemsOf(text)].join(", "));
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset within one of many would be read each time
    <div role="group" aria-label={title} className="sb-items">
      <strong>{title}</strong>
      <HelpText id={`${id}-text`} text={text} />
      {children({ known, isChosen: (item) => chosen.includes(item), toggle })}
      <label className="sb-field sb-others">
        {`Other ${title.toLowerCase()}`}
        <input
          className="sb-list"
          value={shown}
          aria-describedby={problem ? `${id}-problem ${id}-text` : `${id}-text`}
          aria-invalid={problem ? true : undefined}
          onChange={(event) => type(event.target.value)}
        />
      </label>
      <FieldProblem id={id} text={problem} />
    </div>
  );
}

import { type ReactNode, useId, useState } from "react";
import type { Form, FormField, Section } from "../../api/types";
import { FieldProblem, ParameterField, type Typed, textOfValue, textsOf } from "../../ui/Parameters";

interface Props {
  form: Form;
  typed: Typed;
  change: (after: Typed) => void;
  /** The mistakes by the name of the field. */
  mistakes: ReadonlyMap<string, string>;
}

/** Show the parameters of a run by section. The first section, what to measure, is open; the other sections are folded. */
export function FormFields({ form, typed, change, mistakes }: Props) {
  const set = (name: string, value: string) => {
    const { [name]: _, ...others } = typed;
    change(value.trim() ? { ...others, [name]: value } : others);
  };
  const [first, ...others] = form.sections;
  const fields = (section: Section) => (
    <div className="sb-parameters">
      {section.fields.map((field) => {
        const Field = field.kind === "list" ? ListField : ParameterField;
        return (
          <Field
            key={field.name}
            of={field}
            value={typed[field.name] ?? ""}
            set={(to) => set(field.name, to)}
            problem={mistakes.get(field.name)}
          />
        );
      })}
    </div>
  );
  return (
    <>
      {form.presets.length ? <Presets form={form} typed={typed} change={change} /> : null}
      {first ? (
        <fieldset>
          <legend>{first.title}</legend>
          {fields(first)}
        </fieldset>
      ) : null}
      {others.map((section) => (
        <Folded
          key={section.title}
          title={section.title}
          changed={section.fields.filter(({ name }) => name in typed).length}
          isWrong={section.fields.some(({ name }) => mistakes.has(name))}
        >
          {fields(section)}
        </Folded>
      ))}
      <p className="sb-note">An empty field has the DAG's default, shown in grey.</p>
    </>
  );
}

/** Show a section that is open if one of its fields was changed or has a mistake, until the user folds it. */
function Folded({
  title,
  changed,
  isWrong,
  children,
}: {
  title: string;
  changed: number;
  isWrong: boolean;
  children: ReactNode;
}) {
  const [open, setOpen] = useState(changed > 0);
  return (
    <fieldset aria-label={title}>
      <details open={open || isWrong} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          {title}
          {changed ? `: ${changed} changed` : ""}
          {isWrong ? ", with a mistake" : ""}
        </summary>
        {children}
      </details>
    </fieldset>
  );
}

/** Show the menu of presets. A preset fills all fields. */
function Presets({ form, typed, change }: Pick<Props, "form" | "typed" | "change">) {
  const id = useId();
  const now = JSON.stringify(sorted(typed));
  const chosen = form.presets.find(({ params }) => JSON.stringify(sorted(textsOf(params))) === now);
  const choose = (name: string) => {
    const preset = form.presets.find((preset) => preset.name === name);
    change(preset ? textsOf(preset.params) : {});
  };
  return (
    <div className="sb-fields">
      <label className="sb-field">
        Preset
        <select
          value={chosen?.name ?? ""}
          aria-describedby={id}
          onChange={(event) => choose(event.target.value)}
        >
          <option value="">{Object.keys(typed).length ? "as below" : "the DAG's defaults"}</option>
          {form.presets.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <span className="sb-note" id={id}>
        {chosen?.description}
      </span>
    </div>
  );
}

const sorted = (typed: Typed) => Object.entries(typed).sort(([one], [other]) => (one < other ? -1 : 1));

const partsOf = (text: string) =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean);

/** Show a field of values separated by commas, with a checkbox for each known value. Other values can be typed. */
function ListField({
  of: { title, text, default: byDefault, examples },
  value,
  set,
  problem,
}: {
  of: FormField;
  value: string;
  set: (value: string) => void;
  problem?: string;
}) {
  const id = useId();
  const standard = textOfValue(byDefault ?? "");
  const chosen = partsOf(value || standard);
  const toggle = (value: string) =>
    set((chosen.includes(value) ? chosen.filter((other) => other !== value) : [...chosen, value]).join(", "));
  return (
    <div>
      <label className="sb-field" htmlFor={id}>
        {title}
        <input
          className="sb-list"
          value={value}
          placeholder={standard}
          id={id}
          aria-describedby={problem ? `${id}-problem ${id}-text` : `${id}-text`}
          aria-invalid={problem ? true : undefined}
          onChange={(event) => set(event.target.value)}
        />
      </label>
      <FieldProblem id={id} text={problem} />
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset within one of many would be read each time */}
      <div className="sb-choices" role="group" aria-label={`${title}: known values`}>
        {examples.map(String).map((value) => (
          <label key={value}>
            <input type="checkbox" checked={chosen.includes(value)} onChange={() => toggle(value)} /> {value}
          </label>
        ))}
      </div>
      <div className="sb-note" id={`${id}-text`}>
        {text.replaceAll("**", "")}
      </div>
    </div>
  );
}

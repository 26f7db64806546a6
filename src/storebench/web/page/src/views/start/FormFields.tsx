import { type ReactNode, useState } from "react";
import type { Form, FormField, Section, StoreRecord } from "../../api/types";
import { firstSentence } from "../../ui/HelpText";
import { ParameterField, type Typed, textsOf } from "../../ui/Parameters";
import { ListField } from "./ListField";
import { StoreCards } from "./StoreCards";

interface Props {
  form: Form;
  typed: Typed;
  change: (after: Typed) => void;
  /** The mistakes by the name of the field. */
  mistakes: ReadonlyMap<string, string>;
  /** The estimate of the run, beside the amount of work. */
  estimate: ReactNode;
}

/** The parameters of the amount of work, which every study has. */
const AMOUNT = ["rows", "seed", "repeats"];
const STORES = "stores";

/** Show the parameters of a run in steps: what to measure, and how much. The sections that few users change are folded. */
export function FormFields({ form, typed, change, mistakes, estimate }: Props) {
  const set = (name: string, value: string) => {
    const { [name]: _, ...others } = typed;
    change(value.trim() ? { ...others, [name]: value } : others);
  };
  const shown = (field: FormField) => (
    <FieldOf
      key={field.name}
      of={field}
      stores={form.stores}
      value={typed[field.name] ?? ""}
      set={(to) => set(field.name, to)}
      problem={mistakes.get(field.name)}
    />
  );
  const all = form.sections.flatMap(({ fields }) => fields);
  const [what, ...others] = form.sections.map(
    (section): Section => ({
      ...section,
      fields: section.fields.filter(({ name }) => !AMOUNT.includes(name)),
    }),
  );
  const wide = ({ name }: FormField) => name === STORES;
  return (
    <>
      <section className="sb-step" aria-labelledby="sb-what">
        <h3 id="sb-what">1. What</h3>
        {form.presets.length ? <Presets form={form} typed={typed} change={change} /> : null}
        {what?.fields.filter(wide).map(shown)}
        <div className="sb-parameters">{what?.fields.filter((field) => !wide(field)).map(shown)}</div>
      </section>
      <section className="sb-step" aria-labelledby="sb-how-much">
        <h3 id="sb-how-much">2. How much</h3>
        <div className="sb-amounts">
          <div className="sb-parameters">{all.filter(({ name }) => AMOUNT.includes(name)).map(shown)}</div>
          {estimate}
        </div>
        {others
          .filter(({ fields }) => fields.length)
          .map((section) => (
            <Folded
              key={section.title}
              title={section.title}
              changed={section.fields.filter(({ name }) => name in typed).length}
              isWrong={section.fields.some(({ name }) => mistakes.has(name))}
            >
              <div className="sb-parameters">{section.fields.map(shown)}</div>
            </Folded>
          ))}
        <p className="sb-note">An empty field has the DAG's default, shown in grey.</p>
      </section>
    </>
  );
}

function FieldOf({
  stores,
  ...field
}: {
  of: FormField;
  stores: StoreRecord[];
  value: string;
  set: (value: string) => void;
  problem?: string;
}) {
  if (field.of.name === STORES) return <StoreCards stores={stores} {...field} />;
  return field.of.kind === "list" ? <ListField {...field} /> : <ParameterField {...field} />;
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

/** Show the presets, and the DAG's defaults. A preset fills all fields. */
function Presets({ form, typed, change }: Pick<Props, "form" | "typed" | "change">) {
  const now = JSON.stringify(sorted(typed));
  const isNow = (params: Typed) => JSON.stringify(sorted(params)) === now;
  const all = [
    { name: "defaults", description: "The DAG's defaults.", params: {} },
    ...form.presets.map((preset) => ({ ...preset, params: textsOf(preset.params) })),
  ];
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset has a border of its own
    <div className="sb-cards" role="group" aria-label="Presets">
      {all.map(({ name, description, params }) => (
        <button
          key={name}
          type="button"
          className="sb-preset"
          aria-pressed={isNow(params)}
          onClick={() => change(params)}
        >
          <strong>{name}</strong>
          <span className="sb-about" title={description}>
            {firstSentence(description)[0]}
          </span>
        </button>
      ))}
    </div>
  );
}

const sorted = (typed: Typed) => Object.entries(typed).sort(([one], [other]) => (one < other ? -1 : 1));

import { useId, useState } from "react";
import type { Parameter } from "../api/types";
import { HelpText } from "./HelpText";

/** The parameters that differ from their defaults, as texts: the API parses them like the form's texts. */
export type Typed = Record<string, string>;

/** Parse parameters from the page's address. */
export function typedOf(text: string | null): Typed {
  try {
    const entries = Object.entries(JSON.parse(text || "{}"));
    return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
  } catch {
    return {}; // a truncated address
  }
}

/** Write parameters for the page's address and the API; empty if all have their defaults. */
export function textOf(typed: Typed): string {
  return Object.keys(typed).length ? JSON.stringify(typed) : "";
}

/** Write a value as the user types it: a list with commas. */
export const textOfValue = (value: unknown) => (Array.isArray(value) ? value.join(", ") : String(value));

/** Write parameters as they are typed, without absent values, which keep their defaults. */
export const textsOf = (params: Record<string, unknown>): Typed =>
  Object.fromEntries(
    Object.entries(params)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => [name, textOfValue(value)]),
  );

/** Show a field for each parameter; parameters that few users choose are folded. An empty field shows its default. */
export function ParameterFields({
  parameters,
  typed,
  change,
}: {
  parameters: Parameter[];
  typed: Typed;
  change: (after: Typed) => void;
}) {
  const set = (name: string, value: string) => {
    const { [name]: _, ...others } = typed;
    change(value.trim() ? { ...others, [name]: value } : others);
  };
  const fields = (some: Parameter[]) =>
    some.map((field) => (
      <ParameterField
        key={field.name}
        of={field}
        value={typed[field.name] ?? ""}
        set={(to) => set(field.name, to)}
      />
    ));
  const more = parameters.filter(({ main }) => !main);
  const [open] = useState(() => more.some(({ name }) => name in typed));
  return (
    <>
      <div className="sb-parameters">{fields(parameters.filter(({ main }) => main))}</div>
      <details open={open}>
        <summary>More parameters</summary>
        <div className="sb-parameters">{fields(more)}</div>
      </details>
      <p className="sb-note">An empty field has the DAG's default, shown in grey.</p>
    </>
  );
}

/** The properties of a field's parameter. */
export type Asked = Pick<Parameter, "title" | "text" | "default" | "examples">;

interface FieldProps {
  of: Asked;
  value: string;
  set: (value: string) => void;
  /** The mistake in the value. */
  problem?: string;
}

/** Show the field of one parameter: a menu for a flag, else a text field. */
export function ParameterField({
  of: { title, text, default: byDefault, examples },
  value,
  set,
  problem,
}: FieldProps) {
  const id = useId();
  const described = { "aria-describedby": problem ? `${id}-problem ${id}-text` : `${id}-text` };
  const standard = byDefault === null ? "" : String(byDefault);
  const isFlag = examples.every((example) => typeof example === "boolean");
  return (
    <div>
      <label className="sb-field" htmlFor={id}>
        {title}
        {isFlag ? (
          <select
            id={id}
            value={value}
            {...described}
            aria-invalid={problem ? true : undefined}
            onChange={(event) => set(event.target.value)}
          >
            <option value="">{standard ? `default: ${standard}` : "not set"}</option>
            {examples.map(String).map((example) => (
              <option key={example}>{example}</option>
            ))}
          </select>
        ) : (
          <input
            className="sb-amount"
            value={value}
            placeholder={standard || "not set"}
            id={id}
            {...described}
            aria-invalid={problem ? true : undefined}
            onChange={(event) => set(event.target.value)}
          />
        )}
      </label>
      <FieldProblem id={id} text={problem} />
      <HelpText id={`${id}-text`} text={text} />
    </div>
  );
}

/** Show the mistake in a field's value, below the field. */
export function FieldProblem({ id, text }: { id: string; text: string | undefined }) {
  return text ? (
    <div className="sb-mistake" id={`${id}-problem`}>
      {text}
    </div>
  ) : null;
}

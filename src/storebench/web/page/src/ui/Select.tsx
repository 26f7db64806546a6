/** A menu's option: its value and its text. */
export type Option = [value: string, text: string];

/** Return options whose texts are their values. */
export const optionsOf = (values: Iterable<string>): Option[] =>
  Array.from(values, (value) => [value, value]);

/** Show a labelled menu, with a chosen option. */
export function Select({
  label,
  value,
  options,
  onChoose,
}: {
  label: string;
  value: string;
  options: Option[];
  onChoose: (value: string) => void;
}) {
  return (
    <label className="sb-field">
      {label}
      <select value={value} onChange={(event) => onChoose(event.target.value)}>
        {options.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

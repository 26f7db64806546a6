import type { ReactNode } from "react";
import type { Ranking } from "../../api/types";
import { titleOf, valueText } from "../../model/cells";
import type { Choice } from "../../model/choice";
import { moment } from "../../model/format";
import {
  ANY,
  chosen,
  chosenMetric,
  chosenOnAxis,
  INCLUDED,
  MARGINS,
  metricsOf,
  type Ranked,
  rankKey,
} from "../../model/ranking";
import { titleOfOperation } from "../../model/study";

/** Show the menus of a ranking's choices, which are all in the address. */
export function RankingChoices({ study, found, only, choice }: Ranked & { only: boolean; choice: Choice }) {
  const { choose } = choice;
  const pick = (name: string) => (value: string) => choose(chosen(found, name, [value]));
  return (
    <div className="sb-fields">
      {only ? null : (
        <Menu label="Study" value={found.study} options={texts(found.studies)} onChoose={pick("study")} />
      )}
      <Menu
        label="Operation"
        value={found.operation}
        options={study.operations.map(({ name }) => [name, titleOfOperation(name)])}
        onChoose={pick("operation")}
      />
      <Menu
        label="Metric"
        value={found.metric}
        options={metricsOf(study, found.operation).map(({ name, title }) => [name, title])}
        onChoose={(name) => choose(chosenMetric(study, found, name))}
      />
      <Menu
        label="Dataset"
        value={`${found.rows} ${found.seed}`}
        options={found.datasets.map(({ rows, seed }) => [
          `${rows} ${seed}`,
          `rows ${valueText(rows)}, seed ${seed}`,
        ])}
        onChoose={(value) => choose(chosen(found, "dataset", value.split(" ")))}
      />
      {Object.entries(found.offered).map(([name, values]) => (
        <Menu
          key={name}
          label={titleOf(study, name)}
          value={found.axes[name] ?? ANY}
          options={[...values.map((value): [string, string] => [value, valueText(value)]), [ANY, "any"]]}
          onChoose={(value) => choose(chosenOnAxis(found, name, value))}
        />
      ))}
      <Menu
        label="Environment"
        value={found.environment ?? ""}
        options={found.environments.map(({ id, text, cells, newest_at }) => [
          id,
          `${text} (${cells} cells, last ${moment(newest_at)})`,
        ])}
        onChoose={pick("environment")}
      />
      <Menu
        label="Guarantee"
        value={found.guarantee ?? ""}
        options={texts(found.guarantees)}
        onChoose={pick("guarantee")}
      />
      <Menu
        label="Margin"
        value={String(found.margin_percent)}
        options={[...new Set([...MARGINS, found.margin_percent])].map((one) => [String(one), `${one} %`])}
        onChoose={(value) => choose({ [rankKey("margin")]: value })}
      />
      <fieldset className="sb-key">
        <legend>Also rank</legend>
        {INCLUDED.map((reason) => (
          <label key={reason}>
            <input
              type="checkbox"
              checked={found.included.includes(reason)}
              onChange={() =>
                choose({
                  [rankKey("include")]: INCLUDED.filter(
                    (one) => found.included.includes(one) !== (one === reason),
                  ).join(","),
                })
              }
            />
            {WHAT[reason]}
          </label>
        ))}
      </fieldset>
    </div>
  );
}

const WHAT: Record<Ranking["included"][number], string> = {
  limit: "floors: clients without a store",
  "client-bound": "client-bound cells",
  "service-bound": "service-bound cells",
  unlike: "different delivery or durability",
};

const texts = (names: string[]) => names.map((name): [string, string] => [name, name]);

/** Show a menu; nothing with fewer than two options. */
function Menu({
  label,
  value,
  options,
  onChoose,
}: {
  label: string;
  value: string;
  options: [string, string][];
  onChoose: (value: string) => void;
}): ReactNode {
  if (options.length < 2) return null;
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

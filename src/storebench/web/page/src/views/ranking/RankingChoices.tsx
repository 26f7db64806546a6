import type { ComponentProps } from "react";
import type { Ranking } from "../../api/types";
import { titleOf, valueText } from "../../model/cells";
import type { Choice } from "../../model/choice";
import { moment } from "../../model/format";
import {
  ALIKE,
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
import { type Option, optionsOf, Select } from "../../ui/Select";

/** Show the menus of a ranking's choices, which are all in the address. */
export function RankingChoices({ study, ranking, only, choice }: Ranked & { only: boolean; choice: Choice }) {
  const { choose } = choice;
  const pick = (name: string) => (value: string) => choose(chosen(ranking, name, [value]));
  return (
    <div className="sb-fields">
      {only ? null : (
        <Menu
          label="Study"
          value={ranking.study}
          options={optionsOf(ranking.studies)}
          onChoose={pick("study")}
        />
      )}
      <Menu
        label="Operation"
        value={ranking.operation}
        options={study.operations.map(({ name }) => [name, titleOfOperation(name)])}
        onChoose={pick("operation")}
      />
      <Menu
        label="Metric"
        value={ranking.metric}
        options={metricsOf(study, ranking.operation).map(({ name, title }) => [name, title])}
        onChoose={(name) => choose(chosenMetric(study, ranking, name))}
      />
      <Menu
        label="Dataset"
        value={`${ranking.rows} ${ranking.seed}`}
        options={ranking.datasets.map(({ rows, seed }) => [
          `${rows} ${seed}`,
          `rows ${valueText(rows)}, seed ${seed}`,
        ])}
        onChoose={(value) => choose(chosen(ranking, "dataset", value.split(" ")))}
      />
      {Object.entries(ranking.offered).map(([name, values]) => (
        <Menu
          key={name}
          label={titleOf(study, name)}
          value={ranking.axes[name] ?? ANY}
          options={[...values.map((value): Option => [value, valueText(value)]), [ANY, "any"]]}
          onChoose={(value) => choose(chosenOnAxis(ranking, name, value))}
        />
      ))}
      <Menu
        label="Environment"
        value={ranking.environment ?? ""}
        options={ranking.environments.map(({ id, text, cells, newest_at }) => [
          id,
          `${text} (${cells} cells, last ${moment(newest_at)})`,
        ])}
        onChoose={pick("environment")}
      />
      <Menu
        label="Guarantee"
        value={ranking.guarantee ?? ""}
        options={[...(ranking.alike ? [] : [["", "any"] as Option]), ...optionsOf(ranking.guarantees)]}
        onChoose={pick("guarantee")}
      />
      <Menu
        label="Margin"
        value={String(ranking.margin_percent)}
        options={[...new Set([...MARGINS, ranking.margin_percent])].map((margin) => [
          String(margin),
          `${margin} %`,
        ])}
        onChoose={(value) => choose({ [rankKey("margin")]: value })}
      />
      <label
        className="sb-field"
        title="Exclude cells bound by their client or by a service, and cells that deliver or guarantee something else than most."
      >
        <input
          type="checkbox"
          checked={ranking.alike}
          onChange={() =>
            choose({ [rankKey("alike")]: ranking.alike ? "" : ALIKE, [rankKey("guarantee")]: "" })
          }
        />
        Only alike cells
      </label>
      <fieldset className="sb-key">
        <legend>Also rank</legend>
        {INCLUDED.filter((reason) => ranking.alike || reason === "floor").map((reason) => (
          <label key={reason}>
            <input
              type="checkbox"
              checked={ranking.included.includes(reason)}
              onChange={() =>
                choose({
                  [rankKey("include")]: INCLUDED.filter(
                    (other) => ranking.included.includes(other) !== (other === reason),
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
  floor: "floors: clients without a store",
  "client-bound": "client-bound cells",
  "service-bound": "service-bound cells",
  unlike: "different delivery or durability",
};

/** Show a menu; nothing with fewer than two options. */
const Menu = (props: ComponentProps<typeof Select>) =>
  props.options.length < 2 ? null : <Select {...props} />;

import { useMemo, useState } from "react";
import { useSettled } from "../api/loading";
import type { CellFigures, Study } from "../api/types";
import type { Choice } from "../model/choice";
import { costFigures, priced } from "../model/figures";
import { layoutOf, operationsOf } from "../model/study";
import { FigureCharts } from "./ChartViews";

/** The typed prices of a core and of a GiB of memory for an hour. */
export interface Prices {
  cpu_hour: string;
  gib_hour: string;
  currency: string;
}

const KEPT = "storebench.prices";
const NOTHING: Prices = { cpu_hour: "", gib_hour: "", currency: "USD" };
const FIELDS: [keyof Prices, string][] = [
  ["cpu_hour", "Price of one core for an hour"],
  ["gib_hour", "Price of one GiB of memory for an hour"],
  ["currency", "Currency"],
];

/** Return the prices that this browser keeps. */
export function keptPrices(): Prices {
  try {
    return { ...NOTHING, ...JSON.parse(localStorage.getItem(KEPT) ?? "{}") };
  } catch {
    return NOTHING; // no storage, or invalid content
  }
}

function keep(prices: Prices): void {
  try {
    localStorage.setItem(KEPT, JSON.stringify(prices));
  } catch {
    // without storage, the prices last until the page closes
  }
}

/** Parse a price; null if the text is no valid price. */
export function amount(text: string): number | null {
  const value = Number(text.trim().replace(",", "."));
  return text.trim() && Number.isFinite(value) && value >= 0 ? value : null;
}

interface Props {
  study: Study;
  cells: CellFigures[];
  choice: Choice;
}

/** Show the cost of a verified GB for the typed prices, computed as in `storebench price`. */
export function Costs({ study, cells, choice }: Props) {
  const [prices, setPrices] = useState(keptPrices);
  const settled = useSettled(prices);
  const [cpu_hour, gib_hour] = [amount(settled.cpu_hour), amount(settled.gib_hour)];
  const change = (changes: Partial<Prices>) => {
    const after = { ...prices, ...changes };
    setPrices(after);
    keep(after);
  };
  return (
    <>
      <h3>Cost</h3>
      <div className="sb-fields">
        {FIELDS.map(([name, title]) => (
          <label key={name} className="sb-field">
            {title}
            <input
              className="sb-amount"
              inputMode={name === "currency" ? undefined : "decimal"}
              value={prices[name]}
              aria-invalid={name !== "currency" && prices[name] !== "" && amount(prices[name]) === null}
              onChange={(event) => change({ [name]: event.target.value })}
            />
          </label>
        ))}
      </div>
      {cpu_hour === null || gib_hour === null ? (
        <p className="sb-note">
          Type the prices of an hour to see the cost of each cell per GB of its dataset. Your browser keeps
          the prices.
        </p>
      ) : (
        <CostCharts
          {...{ study, cells, choice, cpu_hour, gib_hour, currency: settled.currency.trim() || "units" }}
        />
      )}
    </>
  );
}

function CostCharts({
  study,
  cells,
  choice,
  cpu_hour,
  gib_hour,
  currency,
}: Props & {
  cpu_hour: number;
  gib_hour: number;
  currency: string;
}) {
  const figures = useMemo(() => costFigures(study, currency), [study, currency]);
  const [chart, operations] = useMemo(() => {
    const names = cells.map((cell) => cell.operation);
    return [layoutOf(study), operationsOf(study, names)] as const;
  }, [study, cells]);
  const costs = useMemo(() => priced(cells, cpu_hour, gib_hour), [cells, cpu_hour, gib_hour]);
  return (
    <>
      <div className="sb-charts">
        {operations.map((operation) => (
          <FigureCharts
            key={operation.name}
            cells={costs}
            operations={[operation]}
            {...{ study, figures, chart, choice }}
          />
        ))}
      </div>
      <p className="sb-note">
        Includes CPU and memory of the pods and of the servers that the run provisioned, without other
        servers. Medians of verified, undisturbed attempts, as <code>storebench price</code> computes them.
      </p>
    </>
  );
}

import type { Study } from "../api/types";
import { scalars } from "../model/study";

/** Show the menu of metrics: the ranking metric of each operation, the study's metrics, and the common metrics. */
export function MetricMenu({
  study,
  chosen,
  onChoose,
}: {
  study: Study;
  chosen: string | undefined;
  onChoose: (name: string) => void;
}) {
  const metrics = scalars(study);
  const known = !chosen || metrics.some(({ name }) => name === chosen);
  return (
    <label className="sb-field">
      Metric
      <select value={chosen ?? ""} onChange={(event) => onChoose(event.target.value)}>
        <option value="">the ranking metric</option>
        {known ? null : <option value={chosen}>{chosen}</option>}
        {metrics.map(({ name, title }) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

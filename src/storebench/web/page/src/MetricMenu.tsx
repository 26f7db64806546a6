import { scalars } from "./study";
import type { Study } from "./types";

/** By which metric: the one that ranks each operation, or one of the study's, or of those that all studies have. */
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
        <option value="">that ranks the operation</option>
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

/** Links from a figure to its source: to a cell's history, to attempts, or to an attempt's phases. */

/** A link, as changes of the address. */
export type To = Record<string, string>;

/** The subject of a figure: a cell's operation, possibly within a run, or a single attempt. */
export interface Led {
  cell_key: string;
  operation: string;
  run_id?: string;
  attempt_id?: string;
}

/** Return only these fields of a larger object. */
export const ledOf = ({ cell_key, operation, run_id, attempt_id }: Led): Led => ({
  cell_key,
  operation,
  ...(run_id ? { run_id } : {}),
  ...(attempt_id ? { attempt_id } : {}),
});

/** Return the link to the history of a cell's operation. */
export const toHistory = ({ cell_key, operation }: Led, metric = ""): To => ({
  view: "history",
  cell: cell_key,
  operation,
  metric,
});

/** Return the link to a run's attempts at a cell's operation, without the table's other filters. */
export const toAttempts = ({ cell_key, operation, run_id }: Led): To => ({
  view: "table",
  only: cell_key,
  operation,
  ...Object.fromEntries(["store", "client", "status", "rows", "seed"].map((name) => [name, ""])),
  ...(run_id ? { run: run_id } : {}),
});

/** Return the link to an attempt's phases, or for a cell's operation to its attempts. */
export function toNext(led: Led): To {
  const { run_id, attempt_id } = led;
  if (!run_id || !attempt_id) return toAttempts(led);
  return { view: "phases", attempt: attempt_id, run: run_id };
}

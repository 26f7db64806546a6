/** Links from a figure to its source: to a cell's history, to attempts, or to an attempt's phases. */

/** A link, as changes of the address. */
export type To = Record<string, string>;

/** The subject of a figure: a cell's operation, possibly within a run, or a single attempt. */
export interface LinkTarget {
  cell_key: string;
  operation: string;
  run_id?: string;
  attempt_id?: string;
}

/** Return only these fields of a larger object. */
export const linkTargetOf = ({ cell_key, operation, run_id, attempt_id }: LinkTarget): LinkTarget => ({
  cell_key,
  operation,
  ...(run_id ? { run_id } : {}),
  ...(attempt_id ? { attempt_id } : {}),
});

/** Return the link to the history of a cell's operation. */
export const toHistory = ({ cell_key, operation }: LinkTarget, metric = ""): To => ({
  view: "history",
  cell: cell_key,
  operation,
  metric,
});

/** Return the link to a run's attempts at a cell's operation, without the table's other filters. */
export const toAttempts = ({ cell_key, operation, run_id }: LinkTarget): To => ({
  view: "table",
  only: cell_key,
  operation,
  ...Object.fromEntries(["store", "client", "status", "rows", "seed"].map((name) => [name, ""])),
  ...(run_id ? { run: run_id } : {}),
});

/** Return the link to an attempt's phases, or for a cell's operation to its attempts. */
export function toNext(target: LinkTarget): To {
  const { run_id, attempt_id } = target;
  if (!run_id || !attempt_id) return toAttempts(target);
  return { view: "phases", attempt: attempt_id, run: run_id };
}

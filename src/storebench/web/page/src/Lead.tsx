import type { ReactNode } from "react";
import { Link } from "react-router-dom";
import type { Choice } from "./choice";

/** Changes of the address: where something leads. */
export type To = Record<string, string>;

/** What a figure is of: a cell's operation, in a run where it is of one, or an attempt at it. */
export interface Led {
  cell_key: string;
  operation: string;
  run_id?: string;
  attempt_id?: string;
}

/** No more than that of what has more. */
export const ledOf = ({ cell_key, operation, run_id, attempt_id }: Led): Led => ({
  cell_key,
  operation,
  ...(run_id ? { run_id } : {}),
  ...(attempt_id ? { attempt_id } : {}),
});

/** All that was ever measured of a cell's operation. */
export const toHistory = ({ cell_key, operation }: Led, metric = ""): To => ({
  view: "history",
  cell: cell_key,
  operation,
  metric,
});

/** The attempts of a run at a cell's operation, by whatever the table was filtered before. */
export const toAttempts = ({ cell_key, operation, run_id }: Led): To => ({
  view: "table",
  only: cell_key,
  operation,
  ...Object.fromEntries(["store", "client", "status", "rows", "seed"].map((name) => [name, ""])),
  ...(run_id ? { run: run_id } : {}),
});

/** Where an attempt has spent its time; of a cell's operation all attempts. */
export function toNext(led: Led): To {
  const { run_id, attempt_id } = led;
  if (!run_id || !attempt_id) return toAttempts(led);
  return { view: "phases", attempt: attempt_id, run: run_id };
}

/** A link within the page; only a text where nothing can be led to. */
export function Lead({ choice, to, children }: { choice: Choice; to: To; children: ReactNode }) {
  return choice.link ? <Link to={choice.link(to)}>{children}</Link> : children;
}

import { adviceFor } from "../../model/advice";
import { brokenFirst, isBroken } from "../../model/format";
import type { Square } from "../../model/matrix";

/** A failed operation of a turn. */
export interface Failure {
  operation: string;
  cell: string;
  repeat: string;
  square: Square;
  /** The address of the task in Airflow. */
  link: string | null;
}

const MOST = 5;

/** Group failures with the same operation, cell and reason; broken guarantees come first. */
function grouped(failures: Failure[]): Failure[][] {
  const groups = new Map<string, Failure[]>();
  for (const failure of brokenFirst(failures, ({ square }) => square.attempt)) {
    const key = [failure.operation, failure.cell, failure.square.detail].join("\n");
    groups.set(key, [...(groups.get(key) ?? []), failure]);
  }
  return [...groups.values()];
}

/** Show the failed operations of a run, with the reason and advice. */
export function Failures({ failures }: { failures: Failure[] }) {
  if (!failures.length) return null;
  const groups = grouped(failures);
  return (
    <section className="sb-state sb-problem sb-failures" aria-label="Failures">
      <strong>
        {failures.length} operation{failures.length === 1 ? "" : "s"} failed
      </strong>
      <ul>
        {groups.slice(0, MOST).map((group) => {
          const [{ operation, cell, square, link }] = group as [Failure, ...Failure[]];
          const repeats = group.map(({ repeat }) => repeat);
          const where = `${operation} of ${cell}, repeat${group.length === 1 ? "" : "s"} ${repeats.join(", ")}`;
          return (
            <li
              key={`${where} ${square.detail}`}
              className={square.attempt && isBroken(square.attempt) ? "sb-broken" : undefined}
            >
              {link ? <a href={link}>{where}</a> : where}
              <span className="sb-reason">{square.detail}</span>
              <em>{adviceFor(square.attempt?.error_kind ?? null)}</em>
            </li>
          );
        })}
      </ul>
      {groups.length > MOST ? `And ${groups.length - MOST} other reasons, in the grid below.` : null}
    </section>
  );
}

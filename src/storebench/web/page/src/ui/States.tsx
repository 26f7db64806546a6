import type { ReactNode } from "react";
import type { Loaded } from "../api/loading";

/** Show loaded data, or the state of loading or a problem instead. */
export function Ready<T>({
  of,
  children,
  empty,
}: {
  of: Loaded<T>;
  children: (data: T) => ReactNode;
  empty?: ReactNode;
}) {
  const { data, problem } = of;
  if (data === undefined && !problem) return <Loading />;
  const warning = problem ? (
    <div className="sb-state sb-problem" role="alert">
      <strong>{title(problem.status)}</strong> {advice(problem.status, problem.message)}
    </div>
  ) : null;
  if (data === undefined) return warning;
  return (
    <>
      {warning}
      {empty && Array.isArray(data) && data.length === 0 ? empty : children(data)}
    </>
  );
}

export const Loading = () => (
  <p className="sb-state" role="status">
    Loading …
  </p>
);

function title(status: number): string {
  if (status === 401) return "You are not logged in.";
  if (status === 403) return "You may not see this.";
  if (status === 404) return "Nothing here.";
  if (status === 503 || status === 0) return "No connection.";
  return "That did not work.";
}

function advice(status: number, message: string): string {
  if (status === 401) return "Log in to Airflow and load the page again.";
  if (status === 403) return "Ask the administrator of this Airflow for permission to see the DAG.";
  return `${message}${/[.!?]$/.test(message) ? "" : "."}`;
}

/** Show that there are no results before the first run. */
export function NoResults() {
  return (
    <div className="sb-state">
      <strong>No results yet.</strong> Start a run of a study under <strong>Start</strong>, or with{" "}
      <code>make run</code>; its cells appear as soon as the run is planned.
    </div>
  );
}

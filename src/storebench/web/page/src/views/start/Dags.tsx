import type { ReactNode } from "react";
import { studies } from "../../api/airflow";
import { useLoaded } from "../../api/loading";
import type { Choose } from "../../model/choice";
import { optionsOf, Select } from "../../ui/Select";
import { Ready } from "../../ui/States";

const EVERY_MS = 15_000;

/** Show a view of a study's DAG: the DAG of the page, a chosen DAG, or the DAG of the run in the address. `clears` is the parameter of the address that another choice resets. */
export function OfDag({
  dagId,
  asked,
  choose,
  clears,
  children,
}: {
  dagId?: string;
  asked: URLSearchParams;
  choose: Choose;
  clears: string;
  children: (dag: string) => ReactNode;
}) {
  const loaded = useLoaded(studies, "studies", EVERY_MS);
  return (
    <Ready of={loaded} empty={<p className="sb-state">There is no study whose DAG you may see.</p>}>
      {(dags) => {
        const ofRun = dags.find(({ dag_id }) => dag_id === dagOfRun(asked));
        const dag = dagId ?? asked.get("dag") ?? ofRun?.dag_id ?? (dags[0]?.dag_id as string);
        return (
          <>
            {dagId ? null : (
              <div className="sb-fields">
                <Select
                  label="Study"
                  value={dag}
                  options={optionsOf(dags.map(({ dag_id }) => dag_id))}
                  onChoose={(dag) => choose({ dag, [clears]: "" })}
                />
              </div>
            )}
            {dags.find(({ dag_id }) => dag_id === dag)?.is_paused ? (
              <p className="sb-state sb-problem">
                <strong>This DAG is paused in Airflow.</strong> New runs wait until you unpause the DAG.
              </p>
            ) : null}
            {children(dag)}
          </>
        );
      }}
    </Ready>
  );
}

/** Return the DAG in the ID of the run in the address; undefined without a run, and for a name such as `latest`. */
function dagOfRun(asked: URLSearchParams): string | undefined {
  const [dag, ...run] = (asked.get("run") ?? "").split("/");
  return run.length ? dag : undefined;
}

/** Tell the user that the permission to start runs is missing. */
export function NoPermission() {
  return (
    <p className="sb-state sb-problem" role="alert">
      <strong>You may not start runs of this DAG.</strong> Ask the administrator of this Airflow for
      permission, or send this page's address to somebody with that permission.
    </p>
  );
}

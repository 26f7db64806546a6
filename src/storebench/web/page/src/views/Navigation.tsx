import { Link } from "react-router-dom";
import { studies } from "../api/airflow";
import { useLoaded } from "../api/loading";
import type { Run } from "../api/types";
import { GROUPS, groupOf, type View } from "../model/navigation";
import { Picker } from "../ui/Picker";

/** The parameters that narrow a view to a single cell or attempt. The navigation's links reset them. */
export const OF_ONE = { only: "", attempt: "" };

/** Show the links to the groups of views, and to the views of the current group. */
export function Navigation({
  view,
  link,
}: {
  view: View;
  link: (changes: Record<string, string>) => string;
}) {
  const current = groupOf(view);
  const to = (name: string) => link({ view: name, ...OF_ONE });
  const views = Object.entries(GROUPS[current]);
  return (
    <>
      <nav aria-label="Views" className="sb-views">
        {Object.entries(GROUPS).map(([group, views]) => (
          <Link
            key={group}
            to={to(Object.keys(views)[0] as string)}
            aria-current={group === current ? "true" : undefined}
          >
            {group}
          </Link>
        ))}
      </nav>
      {views.length > 1 ? (
        <nav aria-label={current} className="sb-subviews">
          {views.map(([name, title]) => (
            <Link key={name} to={to(name)} aria-current={name === view ? "page" : undefined}>
              {title}
            </Link>
          ))}
        </nav>
      ) : null}
    </>
  );
}

/** Show the chosen study and a searchable list of the studies that have a DAG or a run. */
export function StudyMenu({
  chosen,
  runs,
  onChoose,
}: {
  chosen: string | undefined;
  runs: Run[];
  onChoose: (study: string) => void;
}) {
  const { data: dags = [] } = useLoaded(studies, "studies to choose");
  const names = new Set(dags.map(({ dag_id }) => dag_id));
  const others = [...new Set(runs.map(({ study }) => study))].filter((study) => !names.has(study)).sort();
  return (
    <Picker
      label="Study"
      shown={chosen ?? "choose a study"}
      chosen={chosen}
      onChoose={onChoose}
      options={[
        ...[...names].map((id) => ({ id, text: id, group: "with a DAG" })),
        ...others.map((id) => ({ id, text: id, group: "only results" })),
      ]}
    />
  );
}

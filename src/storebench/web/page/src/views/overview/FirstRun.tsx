import { Link } from "react-router-dom";
import { studies } from "../../api/airflow";
import { get } from "../../api/api";
import { useLoaded } from "../../api/loading";
import type { Choice } from "../../model/choice";
import { grouped } from "../../model/units";
import { Card } from "../../ui/Card";
import { NoResults, Ready } from "../../ui/States";
import { amountText } from "../start/StartView";

const MOST = 4;

/** Show what the first run of a study would give, and a link to its form. */
export function FirstRun({ dag, choice }: { dag: string; choice: Choice }) {
  const { data: draft } = useLoaded((signal) => get("/api/draft", { dag }, signal), `first run ${dag}`);
  const labels = draft?.cells.slice(0, MOST).map(({ label }) => label) ?? [];
  const more = (draft?.cells_total ?? 0) - labels.length;
  return (
    <Card title={dag} className="sb-overview">
      <p className="sb-answer">
        <strong>No results yet.</strong> A first run shows which store is best at each operation, with the
        attempts behind each figure.
      </p>
      {draft?.operations ? (
        <p>
          With the defaults, the run measures {labels.join("; ")}
          {more > 0 ? ` and ${grouped(more)} more cells` : ""}: {amountText(draft)}.
        </p>
      ) : null}
      <p className="sb-steps">
        <Link className="sb-button sb-primary" to={choice.link?.({ view: "start", dag }) ?? ""}>
          Start a run
        </Link>
        <span className="sb-note">
          or <code>make run STUDY={dag}</code>
        </span>
      </p>
    </Card>
  );
}

/** Show what the first run of each study would give. */
export function FirstRuns({ choice }: { choice: Choice }) {
  const loaded = useLoaded(studies, "studies without results");
  return (
    <Ready of={loaded} empty={<NoResults />}>
      {(dags) => dags.map(({ dag_id }) => <FirstRun key={dag_id} dag={dag_id} choice={choice} />)}
    </Ready>
  );
}

import { useState } from "react";
import { useLoaded } from "../../api/loading";
import type { Run } from "../../api/types";
import { StateBadge } from "../../ui/Badge";
import { Picker } from "../../ui/Picker";
import { counts, loadRuns, runName, runParts } from "./Runs";

/** Show the chosen run and a searchable list of the newest runs. With `dag`, the list loads older runs of the DAG when it opens. */
export function RunMenu({
  label,
  chosen,
  runs,
  dag,
  onChoose,
}: {
  label: string;
  chosen: string | undefined;
  runs: Run[];
  dag?: string | undefined;
  onChoose: (id: string) => void;
}) {
  const [opened, setOpened] = useState(false);
  const wanted = opened && dag !== undefined;
  const older = useLoaded(
    async (signal) => (wanted ? (await loadRuns(dag, signal)).items : []),
    wanted ? `runs to choose ${dag}` : "",
  );
  const known = new Set(runs.map(({ id }) => id));
  const listed = [...runs, ...(older.data ?? []).filter(({ id }) => !known.has(id))];
  const run = listed.find(({ id }) => id === chosen);
  return (
    <Picker
      label={label}
      shown={run ? runName(run) : (chosen ?? "choose a run")}
      title={chosen}
      chosen={chosen}
      onOpen={() => setOpened(true)}
      onChoose={onChoose}
      options={listed.map((run) => ({
        id: run.id,
        text: runName(run),
        also: counts(run),
        group: run.state,
        title: run.id,
        children: (
          <>
            <StateBadge state={run.state} /> {runParts(run).join(" · ")}
          </>
        ),
      }))}
    />
  );
}

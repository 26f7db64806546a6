import { useState } from "react";
import { useLoaded } from "../../api/loading";
import type { Run } from "../../api/types";
import { StateBadge } from "../../ui/Badge";
import { Picker } from "../../ui/Picker";
import { optionsOf, Select } from "../../ui/Select";
import { counts, loadRuns, runName, runParts } from "./Runs";

/**
 * Show the chosen run and a searchable list of the newest runs, with a filter by tag if a run has tags. With `dag`, the list loads older runs
 * of the DAG when it opens.
 */
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
  const [tag, setTag] = useState("");
  const wanted = opened && (dag !== undefined || tag !== "");
  const older = useLoaded(
    async (signal) => (wanted ? (await loadRuns(dag, signal, tag)).items : []),
    wanted ? `runs to choose ${dag} ${tag}` : "",
  );
  const known = new Set(runs.map(({ id }) => id));
  const all = [...runs, ...(older.data ?? []).filter(({ id }) => !known.has(id))];
  const tags = [...new Set([...all.flatMap((run) => run.tags), ...(tag ? [tag] : [])])].sort();
  const run = all.find(({ id }) => id === chosen);
  const listed = all.filter((run) => !tag || run.tags.includes(tag));
  const picker = (
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
  if (!tags.length) return picker;
  return (
    <>
      {picker}
      <Select
        label={`${label}: tag`}
        value={tag}
        options={[["", "any"], ...optionsOf(tags)]}
        onChoose={setTag}
      />
    </>
  );
}

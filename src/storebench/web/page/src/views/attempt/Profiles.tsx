import { useCallback, useMemo, useState } from "react";
import type { AttemptProfiles, Profile } from "../../api/types";
import { Chart } from "../../charts/Chart";
import { flameSpec } from "../../charts/flame";
import { frameAt, stacksOf, topFunctions, treeOf } from "../../model/profile";
import type { Theme } from "../../ui/theme";

const MOST_FUNCTIONS = 30;
const OF_WALL = "_wall"; // ends the name of a profile that also counts threads that wait

/** Show which functions of an attempt's client ran: a flame graph of each profile, and its functions as a table. */
export function Profiles({ profiles, ...attempt }: AttemptProfiles) {
  return Object.entries(profiles).map(([name, profile]) =>
    profile.folded === null ? (
      <p key={name} className="sb-line">
        No profile of {name}: {profile.unknown}.
      </p>
    ) : (
      <FlameGraph key={name} name={name} profile={profile} folded={profile.folded} {...attempt} />
    ),
  );
}

interface Props extends Omit<AttemptProfiles, "profiles"> {
  name: string;
  profile: Profile;
  folded: string;
}

function FlameGraph({ name, profile, folded, run, attempt_id, operation }: Props) {
  const [focus, setFocus] = useState<string[]>([]);
  const stacks = useMemo(() => stacksOf(folded), [folded]);
  const root = useMemo(() => treeOf(stacks), [stacks]);
  const shown = frameAt(root, focus);
  const title = `Profile of ${name}`;
  const description = `Flame graph of ${shown.total} samples: each function below the function that called it.`;
  const spec = useCallback(
    (width: number, theme: Theme) => flameSpec(shown, focus, root.total, description, width, theme),
    [shown, focus, root, description],
  );
  const pick = useCallback((datum: unknown) => {
    const path = (datum as { path?: string[] } | undefined)?.path;
    if (path) setFocus(path);
  }, []);
  return (
    <>
      <Chart
        title={title}
        source={`${operation} of the run ${run}`}
        run={run}
        name={`profile-${name}`}
        sql={`SELECT name, sampler, hz, samples, dropped_samples, stacks FROM storebench.profile WHERE attempt_id = '${attempt_id}'`}
        description={description}
        spec={spec}
        pick={pick}
        table={topFunctions(stacks, MOST_FUNCTIONS).map(({ name, self, total }) => ({
          function: name,
          self_samples: self,
          self_share: self / root.total,
          total_samples: total,
          total_share: total / root.total,
        }))}
        note={note(name, profile)}
      />
      {focus.length ? (
        <p className="sb-line">
          <button type="button" onClick={() => setFocus([])}>
            Show all functions
          </button>
        </p>
      ) : null}
    </>
  );
}

const note = (name: string, { sampler, hz, samples, dropped_samples }: Profile) =>
  [
    `${name.endsWith(OF_WALL) ? "All threads, running or waiting" : "Running threads"}, sampled by ${sampler}, ${hz} times per second. The attempt never counts.`,
    dropped_samples
      ? `${dropped_samples} of ${samples} samples were of rare stacks, and were not stored.`
      : "",
    "Click a function to enlarge it. The figures list the functions by their own samples.",
  ]
    .filter(Boolean)
    .join(" ");

/** The views of the page, their groups, and the study of an address. */
import type { Run } from "../api/types";
import type { Asked } from "./choice";
import { rankKey } from "./ranking";

export const GROUPS = {
  Explore: {
    overview: "Overview",
    charts: "Charts",
    phases: "Where the time went",
    ranking: "Ranking",
    history: "History",
    sizes: "Server sizes",
    table: "Table",
  },
  Compare: { compare: "Compare" },
  Run: { start: "Start", run: "Live run", backfill: "Fill a grid" },
} as const;

type Group = keyof typeof GROUPS;
export type View = { [G in Group]: keyof (typeof GROUPS)[G] }[Group];

const TITLES: Record<string, string> = Object.assign({}, ...Object.values(GROUPS));
export const titleOfView = (view: View) => TITLES[view] as string;

/** Return the name of the group of a view. */
export const groupOf = (view: View) =>
  (Object.keys(GROUPS) as Group[]).find((group) => view in GROUPS[group]) as Group;

/** Return the view of an address. Without a view, an address that names a run shows the run, and any other the overview. */
export function viewIn(asked: Asked, namesRun: boolean): View {
  const view = asked.get("view") ?? "";
  if (Object.hasOwn(TITLES, view)) return view as View;
  return namesRun ? "run" : "overview";
}

/** The views of one run. */
export const OF_RUN: Partial<Record<View, true>> = { run: true, charts: true, phases: true, table: true };

/** The parameters that belong to a study: the choice of another study removes them. */
const OF_STUDY = [
  ...["run", "dag", "conf", "params", "before", "after", "by", "metric", "cell", "operation"],
  ...["only", "attempt", "store", "client", "status", "rows", "seed", "sort", "offset", "without", "stores"],
];

/** Return the changes of the address for another study. */
export function chosenStudy(asked: URLSearchParams, study: string): Record<string, string> {
  const ofStudy = [...asked.keys()].filter(
    (name) => OF_STUDY.includes(name) || /^(axis|metric|sizes):/.test(name) || name.startsWith(rankKey("")),
  );
  return { ...Object.fromEntries(ofStudy.map((name) => [name, ""])), study };
}

/**
 * Return the study of an address: the study of the named run, in a view of one run, or else the chosen study, or else the study of the run
 * that is shown by default.
 */
export function studyIn(
  asked: Asked,
  view: View,
  { named, newest, runs }: { named: string | undefined; newest: string | undefined; runs: Run[] },
): string | undefined {
  // a run's ID begins with its DAG; `latest` and `baseline:NAME` do not
  const ofRun = (id: string | undefined) =>
    runs.find((run) => run.id === id)?.study ?? (id?.includes("/") ? id.split("/")[0] : undefined);
  const ofNamed = ofRun(named);
  if (view in OF_RUN && ofNamed) return ofNamed;
  const ranked = view === "ranking" ? asked.get(rankKey("study")) : null;
  return ranked ?? asked.get("study") ?? asked.get("dag") ?? ofNamed ?? ofRun(newest);
}

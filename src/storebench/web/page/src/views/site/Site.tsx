import { useState } from "react";
import type { Ranking, Study } from "../../api/types";
import { useOwnChoice } from "../../charts/ChartViews";
import { valueText } from "../../model/cells";
import { duration, moment } from "../../model/format";
import { grouped, NONE } from "../../model/units";
import { StateBadge } from "../../ui/Badge";
import { Card } from "../../ui/Card";
import { ScrollTable } from "../../ui/ScrollTable";
import { AnswerBars, Answers } from "../overview/StudyAnswer";
import { counts, type Listed, runName, took, whatOf } from "../run/Runs";

/** A run and its page; a refused run has none. */
type SiteRun = Listed & { page: string | null };

/** The content of a site's first page, which `storebench site` writes into the page's file. */
export interface SiteContent {
  written_at: string;
  code_version: string;
  studies: {
    name: string;
    title: string;
    /** The number of rows of each table's files. */
    rows: Record<string, number>;
    /** The page of its rankings, if it has any. */
    rankings: string | null;
    /** The ranking of each operation, for the study's answer. */
    overview: { study: Study; rankings: Ranking[] };
  }[];
  /** The runs, newest first. */
  runs: SiteRun[];
}

/** The number of a study's runs that are shown at first. */
const MOST = 100;
const COLUMNS = ["started, UTC", "what", "rows", "seed", "state", "operations", "took", "code"];
const FORMATS = { csv: "CSV", parquet: "Parquet" };

/** Show all studies with their runs and data files. */
export function Site({ site: { written_at, code_version, studies, runs } }: { site: SiteContent }) {
  const [wanted, setWanted] = useState("");
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = runs.filter((run) => {
    const text = `${runName(run)} ${run.airflow_run_id}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return (
    <main className="sb-page">
      <h1>Results</h1>
      <p className="sb-line">
        {grouped(runs.length)} runs · written {moment(written_at)} UTC by Storebench {code_version} · all runs
        as <Files stem="data/runs" />
      </p>
      <label className="sb-field">
        Runs with these words
        <input value={wanted} onChange={(event) => setWanted(event.target.value)} />
      </label>
      {studies.map(({ name, title, rows, rankings, overview }) => (
        <section key={name} aria-label={title}>
          <h2>{title}</h2>
          <Answered {...overview} />
          {rankings ? (
            <p className="sb-line">
              <a href={rankings}>Ranking of {title}</a>
            </p>
          ) : null}
          {Object.entries(rows).map(([table, count]) => (
            <p key={table} className="sb-line">
              {table}, {grouped(count)} rows: <Files stem={`data/${name}/${table}`} />
            </p>
          ))}
          <RunTable title={title} runs={matching.filter((run) => run.study === name)} />
        </section>
      ))}
    </main>
  );
}

/** Show the answer of a study: a sentence for each operation, and the ranked bars of the first. */
function Answered({ study, rankings }: { study: Study; rankings: Ranking[] }) {
  const choice = useOwnChoice();
  const [first] = rankings;
  if (!first) return null;
  return (
    <Card title="Overview" className="sb-overview">
      <Answers of={rankings.map((ranking) => ({ study, ranking }))} />
      <AnswerBars study={study} ranking={first} choice={choice} />
    </Card>
  );
}

/** Show links to a table's files. */
const Files = ({ stem }: { stem: string }) =>
  Object.entries(FORMATS).map(([end, format]) => (
    <a key={end} href={`${stem}.${end}`} aria-label={`${stem} as ${format}`}>
      {format}
    </a>
  ));

function RunTable({ title, runs }: { title: string; runs: SiteRun[] }) {
  const [all, setAll] = useState(false);
  const shown = all ? runs : runs.slice(0, MOST);
  if (!runs.length) return <p className="sb-state">No run of this study has these words.</p>;
  return (
    <>
      <ScrollTable label={`Runs of ${title}`} columns={COLUMNS}>
        {shown.map((run) => (
          <tr key={run.id}>
            <td className="sb-short">
              {run.page ? <a href={run.page}>{moment(run.started_at)}</a> : moment(run.started_at)}
            </td>
            <td>{whatOf(run) || NONE}</td>
            <td className="sb-number">{valueText(run.rows)}</td>
            <td className="sb-number">{run.seed ?? NONE}</td>
            <td>
              <StateBadge state={run.state} /> {run.reason}
            </td>
            <td>{run.state === "refused" ? NONE : counts(run)}</td>
            <td className="sb-short">{run.finished_at ? duration(took(run)) : NONE}</td>
            <td className="sb-short">{run.code_version}</td>
          </tr>
        ))}
      </ScrollTable>
      {shown.length < runs.length ? (
        <p className="sb-line">
          The newest {MOST} of {grouped(runs.length)} are shown.
          <button type="button" onClick={() => setAll(true)}>
            show all
          </button>
        </p>
      ) : null}
    </>
  );
}

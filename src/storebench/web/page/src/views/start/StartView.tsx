import { useState } from "react";
import { Link } from "react-router-dom";
import { dagLink, runLink, startRun } from "../../api/airflow";
import { get, Problem } from "../../api/api";
import { useLoaded, useSettled } from "../../api/loading";
import type { Draft, Form } from "../../api/types";
import type { Choose } from "../../model/choice";
import { estimateText, isWide, roughly } from "../../model/format";
import { grouped } from "../../model/units";
import { type Typed, textOf, typedOf } from "../../ui/Parameters";
import { ScrollTable } from "../../ui/ScrollTable";
import { Ready } from "../../ui/States";
import { NoPermission, OfDag } from "./Dags";
import { FormFields } from "./FormFields";

interface Props {
  dagId?: string;
  asked: URLSearchParams;
  choose: Choose;
}

/** Show the form of a study's run, its draft while the user types, and start the run. */
export function StartView({ dagId, asked, choose }: Props) {
  return (
    <OfDag {...{ dagId, asked, choose }} clears="conf">
      {(dag) => <FormOf key={dag} dag={dag} asked={asked} choose={choose} />}
    </OfDag>
  );
}

function FormOf({ dag, asked, choose }: { dag: string; asked: URLSearchParams; choose: Choose }) {
  const loaded = useLoaded((signal) => get("/api/form", { dag }, signal), `form ${dag}`);
  return <Ready of={loaded}>{(form) => <Drafted {...{ dag, form, asked, choose }} />}</Ready>;
}

/** Load the draft of a run with these parameters. */
const useDraft = (dag: string, params: string) =>
  useLoaded(
    (signal) => get("/api/draft", { dag, params: params || undefined }, signal),
    `draft ${dag} ${params}`,
  );

function Drafted({
  dag,
  form,
  asked,
  choose,
}: {
  dag: string;
  form: Form;
  asked: URLSearchParams;
  choose: Choose;
}) {
  const [typed, setTyped] = useState(() => typedOf(asked.get("conf")));
  const text = textOf(typed);
  const params = useSettled(text);
  const loaded = useDraft(dag, params);
  const settled = params === text && loaded.data !== undefined;
  const change = (after: Typed) => {
    setTyped(after);
    choose({ conf: textOf(after) }, true);
  };
  const known = new Set(form.sections.flatMap(({ fields }) => fields.map(({ name }) => name)));
  const mistakes = loaded.data?.mistakes ?? [];
  const ofFields = new Map(
    mistakes.flatMap(({ parameter, text }) =>
      parameter !== null && known.has(parameter) ? [[parameter, text] as const] : [],
    ),
  );
  const draft = loaded.data;
  return (
    <>
      <FormFields
        {...{ form, typed, change }}
        mistakes={ofFields}
        estimate={draft && !draft.mistakes.length ? <Estimate draft={draft} /> : null}
      />
      {draft?.cells.length ? <Cells draft={draft} /> : null}
      <p className="sb-note">
        Airflow has <a href={dagLink(dag)}>its own form</a>, under <strong>Trigger</strong>, with the same
        fields in the same sections. The run's first task checks the conditions that only the cluster knows
        before any work, such as whether servers fit there.
      </p>
      <Ready of={loaded}>{(ready) => <Foreseen dag={dag} draft={ready} settled={settled} />}</Ready>
    </>
  );
}

/** Show the size of the run beside the fields that change it. */
function Estimate({ draft }: { draft: Draft }) {
  if (!draft.operations) return null;
  return (
    <div className="sb-estimate">
      <strong className="sb-figure">{estimateText(draft.expected_s, draft.expected_most_s)}</strong>
      {isWide(draft.expected_s, draft.expected_most_s) ? (
        <span className="sb-about">
          Up to {roughly(draft.expected_most_s)} if all of the time grows with the rows. A first measurement
          with these rows makes the estimate better.
        </span>
      ) : null}
    </div>
  );
}

/** Show the draft of the run or the reasons to refuse it, and start the run. */
function Foreseen({ dag, draft, settled }: { dag: string; draft: Draft; settled: boolean }) {
  const [sending, setSending] = useState(false);
  const [sent, setSent] = useState<{ run?: string; problem?: Problem }>();
  const start = async () => {
    setSending(true);
    try {
      setSent({ run: await startRun(dag, draft.conf) });
    } catch (error) {
      setSent({ problem: error instanceof Problem ? error : new Problem(0, String(error)) });
    }
    setSending(false);
  };
  return (
    <section className="sb-step sb-go" aria-labelledby="sb-go">
      <h3 id="sb-go">3. Go</h3>
      {draft.may_start ? null : <NoPermission />}
      {sent ? <Outcome dag={dag} {...sent} /> : null}
      <div className="sb-go-line">
        <div className="sb-state sb-go-status" role="status">
          {draft.mistakes.length ? <Mistakes draft={draft} /> : <Summary draft={draft} />}
        </div>
        <button
          type="button"
          className="sb-start"
          disabled={!draft.may_start || !settled || sending || draft.operations === 0}
          onClick={start}
        >
          {sending ? "Starting …" : "Start the run"}
        </button>
      </div>
    </section>
  );
}

function Mistakes({ draft: { mistakes } }: { draft: Draft }) {
  return (
    <>
      <strong>This run would be refused:</strong>
      <ul>
        {mistakes.map(({ text }) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </>
  );
}

/** Describe the amount of work of a run in a sentence. */
export function amountText({ operations, unknown, expected_s, expected_most_s }: Draft, times = 1): string {
  const many = grouped(operations * times);
  const guess =
    unknown === operations
      ? ". The time is a guess: nothing like them was measured here before"
      : unknown
        ? `. For ${grouped(unknown * times)} of them, which are like none before, the time is a guess`
        : "";
  return `${many} operation${operations * times === 1 ? "" : "s"}, ${estimateText(
    expected_s * times,
    expected_most_s * times,
  )}${guess}`;
}

function Summary({ draft }: { draft: Draft }) {
  const verified = draft.cells.filter(({ skipped }) => skipped !== null).length;
  const cells = `${grouped(draft.cells_total)} cell${draft.cells_total === 1 ? "" : "s"}`;
  return (
    <>
      <strong>
        {draft.operations
          ? `${cells}, ${amountText(draft)}.`
          : "All of these cells are verified: there is nothing to do."}
      </strong>
      {draft.may_end_earlier ? " It may end earlier, by its precision or its budget." : ""}
      {draft.operations && verified ? ` ${verified} of the cells listed below are verified already.` : ""}
    </>
  );
}

/** Show the cells of the run, and the excluded combinations with the reasons, folded. */
function Cells({ draft }: { draft: Draft }) {
  const more = draft.cells_total - draft.cells.length;
  return (
    <details className="sb-preview">
      <summary>
        Preview of the grid: {grouped(draft.cells_total)} cell{draft.cells_total === 1 ? "" : "s"}
        {draft.dropped ? `, ${grouped(draft.dropped)} combinations excluded` : ""}
      </summary>
      {draft.dropped ? (
        <>
          <p>{grouped(draft.dropped)} combinations are excluded:</p>
          <ul>
            {draft.dropped_because.split("; ").map((reason) => (
              <li key={reason}>{reason}</li>
            ))}
          </ul>
        </>
      ) : null}
      <ScrollTable label="The run's cells" columns={["cell", "repeats"]}>
        {draft.cells.map(({ key, label, repeats, skipped }) => (
          <tr key={key}>
            <th scope="row">{label}</th>
            <td className="sb-short">{skipped ?? repeats}</td>
          </tr>
        ))}
      </ScrollTable>
      {more ? <p className="sb-note">And {grouped(more)} others.</p> : null}
    </details>
  );
}

function Outcome({ dag, run, problem }: { dag: string; run?: string; problem?: Problem }) {
  if (run === undefined)
    return (
      <p className="sb-state sb-problem" role="alert">
        <strong>Airflow did not start it.</strong> {problem?.message}
      </p>
    );
  const here = new URLSearchParams({ view: "run", run: `${dag}/${run}` });
  return (
    <p className="sb-state" role="status">
      <strong>The run is started.</strong> Follow the run under <Link to={`?${here}`}>Run</Link>, which can
      stop the run. <a href={runLink(dag, run)}>Airflow shows the run, too</a>.
    </p>
  );
}

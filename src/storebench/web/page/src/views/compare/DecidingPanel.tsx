import { useState } from "react";
import { Link } from "react-router-dom";
import { type Conf, runsLink, startRun } from "../../api/airflow";
import { get, Problem } from "../../api/api";
import { useLoaded } from "../../api/loading";
import type { Deciding, Draft } from "../../api/types";
import { estimateText } from "../../model/format";
import { Ready } from "../../ui/States";
import { NoPermission } from "../start/Dags";
import { amountText } from "../start/StartView";
import type { Asked } from "./Sides";

const LEAST = 5;

/** Say what would decide the inconclusive verdicts. On request, show these runs, and start them. */
export function DecidingPanel({ asked, inconclusive }: { asked: Asked; inconclusive: number }) {
  const [open, setOpen] = useState(false);
  const loaded = useLoaded((signal) => plan(asked, signal), `deciding ${JSON.stringify(asked)}`);
  return (
    <>
      <p className="sb-line">
        <span>
          {inconclusive} inconclusive{loaded.data ? `: ${outlookText(loaded.data)}` : ""}.
        </span>
        <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
          measure these in turns
        </button>
      </p>
      {open ? <Ready of={loaded}>{(planned) => <InTurns {...planned} asked={asked} />}</Ready> : null}
    </>
  );
}

/** Describe the runs that would probably decide the inconclusive verdicts. */
function outlookText({ deciding, turn }: Planned): string {
  if (deciding.refused !== null) return "more repeats cannot decide these";
  const { expected_s, expected_most_s } = together(turn);
  const { turns } = deciding;
  return `${turns} more repeats of each side would probably decide, ${estimateText(
    turns * expected_s,
    turns * expected_most_s,
  )}`;
}

/** The deciding runs, and the drafts of one turn. */
interface Planned {
  deciding: Deciding;
  turn: Draft[];
}

async function plan(asked: Asked, signal: AbortSignal): Promise<Planned> {
  const deciding = await get("/api/deciding", asked, signal);
  const once = deciding.parts.map(({ params }) => JSON.stringify({ ...params, repeats: 1 }));
  const turn = await Promise.all(
    once.map((params) => get("/api/draft", { dag: deciding.dag_id, params }, signal)),
  );
  return { deciding, turn };
}

/** Sum the drafts of a turn's sides. */
function together(turn: Draft[]): Draft {
  const [first, ...others] = turn as [Draft, ...Draft[]];
  const sum = (of: (draft: Draft) => number) => turn.reduce((before, draft) => before + of(draft), 0);
  return {
    ...first,
    mistakes: [first, ...others].flatMap(({ mistakes }) => mistakes),
    operations: sum((draft) => draft.operations),
    unknown: sum((draft) => draft.unknown),
    expected_s: sum((draft) => draft.expected_s),
    expected_most_s: sum((draft) => draft.expected_most_s),
  };
}

/** Return the runs of these turns in order: A, B, B, A, A, B, …, so that a drift affects both sides. */
export function inOrder(deciding: Deciding, turns: number): { side: string; turn: number; params: Conf }[] {
  return Array.from({ length: turns }, (_, n) => n + 1).flatMap((turn) =>
    (turn % 2 ? deciding.parts : [...deciding.parts].reverse()).map((part) => ({ ...part, turn })),
  );
}

function InTurns({ deciding, turn, asked }: Planned & { asked: Asked }) {
  const [turns, setTurns] = useState(String(deciding.turns));
  const [sent, setSent] = useState<Sent>();
  const [sending, setSending] = useState(false);
  const hopeless = deciding.hopeless.length ? (
    <>
      {" "}
      No number of turns would decide:
      <ul>
        {deciding.hopeless.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </>
  ) : null;
  if (deciding.refused !== null)
    return (
      <div className="sb-state sb-problem" role="status">
        <strong>These cannot be measured in turns.</strong> {deciding.refused}.{hopeless}
      </div>
    );
  const count = Number(turns);
  const valid = Number.isInteger(count) && count >= LEAST && count <= deciding.most_turns;
  const draft = together(turn);
  const isOneRun = deciding.parts.length === 1;
  const start = async () => {
    setSending(true);
    setSent(
      await (isOneRun ? startRounds(deciding, count, asked) : startTurns(deciding, count, asked, setSent)),
    );
    setSending(false);
  };
  return (
    <div className="sb-state">
      <label className="sb-field">
        Turns
        <input
          className="sb-amount"
          value={turns}
          inputMode="numeric"
          aria-invalid={valid ? undefined : true}
          onChange={(event) => setTurns(event.target.value)}
        />
      </label>
      <p role="status">
        {draft.mistakes.length
          ? `Such a run would be refused: ${draft.mistakes.map(({ text }) => text).join("; ")}.`
          : valid
            ? `${isOneRun ? `One run of ${count} rounds, each with both sides` : `${2 * count} runs, A and B in turns`}: ${amountText(draft, count)}.`
            : `From ${LEAST} to ${deciding.most_turns} turns.`}
        {hopeless}
      </p>
      {deciding.notes.length ? (
        <ul>
          {deciding.notes.map((text) => (
            <li key={text}>{text}.</li>
          ))}
        </ul>
      ) : null}
      {draft.may_start ? null : <NoPermission />}
      <p className="sb-line">
        <button
          type="button"
          className="sb-start"
          disabled={
            !draft.may_start || !valid || sending || draft.mistakes.length > 0 || sent?.started !== undefined
          }
          onClick={start}
        >
          {sending ? "Starting …" : `Start ${count || ""} turns`}
        </button>
      </p>
      {sent ? <Outcome dag={deciding.dag_id} {...sent} /> : null}
    </div>
  );
}

/** The result of a start: the number of started runs, the address of their comparison, and the problem that prevented further runs. */
interface Sent {
  started?: number;
  of: number;
  to: string;
  problem?: Problem;
}

const problemOf = (error: unknown) => (error instanceof Problem ? error : new Problem(0, String(error)));

/** Start a single run, whose rounds have both sides each. */
async function startRounds(deciding: Deciding, turns: number, { by, metric }: Asked): Promise<Sent> {
  try {
    const params = { ...deciding.parts[0]?.params, repeats: turns };
    const run = `${deciding.dag_id}/${await startRun(deciding.dag_id, params)}`;
    return { started: 1, of: 1, to: linkTo({ before: run, after: run, by, metric }) };
  } catch (error) {
    return { of: 1, to: "", problem: problemOf(error) };
  }
}

/** Start a run of each side in each turn, in order, until Airflow refuses a run. The runs' names include the comparison's ID, which finds both sides. */
async function startTurns(
  deciding: Deciding,
  turns: number,
  { metric }: Asked,
  report: (sent: Sent) => void,
): Promise<Sent> {
  const id = new Date().toISOString().replaceAll(":", "-");
  const runs = inOrder(deciding, turns);
  const to = linkTo({ before: `turns:${id}:A`, after: `turns:${id}:B`, by: undefined, metric });
  let started = 0;
  try {
    for (const { side, turn, params } of runs) {
      await startRun(deciding.dag_id, params, `turns__${id}__${String(turn).padStart(3, "0")}${side}`);
      started += 1;
      report({ started, of: runs.length, to });
    }
  } catch (error) {
    return { ...(started ? { started } : {}), of: runs.length, to, problem: problemOf(error) };
  }
  return { started, of: runs.length, to };
}

function linkTo(asked: Asked): string {
  const given = Object.entries(asked).filter(([, value]) => value !== undefined) as [string, string][];
  return `?${new URLSearchParams([["view", "compare"], ...given])}`;
}

function Outcome({ dag, started, of, to, problem }: Sent & { dag: string }) {
  return (
    <>
      {problem?.status === 403 ? <NoPermission /> : null}
      {problem && problem.status !== 403 ? (
        <p role="alert">
          <strong>Airflow did not start {started ? "the others" : "it"}.</strong> {problem.message}
        </p>
      ) : null}
      {started ? (
        <p role="status">
          <strong>
            {started} of {of} run{of === 1 ? "" : "s"} started.
          </strong>{" "}
          Their results are in <Link to={to}>one comparison</Link>, which fills as the turns end. Its address
          can be shared. <a href={runsLink(dag)}>Airflow lists the runs</a>, and can stop them.
        </p>
      ) : null}
    </>
  );
}

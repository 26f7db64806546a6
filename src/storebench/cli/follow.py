"""Show the progress of a run: a line for each attempt, and on a terminal a last line with the run's progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime

from rich.console import Console
from rich.live import Live
from rich.text import Text

from storebench.answers.units import figure_text
from storebench.cli.airflow_api import Airflow, Look, Task, name_of
from storebench.cli.output.table import differing_columns, remark
from storebench.results.database.connection import Row
from storebench.results.database.repository import Repository, run_id_of
from storebench.results.forecast.expected import duration_text
from storebench.study.order import Turn
from storebench.study.record import StudyRecord
from storebench.study.reserved import DROP

AT_ONCE = 50  # the largest number of attempts that end between two looks
AFTER_OTHERS = "the run begins when the runs before it have ended"
NAMED = 3  # number of earlier runs to name
WAITS_AFTER = 3  # report a wait after this number of looks with a waiting and no running task; two are normal between tasks
AWAITING = "awaiting_input"  # Airflow's state of a task that waits for a user's answer
REASONS = 5  # number of reasons for skipped turns to print


def follow(
    console: Console, airflow: Airflow, repository: Repository, dag_id: str, airflow_run_id: str
) -> str:
    """Show a run until it has ended. Return the run's state.

    Raises StoreUnreachable if Airflow or the results database does not answer for longer than its client waits.
    """

    def why_queued() -> str:
        if airflow.is_paused(dag_id):
            return f"the DAG {dag_id} is paused in Airflow. Unpause the DAG there, and the run begins"
        before = airflow.runs_before(dag_id, airflow_run_id)
        return f"the run begins when {_listed(before)} ended" if before else AFTER_OTHERS

    def why_waiting(pool: str) -> str:
        running = airflow.runs_in_pool(pool)
        others = [f"{run} of {dag}" for dag, run in running if (dag, run) != (dag_id, airflow_run_id)]
        return f"the next pod starts when a pod of {_listed(others)} ended" if others else ""

    run_id = run_id_of(dag_id, airflow_run_id)
    progress = Progress(console, repository, run_id, why_queued, why_waiting)
    state = ""
    # No refresh thread: this machine may also be the machine that measures.
    live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
    with live or nullcontext():
        for look in airflow.watch(dag_id, airflow_run_id):
            state = look.state
            for task in progress.failed(look):
                # The attempts' lines have shown what the task `aggregate` lists after the first line
                reason = airflow.reason(dag_id, airflow_run_id, task).partition("\n")[0].rstrip(":")
                progress.say(f"{name_of(task)}: failed: {reason}")
            progress.take(look)
            if live:
                live.update(Text(progress.status(look), overflow="ellipsis", no_wrap=True), refresh=True)
    progress.say(progress.summary(state))
    return state


class Progress:
    """The progress of a run: its known state, and the lines already printed."""

    def __init__(
        self,
        console: Console,
        repository: Repository,
        run_id: str,
        why_queued: Callable[[], str] = lambda: AFTER_OTHERS,
        why_waiting: Callable[[str], str] = lambda pool: "",
    ) -> None:
        self.console, self.repository, self.run_id = console, repository, run_id
        self.why_queued, self.why_waiting = why_queued, why_waiting
        self.began = datetime.now(UTC)
        self.run: Row | None = None  # None until the plan has recorded the run
        self._lines: _Lines | None = None
        self._printed: set[object] = set()  # ids of the printed attempts and tasks
        self._operations: set[tuple[str, int, str]] = set()
        self._queued = self._waits = 0
        self._ended_at: datetime | None = None  # the run's end in Airflow

    def say(self, line: str) -> None:
        """Print a line without wrapping, so that it can be copied."""
        self.console.print(line, soft_wrap=True, markup=False, highlight=False)

    def failed(self, look: Look) -> list[Task]:
        """Return the tasks that have failed since the last look, without attempts: their results have the failure."""
        failed_tasks = [
            task
            for task in look.changed
            if task["state"] == "failed" and not _has_row(task) and task["id"] not in self._printed
        ]
        self._printed |= {task["id"] for task in failed_tasks}
        return list({task["id"]: task for task in failed_tasks}.values())

    def take(self, look: Look) -> None:
        """Print the attempts that have ended since the last look, and notes about waiting."""
        self._ended_at = look.ended_at
        if look.state == "queued":
            self._queued += 1
            if self._queued == 2:  # every run is queued for a short time
                self.say(f"queued: {self.why_queued()}")
        self._say_waits(look)
        first = self._lines is None
        if not look.over and not any(task["end_date"] for task in (look.tasks if first else look.changed)):
            return
        if first and not self.repository.has_run(self.run_id):
            return
        self.run = self.repository.run_counted(self.run_id)
        if not self.run["planned"]:
            return  # the run was refused, or has no work
        if self._lines is None:
            self.began = self.run["started_at"]
            study = self.repository.study(self.run["study"])
            self._lines = _Lines(self.repository.recorded_turns(self.run_id), study)
            expected = f", about {takes}" if (takes := self._expected()) else ""
            self.say(f"{self.run['planned']} operations{expected}:  {self._lines.alike}".rstrip(": "))
            self._say_excluded()
            self.say(self._lines.heading(self.run["planned"]))
        limit = None if first or look.over else AT_ONCE
        for row in self.repository.results(run=self.run_id, limit=limit):
            if row["attempt_id"] not in self._printed:
                self._printed.add(row["attempt_id"])
                self._operations.add((row["cell_key"], row["repeat"], row["operation"]))
                self.say(self._lines.of(row, len(self._operations), self.run["planned"]))

    def _say_waits(self, look: Look) -> None:
        """Print that the run waits for approval, and that the next pod waits for a pod of another run, once until a task of the run starts."""
        states = {task["state"] for task in look.tasks}
        if AWAITING in states and AWAITING not in self._printed:
            self._printed.add(AWAITING)
            self.say("the run waits for approval: in Airflow, open the run and its Required Actions")
        waiting = [task for task in look.tasks if task["state"] in ("scheduled", "queued")]
        if look.over or "running" in states or not waiting:
            self._waits = 0
            return
        self._waits += 1
        if self._waits == WAITS_AFTER and (reason := self.why_waiting(waiting[0]["pool"])):
            self.say(f"waiting: {reason}")

    def _say_excluded(self) -> None:
        """Print why the plan excludes turns."""
        reasons = Counter(self.repository.skipped(self.run_id)).most_common()
        for reason, n in reasons[:REASONS]:
            self.say(f"excluded: {reason}{f' ({n:,} times)' if n > 1 else ''}")
        if len(reasons) > REASONS:
            self.say(
                f"excluded for {len(reasons) - REASONS:,} more reasons: the log of the task plan lists all"
            )

    def status(self, look: Look) -> str:
        """Return the run's progress in one line: operations, time, and running tasks."""
        parts = [f"{len(self._operations)} of {self.run['planned']}"] if self.run else []
        takes = self._expected()
        parts.append(self._elapsed() + (f" of about {takes}" if takes else ""))
        going = [name_of(task) for task in look.tasks if task["state"] == "running"]
        return " · ".join([*parts, ", ".join(going) or look.state])

    def summary(self, state: str) -> str:
        """Return the run's outcome in one line."""
        text = f"run {state} after {self._elapsed()}"
        if self._lines and self.run:
            text += f": {self.run['verified']} of {self.run['planned']} operations are verified"
        if reasons := self.repository.skipped(self.run_id):
            text += f"; {len(reasons)} skipped, the first because {reasons[0]}"
        return text

    def _expected(self) -> str:
        """Return the expected duration of the run; empty if unknown."""
        expected_s = self.run.get("expected_s") if self.run else None
        return duration_text(expected_s, rounded=True) if expected_s else ""

    def _elapsed(self) -> str:
        ended = (self.run.get("finished_at") or self._ended_at) if self.run else None
        return duration_text(((ended or datetime.now(UTC)) - self.began).total_seconds())


def _listed(runs: Sequence[str]) -> str:
    """Return the subject of a sentence that these runs have ended, with its auxiliary."""
    more = len(runs) - NAMED
    named = [f"the run {run}" for run in runs[:NAMED]] + ([f"{more} more"] if more > 0 else [])
    return f"{' and '.join(named)} {'has' if len(named) == 1 else 'have'}"


def _has_row(task: Task) -> bool:
    """Return whether a task is an attempt with a row in the results: in a task group, and not the drop."""
    group, _, step = task["task_id"].rpartition(".")
    return bool(group) and step != DROP


class _Lines:
    """The lines of the attempts of the planned turns, below a heading. `alike` describes the places that all cells share."""

    def __init__(self, turns: list[Turn], study: StudyRecord) -> None:
        self.operations = [operation.name for operation in study.operations]
        names, places, self.alike = differing_columns((turn.cell for turn in turns), {study.name: study})
        self._headings = [name.heading for name in names]
        self._places = {turn.cell.key: place for turn, place in zip(turns, places, strict=True)}
        self._several = any(turn.repeat != 1 for turn in turns)
        self._widths = [
            max(len(heading), *(len(place[n]) for place in self._places.values()))
            for n, heading in enumerate(self._headings)
        ]

    def heading(self, planned: int) -> str:
        return self._line("", planned, self._headings, "repeat", "operation", "result", "state")

    def of(self, row: Row, number: int, planned: int) -> str:
        repeat = "warm-up" if row["warm_up"] else f"{row['repeat']} {row['arm'] or ''}".rstrip()
        state = ": ".join(filter(None, (row["status"], remark(row))))
        place = self._places[row["cell_key"]]
        return self._line(
            f"{number} of {planned}",
            planned,
            place,
            repeat,
            row["operation"],
            figure_text(row["value"], row["unit"]),
            state,
        )

    def _line(
        self,
        count: str,
        planned: int,
        place: list[str],
        repeat: str,
        operation: str,
        figure: str,
        state: str,
    ) -> str:
        cells = [count.rjust(len(f"{planned} of {planned}"))]
        cells += [text.ljust(width) for text, width in zip(place, self._widths, strict=True)]
        cells += [repeat.ljust(7)] if self._several else []
        width = max(len("operation"), *map(len, self.operations))
        return "  ".join([*cells, operation.ljust(width), figure.rjust(14), state])

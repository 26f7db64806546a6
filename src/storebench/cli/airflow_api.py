"""Call Airflow's REST API: trigger runs, follow a run to its end, and read DAGs, runs, Variables and tasks."""

from __future__ import annotations

import ipaddress
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from tenacity import RetryCallState
from urllib3 import PoolManager

from storebench import http_client
from storebench.errors import SpecError, StorebenchError, StoreUnreachable
from storebench.patience import patiently
from storebench.results.leftovers.stopped import ENDED_STATES, OPEN_STATES

POLL_INTERVAL_S = 2.0
TIMEOUT_S = 30.0
PATIENCE_S = 180.0  # wait this long for an answer: somebody may restart Airflow or its database during a run
KNOWN_WITHIN_S = 120.0  # wait this long for a new DAG: Airflow looks for new DAG files from time to time
UNAUTHORIZED = 401
MOST_RUNS = 100  # the maximum number of runs in an answer
OVERLAP = timedelta(seconds=5)  # a change becomes visible some time after its timestamp


Task = dict[str, Any]  # a task instance of Airflow's API


@dataclass(frozen=True)
class Look:
    """A run at a moment. `changed`: tasks that changed since the previous look. `tasks`: all tasks so far. `over`: the run has ended."""

    changed: Sequence[Task]
    tasks: Sequence[Task]
    state: str
    over: bool
    ended_at: datetime | None = None


class RunFailed(StorebenchError):
    """The run has ended, and some of its operations are not verified."""

    kind = "run_failed"


class NotFound(SpecError):
    """Airflow does not have the requested object."""


class Airflow:
    """Airflow's REST API at `url`, logged in as `user`."""

    def __init__(self, url: str, user: str, password: str) -> None:
        self.url = url.rstrip("/")
        self._login = {"username": user, "password": password}
        # A proxy does not reach an Airflow on this machine.
        self._http = PoolManager() if is_loopback(self.url) else http_client.by_environment(self.url)
        self._token: str | None = None
        self.answered_at: datetime | None = None  # time of the last answer by Airflow's clock

    def trigger(self, dag_id: str, conf: Mapping[str, Any]) -> str:
        """Start a run with these parameters. Return the run's id. Raises SpecError if Airflow refuses the parameters."""
        answer = self.call(
            "POST", _path("dags", dag_id, "dagRuns"), json={"logical_date": None, "conf": dict(conf)}
        )
        run_id: str = answer["dag_run_id"]
        return run_id

    def trigger_when_known(self, dag_id: str, conf: Mapping[str, Any], report: Callable[[str], None]) -> str:
        """Start a run of a DAG whose file may be new. Wait up to KNOWN_WITHIN_S until Airflow knows the DAG. `report` prints a line."""

        def wait(state: RetryCallState) -> None:
            if state.attempt_number == 1:
                report(f"Airflow does not know {dag_id} yet: waiting until it has found the file")

        return patiently(KNOWN_WITHIN_S, NotFound).copy(before_sleep=wait)(self.trigger, dag_id, conf)

    def watch(self, dag_id: str, run_id: str) -> Iterator[Look]:
        """Yield a look at the run every POLL_INTERVAL_S until the run has ended. The last look has the run's final state.

        Raises StoreUnreachable if Airflow does not answer for PATIENCE_S.
        """
        known: dict[str, Task] = {}
        ids: dict[tuple[str, int], str] = {}

        def learn(tasks: Sequence[Task]) -> None:
            for task in tasks:
                place = task["task_id"], task["map_index"]
                if ids.setdefault(place, task["id"]) != task["id"]:  # a new try has a new id
                    known.pop(ids[place], None)
                ids[place] = task["id"]
                known[task["id"]] = task

        since: datetime | None = None
        over = False
        while not over:
            changed, now = self.task_instances(dag_id, run_id, since), self.answered_at
            learn(changed)
            since = now - OVERLAP if now else None
            # Airflow may run on the machine that measures. To save its time, ask only for changed tasks, and for the run's state only
            # while no task runs.
            state, ended_at = "running", None
            if not any(task["state"] == "running" for task in known.values()):
                run = self.get("dags", dag_id, "dagRuns", run_id)
                state, ended_at = str(run["state"]), _end_of(run)
            if over := state in ENDED_STATES:  # some tasks may have changed after the request for changes
                learn(last := self.task_instances(dag_id, run_id))
                changed = [*changed, *last]
            yield Look(changed, list(known.values()), state, over, ended_at)
            if not over:
                time.sleep(POLL_INTERVAL_S)

    def wait(self, dag_id: str, run_id: str, report: Callable[[str], None]) -> str:
        """Wait for the end of a run. `report` gets a line for each task that ends. Return the run's state."""
        reported: set[str] = set()
        state = ""
        for look in self.watch(dag_id, run_id):
            state = look.state
            for task in look.changed:
                if not task["end_date"] or task["id"] in reported:
                    continue
                reported.add(task["id"])
                ended = sum(1 for each in look.tasks if each["end_date"])
                reason = f": {self.reason(dag_id, run_id, task)}" if task["state"] == "failed" else ""
                report(f"[{ended}/{len(look.tasks)}] {name_of(task)}: {task['state']}{reason}")
        return state

    def run_state(self, dag_id: str, run_id: str) -> str | None:
        """Return the state of a run; None if Airflow does not have the run."""
        run = self._run(dag_id, run_id)
        return str(run["state"]) if run else None

    def run_ended_at(self, dag_id: str, run_id: str) -> datetime | None:
        """Return the time of a run's end; None if the run has not ended, or Airflow does not have the run."""
        run = self._run(dag_id, run_id)
        return _end_of(run) if run else None

    def _run(self, dag_id: str, run_id: str) -> dict[str, Any] | None:
        try:
            run: dict[str, Any] = self.get("dags", dag_id, "dagRuns", run_id, patience_s=0)
        except NotFound:
            return None
        return run

    def variable(self, name: str) -> str | None:
        """Return the value of an Airflow Variable; None if there is no such Variable."""
        try:
            return str(self.get("variables", name, patience_s=0)["value"])
        except NotFound:
            return None

    def task_instances(self, dag_id: str, run_id: str, since: datetime | None = None) -> list[dict[str, Any]]:
        """Return the task instances of a run, ordered by their starts. `since`: exclude instances that have not changed since this time."""
        instances: list[dict[str, Any]] = []
        while True:
            params: dict[str, Any] = {"limit": 100, "offset": len(instances), "order_by": "id"}
            if since:
                params["updated_at_gte"] = since.isoformat()
            page = self.get("dags", dag_id, "dagRuns", run_id, "taskInstances", params=params)
            instances += page["task_instances"]
            if not page["task_instances"] or len(instances) >= page["total_entries"]:
                return sorted(instances, key=lambda task: task["start_date"] or "9")

    def reason(self, dag_id: str, run_id: str, task: Mapping[str, Any]) -> str:
        """Return the reason why a task failed, from the task's log."""
        instance = ("dags", dag_id, "dagRuns", run_id, "taskInstances", task["task_id"])
        log = self.get(*instance, "logs", str(task["try_number"]), params={"map_index": task["map_index"]})
        entries = [entry for entry in log["content"] if isinstance(entry, dict)]
        details = [entry["error_detail"][0] for entry in entries if entry.get("error_detail")]
        return str(details[-1]["exc_value"]) if details else "its log says why"

    def get(
        self, *names: str, params: Mapping[str, Any] | None = None, patience_s: float | None = None
    ) -> Any:
        """Return the API's answer to a GET of the path with these names, which may contain any character.

        Repeats the request for `patience_s` seconds (None: PATIENCE_S) while the API does not answer. Raises the errors of `call`.
        """
        patience_s = PATIENCE_S if patience_s is None else patience_s
        return patiently(patience_s)(self.call, "GET", _path(*names), params=params)

    def call(
        self, method: str, path: str, *, params: Mapping[str, Any] | None = None, json: Any = None
    ) -> Any:
        """Call the API. Return the answer's JSON; None for an empty answer. `json`: the request's content.

        Raises SpecError with the reason if Airflow refuses the call (NotFound for a 404), and StoreUnreachable if Airflow does not
        answer or has an internal error.
        """
        try:
            logged_in = self._token is not None
            if not logged_in:
                self._log_in()
            answer = self._send(method, path, params, json)
            if answer.status == UNAUTHORIZED and logged_in:  # a token expires after a day or earlier
                self._log_in()
                answer = self._send(method, path, params, json)
        except http_client.NoAnswer as error:
            raise StoreUnreachable(
                f"Airflow at {self.url} does not answer: {error}. Is it running?"
            ) from error
        self._check(answer)
        self.answered_at = parsedate_to_datetime(date) if (date := answer.headers.get("date")) else None
        return answer.json() if answer.body else None

    def put(self, path: str, name: str, content: Mapping[str, Any]) -> None:
        """Change the object `name` of the collection at `path`, or create the object if it does not exist."""
        try:
            self.call("PATCH", f"{path}/{_quoted(name)}", json=content)
        except NotFound:
            self.call("POST", path, json=content)

    def _send(
        self, method: str, path: str, params: Mapping[str, Any] | None, content: Any
    ) -> http_client.Answer:
        query = f"?{urlencode(params, doseq=True)}" if params else ""
        headers = {"Accept": "application/json"}  # a task's log is text by default
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        if content is not None:
            headers["Content-Type"] = "application/json"
        return http_client.ask(
            method,
            f"{self.url}{path}{query}",
            timeout_s=TIMEOUT_S,
            headers=headers,
            body=None if content is None else json.dumps(content),
            http=self._http,
        )

    def _log_in(self) -> None:
        """Get a token for later calls."""
        self._token = None
        answer = self._send("POST", "/auth/token", None, self._login)
        self._check(answer)
        self._token = str(answer.json()["access_token"])

    def is_paused(self, dag_id: str) -> bool:
        """Return whether the DAG is paused. The runs of a paused DAG stay queued."""
        return bool(self.get("dags", dag_id)["is_paused"])

    def runs_before(self, dag_id: str, run_id: str) -> list[str]:
        """Return the ids of the DAG's running or queued runs before this run, the oldest first."""
        asked = {"state": OPEN_STATES, "order_by": "id", "limit": MOST_RUNS}
        runs = self.get("dags", dag_id, "dagRuns", params=asked)["dag_runs"]
        ids = [str(run["dag_run_id"]) for run in runs]
        return ids[: ids.index(run_id)] if run_id in ids else ids

    def runs_in_pool(self, pool: str) -> list[tuple[str, str]]:
        """Return the DAG's id and the run's id of each run with a running task in this Airflow pool."""
        asked = {"state": "running", "pool": pool, "limit": MOST_RUNS}
        tasks = self.get("dags", "~", "dagRuns", "~", "taskInstances", params=asked)["task_instances"]
        return list(dict.fromkeys((str(task["dag_id"]), str(task["dag_run_id"])) for task in tasks))

    @staticmethod
    def _check(answer: http_client.Answer) -> None:
        if answer.ok:
            return
        text = answer.body.decode(errors="replace")
        try:
            detail = answer.json().get("detail", text)
        except (ValueError, AttributeError):
            detail = text
        if answer.status >= 500:
            raise StoreUnreachable(f"Airflow has an error ({answer.status}): {detail}")
        refused = NotFound if answer.status == 404 else SpecError
        raise refused(f"Airflow refused ({answer.status}): {detail}")


def _path(*names: str) -> str:
    """Return the API's path with these names, such as `/api/v2/dags/column_scan`."""
    return "/".join(["/api/v2", *map(_quoted, names)])


def _quoted(name: str) -> str:
    return quote(name, safe="")


def is_loopback(url: str) -> bool:
    """Return whether a URL's host is this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _end_of(run: Mapping[str, Any]) -> datetime | None:
    return datetime.fromisoformat(end) if (end := run.get("end_date")) else None


def name_of(task: Task) -> str:
    """Return the task's name in the user interface, with the label of a mapped task."""
    turn = task["rendered_map_index"] or (task["map_index"] if task["map_index"] >= 0 else "")
    return f"{task['task_display_name'] or task['task_id']} {turn}".strip()

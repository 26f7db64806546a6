"""Triggers a run over Airflow's REST API and follows it to its end."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

import httpx
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from storebench.errors import SpecError, StorebenchError, StoreUnreachable, unknown
from storebench.fields import json_of
from storebench.study.model import Preset, Study

POLL_INTERVAL_S = 2.0
TIMEOUT_S = 30.0
PATIENCE_S = 180.0  # Airflow, or its database, may be started anew while a run is followed
KNOWN_WITHIN_S = 120.0  # Airflow looks for new files of DAGs from time to time
OVERLAP = timedelta(seconds=5)  # a change is seen some time after it was stamped


Task = dict[str, Any]  # a task instance, as Airflow's API has it


@dataclass(frozen=True)
class Look:
    """A run at one moment: the tasks that have changed since the look before, all that have been there, its state, and whether and when
    it has ended.
    """

    changed: Sequence[Task]
    tasks: Sequence[Task]
    state: str
    over: bool
    ended_at: datetime | None = None


class RunFailed(StorebenchError):
    """The run ended, and not everything in it is verified."""

    kind = "run_failed"


class NotFound(SpecError):
    """Airflow does not have what was asked for."""


class Airflow:
    """Airflow's REST API at `url`, logged in as `user`."""

    def __init__(self, url: str, user: str, password: str) -> None:
        self.url = url.rstrip("/")
        self._login = {"username": user, "password": password}
        # a company's proxy does not reach the Airflow of this machine
        self._http = httpx.Client(base_url=self.url, timeout=TIMEOUT_S, trust_env=not is_loopback(self.url))
        self.answered_at: datetime | None = None  # by Airflow's clock, when it last answered

    def trigger(self, dag_id: str, conf: Mapping[str, Any]) -> str:
        """Start a run with these parameters; returns its id. Raises SpecError where Airflow refuses them."""
        answer = self.call(
            "POST", f"/api/v2/dags/{dag_id}/dagRuns", json={"logical_date": None, "conf": dict(conf)}
        )
        run_id: str = answer["dag_run_id"]
        return run_id

    def trigger_when_known(self, dag_id: str, conf: Mapping[str, Any], report: Callable[[str], None]) -> str:
        """Start a run of a DAG whose file may be new: Airflow has KNOWN_WITHIN_S to find the file. `report` gets a line about the wait."""

        def wait(state: RetryCallState) -> None:
            if state.attempt_number == 1:
                report(f"Airflow does not know {dag_id} yet: waiting until it has found the file")

        retrying = Retrying(
            retry=retry_if_exception_type(NotFound),
            stop=stop_after_delay(KNOWN_WITHIN_S),
            wait=wait_fixed(POLL_INTERVAL_S),
            before_sleep=wait,
            reraise=True,
        )
        return retrying(self.trigger, dag_id, conf)

    def watch(self, dag_id: str, run_id: str) -> Iterator[Look]:
        """A look at the run every POLL_INTERVAL_S until it has ended: the last one says how.

        Raises StoreUnreachable where Airflow does not answer for PATIENCE_S.
        """
        known: dict[str, Task] = {}
        ids: dict[tuple[str, int], str] = {}

        def learn(tasks: Sequence[Task]) -> None:
            for task in tasks:
                place = task["task_id"], task["map_index"]
                if ids.setdefault(place, task["id"]) != task["id"]:  # a new try has an id of its own
                    known.pop(ids[place], None)
                ids[place] = task["id"]
                known[task["id"]] = task

        since: datetime | None = None
        over = False
        while not over:
            changed, now = self.task_instances(dag_id, run_id, since), self.answered_at
            learn(changed)
            since = now - OVERLAP if now else None
            # Airflow's answers are made on the machine that measures, perhaps: it is asked for what has changed, and while a
            # task runs for that alone.
            state, ended_at = "running", None
            if not any(task["state"] == "running" for task in known.values()):
                run = self._look(f"/api/v2/dags/{dag_id}/dagRuns/{run_id}")
                state, ended_at = str(run["state"]), _end_of(run)
            if over := state in ("success", "failed"):  # its last changes came after they were asked for
                learn(last := self.task_instances(dag_id, run_id))
                changed = [*changed, *last]
            yield Look(changed, list(known.values()), state, over, ended_at)
            if not over:
                time.sleep(POLL_INTERVAL_S)

    def wait(self, dag_id: str, run_id: str, report: Callable[[str], None]) -> str:
        """Wait for the run's end, a line to `report` for each task that ends; returns the run's state."""
        told: set[str] = set()
        state = ""
        for look in self.watch(dag_id, run_id):
            state = look.state
            for task in look.changed:
                if not task["end_date"] or task["id"] in told:
                    continue
                told.add(task["id"])
                done = sum(1 for each in look.tasks if each["end_date"])
                why = f": {self.reason(dag_id, run_id, task)}" if task["state"] == "failed" else ""
                report(f"[{done}/{len(look.tasks)}] {name_of(task)}: {task['state']}{why}")
        return state

    def run_state(self, dag_id: str, run_id: str) -> str | None:
        """The state of a run; None for one that Airflow does not have."""
        found = self._run(dag_id, run_id)
        return str(found["state"]) if found else None

    def run_ended_at(self, dag_id: str, run_id: str) -> datetime | None:
        """When a run ended; None for one that goes on, or that Airflow does not have."""
        found = self._run(dag_id, run_id)
        return _end_of(found) if found else None

    def _run(self, dag_id: str, run_id: str) -> dict[str, Any] | None:
        try:
            found: dict[str, Any] = self.call(
                "GET", f"/api/v2/dags/{dag_id}/dagRuns/{quote(run_id, safe='')}"
            )
        except NotFound:
            return None
        return found

    def variable(self, name: str) -> str | None:
        """The value of a Variable; None for one that there is not."""
        try:
            return str(self.call("GET", f"/api/v2/variables/{name}")["value"])
        except NotFound:
            return None

    def task_instances(self, dag_id: str, run_id: str, since: datetime | None = None) -> list[dict[str, Any]]:
        """The task instances of a run, or those that changed `since`, in the order in which they started."""
        path = f"/api/v2/dags/{dag_id}/dagRuns/{run_id}/taskInstances"
        found: list[dict[str, Any]] = []
        while True:
            params: dict[str, Any] = {"limit": 100, "offset": len(found), "order_by": "id"}
            if since:
                params["updated_at_gte"] = since.isoformat()
            page = self._look(path, params=params)
            found += page["task_instances"]
            if not page["task_instances"] or len(found) >= page["total_entries"]:
                return sorted(found, key=lambda task: task["start_date"] or "9")

    def reason(self, dag_id: str, run_id: str, task: Mapping[str, Any]) -> str:
        """Return the reason of a task's failure from the task's log."""
        path = f"/api/v2/dags/{dag_id}/dagRuns/{run_id}/taskInstances/{task['task_id']}/logs/{task['try_number']}"
        log = self._look(
            path, params={"map_index": task["map_index"]}, headers={"Accept": "application/json"}
        )
        entries = [entry for entry in log["content"] if isinstance(entry, dict)]
        details = [entry["error_detail"][0] for entry in entries if entry.get("error_detail")]
        return str(details[-1]["exc_value"]) if details else "its log says why"

    def _look(self, path: str, **kwargs: Any) -> Any:
        """Return the API's answer to a GET of `path`; repeat the request for PATIENCE_S if the API does not answer."""
        retrying = Retrying(
            retry=retry_if_exception_type(StoreUnreachable),
            stop=stop_after_delay(PATIENCE_S),
            wait=wait_fixed(POLL_INTERVAL_S),
            reraise=True,
        )
        return retrying(self.call, "GET", path, **kwargs)

    def call(self, method: str, path: str, **kwargs: Any) -> Any:
        """One call of the API; returns its JSON, None for an empty answer.

        Raises SpecError with the reason where Airflow refuses it (NotFound for a 404), StoreUnreachable where it does not answer or has an error itself.
        """
        try:
            logged_in = "Authorization" in self._http.headers
            if not logged_in:
                self._log_in()
            answer = self._http.request(method, path, **kwargs)
            if (
                answer.status_code == httpx.codes.UNAUTHORIZED and logged_in
            ):  # a token is valid for a day, or for less
                self._log_in()
                answer = self._http.request(method, path, **kwargs)
        except httpx.HTTPError as error:
            raise StoreUnreachable(
                f"Airflow at {self.url} does not answer: {error}. Is it running?"
            ) from error
        self._check(answer)
        self.answered_at = parsedate_to_datetime(date) if (date := answer.headers.get("date")) else None
        return answer.json() if answer.content else None

    def _log_in(self) -> None:
        """Get a token for the calls that follow."""
        self._http.headers.pop("Authorization", None)
        token = self._http.post("/auth/token", json=self._login)
        self._check(token)
        self._http.headers["Authorization"] = f"Bearer {token.json()['access_token']}"

    def is_paused(self, dag_id: str) -> bool:
        """Return whether the DAG is paused: its runs stay queued."""
        return bool(self._look(f"/api/v2/dags/{dag_id}")["is_paused"])

    @staticmethod
    def _check(answer: httpx.Response) -> None:
        if answer.is_success:
            return
        try:
            detail = answer.json().get("detail", answer.text)
        except ValueError:
            detail = answer.text
        if answer.is_server_error:
            raise StoreUnreachable(f"Airflow has an error ({answer.status_code}): {detail}")
        refused = NotFound if answer.status_code == 404 else SpecError
        raise refused(f"Airflow refused ({answer.status_code}): {detail}")


def is_loopback(url: str) -> bool:
    """Return whether a URL's host is this machine."""
    host = httpx.URL(url).host
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _end_of(run: Mapping[str, Any]) -> datetime | None:
    return datetime.fromisoformat(end) if (end := run.get("end_date")) else None


def name_of(task: Task) -> str:
    """The task's name in the user interface, and what tells a mapped one from its like."""
    turn = task["rendered_map_index"] or (task["map_index"] if task["map_index"] >= 0 else "")
    return f"{task['task_display_name'] or task['task_id']} {turn}".strip()


def names_in(text: str) -> list[str]:
    """The names in a text with commas, and perhaps spaces, between them."""
    return [name for item in text.split(",") if (name := item.strip())]


def conf_of(
    preset: Preset | None, options: Mapping[str, Any], extra: tuple[str, ...] = (), *, embedded: bool = False
) -> dict[str, Any]:
    """A run's parameters from the command line: the preset's, then the options given, then NAME=JSON pairs.

    `embedded`: on the embedded cluster a preset's sizes are those that fit one machine. What a preset has for cells that are measured once
    is left out where they are measured more often.

    Raises SpecError for a text that is no JSON, or that Airflow cannot keep.
    """
    conf = {**preset.params, **(preset.embedded if embedded else {})} if preset else {}
    conf |= {name: value for name, value in options.items() if value is not None}
    for pair in extra:
        name, separator, text = pair.partition("=")
        try:
            if not separator:
                raise ValueError("there is no '='")
            conf[name] = json_of(text)
        except ValueError as error:
            raise SpecError(f"--param {pair!r} is not NAME=JSON: {error}") from None
    several = str(conf.get("repeats", 1)) != "1" or conf.get("a_a", False) is not False
    return conf if several or not preset else {**preset.once, **conf}


def replaced(preset: Preset, conf: Mapping[str, Any]) -> str:
    """Say what of the preset its embedded parameters have replaced in `conf`, a run's parameters on the embedded cluster:
    `executor_memory: 1g instead of 4g`. Empty if nothing.
    """
    found = [
        f"{name}: {_instead(value, preset.params.get(name, 'the default'))}"
        for name, value in preset.embedded.items()
        if conf.get(name) == value
    ]
    return "; ".join(found)


def _instead(value: Any, original: Any) -> str:
    """Say which value is in the place of which; of two lists of one length only those that differ."""
    if isinstance(value, list) and isinstance(original, list) and len(value) == len(original):
        pairs = [
            f"{one} instead of {other}" for one, other in zip(value, original, strict=True) if one != other
        ]
        return ", ".join(pairs)
    one, other = (
        ", ".join(map(str, each)) if isinstance(each, list) else "the default" if each is None else str(each)
        for each in (value, original)
    )
    return f"{one} instead of {other}"


def places_of(text: str, study: Study) -> dict[str, list[str]]:
    """Values of axes from a text: `parts=2,8 level=1`. Raises SpecError for what is no such text, and for an unknown axis."""
    found = {}
    known = [axis.name for axis in study.axes]
    for pair in text.split():
        name, separator, values = pair.partition("=")
        if not separator or not values.strip(","):
            raise SpecError(
                f"--axis {pair!r} is not AXIS=VALUE,VALUE, such as {known[0] if known else 'axis'}=1"
            )
        if name not in known:
            raise unknown("axis", name, known)
        found[name] = names_in(values)
    return found

"""Triggers a run over Airflow's REST API and follows it to its end."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

import httpx
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from storebench.errors import SpecError, StorebenchError, StoreUnreachable

POLL_INTERVAL_S = 2.0
TIMEOUT_S = 30.0
PATIENCE_S = 180.0  # Airflow, or its database, may be started anew while a run is followed
OVERLAP = timedelta(seconds=5)  # a change is seen some time after it was stamped

# quick: each store, client and value of an axis once, in far fewer cells than all combinations have.
# study: the original one: its stores, 1,000,000 rows, three batch sizes, 1, 2 and 4 executors, and their sizes.
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "quick": {"full_grid": False},
    "study": {
        "stores": ["delta-spark", "delta-standalone", "mongodb", "elasticsearch"],
        "rows": 1_000_000,
        "seed": 42,
        "clients": ["reference"],
        "batch_sizes": ["10000", "100000", "all"],
        "executors": ["1", "2", "4"],
        "executor_cores": 1,
        "executor_memory": "2g",
        "driver_memory": "4g",
        "pod_memory": "12Gi",
    },
}
# What replaces a preset's sizes on the embedded cluster: four executors and a driver on one machine with 24 GB.
EMBEDDED_SIZES: Mapping[str, Any] = {"executor_memory": "1g", "driver_memory": "2g"}


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
        self._http = httpx.Client(base_url=self.url, timeout=TIMEOUT_S)
        self.answered_at: datetime | None = None  # by Airflow's clock, when it last answered

    def trigger(self, dag_id: str, conf: Mapping[str, Any]) -> str:
        """Start a run with these parameters; returns its id. Raises SpecError where Airflow refuses them."""
        answer = self.call(
            "POST", f"/api/v2/dags/{dag_id}/dagRuns", json={"logical_date": None, "conf": dict(conf)}
        )
        run_id: str = answer["dag_run_id"]
        return run_id

    def follow(self, dag_id: str, run_id: str, report: Callable[[str], None]) -> str:
        """Wait for the run's end, a line to `report` for each task that changes; returns the run's state.

        Raises StoreUnreachable where Airflow does not answer for PATIENCE_S.
        """
        seen: dict[str, str] = {}
        known: dict[str, dict[str, Any]] = {}
        ids: dict[tuple[str, int], str] = {}
        since: datetime | None = None
        looks_queued = 0
        while True:
            changed, now = self.task_instances(dag_id, run_id, since), self.answered_at
            for task in changed:
                place = task["task_id"], task["map_index"]
                if ids.setdefault(place, task["id"]) != task["id"]:  # a new try has an id of its own
                    known.pop(ids[place], None)
                ids[place] = task["id"]
                known[task["id"]] = task
            tasks = list(known.values())
            since = now - OVERLAP if now else None
            done = sum(1 for task in tasks if task["end_date"])
            for task in changed:
                name, state = _name(task), task["state"]
                if state == "running" and _label(task) == str(task["map_index"]):
                    continue  # it has its name in a moment
                if (
                    state in ("running", "success", "failed", "upstream_failed", "skipped")
                    and seen.get(name) != state
                ):
                    seen[name] = state
                    duration = (
                        f" after {task['duration']:.1f} s" if task["duration"] and task["end_date"] else ""
                    )
                    report(f"[{done}/{len(tasks)}] {name}: {state}{duration}")
                    if state == "failed":
                        report(f"    {self._reason(dag_id, run_id, task)}")
            # Airflow's answers are made on the machine that measures, perhaps: it is asked for what has changed, and while a
            # task runs for that alone.
            if not any(task["state"] == "running" for task in tasks):
                run = self._look(f"/api/v2/dags/{dag_id}/dagRuns/{run_id}")
                if run["state"] in ("success", "failed"):
                    counts = Counter(task["state"] for task in self.task_instances(dag_id, run_id))
                    report(
                        f"run {run['state']}: "
                        + ", ".join(f"{n} {state}" for state, n in sorted(counts.items()))
                    )
                    return str(run["state"])
                if run["state"] == "queued":
                    looks_queued += 1
                    if looks_queued == 2:  # each run is queued for a moment
                        report("queued: it begins when the runs before it have ended")
            time.sleep(POLL_INTERVAL_S)

    def run_state(self, dag_id: str, run_id: str) -> str | None:
        """The state of a run; None for one that Airflow does not have."""
        try:
            return str(self.call("GET", f"/api/v2/dags/{dag_id}/dagRuns/{quote(run_id, safe='')}")["state"])
        except NotFound:
            return None

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

    def _reason(self, dag_id: str, run_id: str, task: Mapping[str, Any]) -> str:
        """What the task's log gives as the reason of its failure."""
        path = f"/api/v2/dags/{dag_id}/dagRuns/{run_id}/taskInstances/{task['task_id']}/logs/{task['try_number']}"
        log = self._look(
            path, params={"map_index": task["map_index"]}, headers={"Accept": "application/json"}
        )
        entries = [entry for entry in log["content"] if isinstance(entry, dict)]
        details = [entry["error_detail"][0] for entry in entries if entry.get("error_detail")]
        return str(details[-1]["exc_value"]) if details else "its log says why"

    def _look(self, path: str, **kwargs: Any) -> Any:
        """What the API says there; asked again for PATIENCE_S where it does not answer."""
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
            if "Authorization" not in self._http.headers:
                token = self._http.post("/auth/token", json=self._login)
                self._check(token)
                self._http.headers["Authorization"] = f"Bearer {token.json()['access_token']}"
            answer = self._http.request(method, path, **kwargs)
        except httpx.HTTPError as error:
            raise StoreUnreachable(
                f"Airflow at {self.url} does not answer: {error}. Is it running?"
            ) from error
        self._check(answer)
        self.answered_at = parsedate_to_datetime(date) if (date := answer.headers.get("date")) else None
        return answer.json() if answer.content else None

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


def _label(task: Mapping[str, Any]) -> str:
    """What tells a mapped task from its like: its name, or its index until it has one."""
    return str(task["rendered_map_index"] or (task["map_index"] if task["map_index"] >= 0 else ""))


def _name(task: Mapping[str, Any]) -> str:
    return f"{task['task_display_name'] or task['task_id']} {_label(task)}".strip()


def embedded_sizes(preset: str | None) -> dict[str, Any]:
    """The sizes that replace the preset's own on the embedded cluster; none for a preset without sizes."""
    return {name: size for name, size in EMBEDDED_SIZES.items() if preset and name in PRESETS[preset]}


def conf_of(
    preset: str | None, options: Mapping[str, Any], extra: tuple[str, ...] = (), *, embedded: bool = False
) -> dict[str, Any]:
    """A run's parameters from the command line: the preset's, then the options given, then NAME=JSON pairs.

    `embedded`: on the embedded cluster a preset's sizes are those that fit one machine.

    Raises SpecError for an unknown preset or a text that is no JSON.
    """
    if preset and preset not in PRESETS:
        raise SpecError(f"Unknown preset {preset!r}: there is {', '.join(PRESETS)}")
    conf = dict(PRESETS[preset]) if preset else {}
    if embedded:
        conf |= embedded_sizes(preset)
    lists = {"stores": "stores", "clients": "clients", "batches": "batch_sizes", "executors": "executors"}
    for name, value in options.items():
        if value is None:
            continue
        if name in lists:
            conf[lists[name]] = [item.strip() for item in value.split(",") if item.strip()]
        else:
            conf[name] = value
    for pair in extra:
        name, separator, text = pair.partition("=")
        try:
            if not separator:
                raise ValueError("there is no '='")
            conf[name] = json.loads(text)
        except ValueError as error:
            raise SpecError(f"--param {pair!r} is not NAME=JSON: {error}") from None
    return conf

"""The steps of a run that provision its first servers and remove its last."""

from __future__ import annotations

from typing import Any

from airflow.sdk import BaseOperator, Context
from airflow.sdk.exceptions import AirflowFailException

from storebench.airflow import connections
from storebench.airflow.compat.tasks import states_of_tasks
from storebench.airflow.servers.provision import Servers, groups_of
from storebench.errors import StorebenchError
from storebench.planning.node_pools import DEFAULT
from storebench.planning.params import run_values
from storebench.results.database.repository import run_id_of
from storebench.study.model import Study

PROVISION, REMOVE = "servers", "remove_servers"
LAST_STEP = "aggregate"


class ProvisionOperator(BaseOperator):
    """The step that provisions the servers of the run's first turn, while nothing is measured.

    Other turns provision their servers themselves, one set after another: the sets of a run and their order are known only when it runs.
    """

    def __init__(self, *, study: Study, **kwargs: Any) -> None:
        super().__init__(pool=DEFAULT.slots, retries=0, **kwargs)
        self.study = study
        self._stopped = False

    def execute(self, context: Context) -> None:
        params = run_values(self.study, context["params"])
        run_id = run_id_of(context["dag"].dag_id, context["run_id"])
        repository, servers = connections.repository(connections.PATIENCE_S), Servers(run_id)
        turns = [turn for turn in repository.recorded_turns(run_id) if turn.node_pool == DEFAULT.name]
        groups = groups_of(self.study, [turn.cell for turn in turns], params)
        servers.forget_failures()  # this step was cleared
        first = groups[turns[0].cell] if turns else None
        try:
            running = servers.provision(first, params, self.go_on)
        except StorebenchError as error:
            print(error, flush=True)
            if set(groups.values()) != {first}:
                return  # turns that need these servers fail with the reason, and other turns go on
            repository.stop_run(run_id, str(error))
            raise AirflowFailException(str(error)) from None
        if running is None:
            print("The first turn of this run needs no servers of its own", flush=True)

    def go_on(self) -> None:
        """Raise AirflowFailException if Airflow has stopped the task."""
        if self._stopped:
            raise AirflowFailException("The task was stopped")

    def on_kill(self) -> None:
        self._stopped = True


def remove_servers(context: Context) -> None:
    """Remove the run's remaining servers. Airflow runs this step also after a stop, when it skips all other steps that have not begun.
    Then this step fails: otherwise Airflow would count the run as a success.
    """
    remaining = Servers(run_id_of(context["dag"].dag_id, context["run_id"])).release()
    if remaining:
        raise AirflowFailException(f"Not removed:\n{remaining}")
    if states_of_tasks(context, [LAST_STEP]).get(LAST_STEP) == "skipped":
        raise AirflowFailException("The run was stopped")

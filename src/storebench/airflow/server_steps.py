"""The steps of a run that bring its first servers, and remove the last."""

from __future__ import annotations

from typing import Any

from airflow.sdk import BaseOperator, Context
from airflow.sdk.exceptions import AirflowFailException

from storebench.airflow import connections
from storebench.airflow.brought import Servers, groups_of
from storebench.airflow.node_pools import DEFAULT
from storebench.airflow.params import values_of
from storebench.errors import StorebenchError
from storebench.results.repository import run_id_of
from storebench.study.model import Study

BRING, REMOVE = "servers", "remove_servers"
LAST_STEP = "aggregate"


class BringOperator(BaseOperator):
    """Brings what the run's first turn needs, while nothing is measured. What other turns need, they bring themselves, one set after
    another: which sets a run has, and in which order, is known only when it runs.
    """

    def __init__(self, *, study: Study, **kwargs: Any) -> None:
        super().__init__(pool=DEFAULT.slots, retries=0, **kwargs)
        self.study = study
        self._stopped = False

    def execute(self, context: Context) -> None:
        params = values_of(self.study, context["params"])
        run_id = run_id_of(context["dag"].dag_id, context["run_id"])
        repository, servers = connections.repository(connections.PATIENCE_S), Servers(run_id)
        turns = [turn for turn in repository.recorded_turns(run_id) if turn.node_pool == DEFAULT.name]
        groups = groups_of(self.study, [turn.cell for turn in turns], params)
        servers.forget_failures()  # this step was cleared
        first = groups[turns[0].cell] if turns else None
        try:
            running = servers.bring(first, params, self.go_on)
        except StorebenchError as error:
            print(error, flush=True)
            if set(groups.values()) != {first}:
                return  # the turns that need them say so, and the others go on
            repository.stop_run(run_id, str(error))
            raise AirflowFailException(str(error)) from None
        if running is None:
            print("The first turn of this run needs no servers of its own", flush=True)

    def go_on(self) -> None:
        """Raise where the task was told to stop."""
        if self._stopped:
            raise AirflowFailException("The task was stopped")

    def on_kill(self) -> None:
        self._stopped = True


def remove_servers(context: Context) -> None:
    """Remove what is left of the run's servers. Airflow does this also after a stop, when it skips all other steps that have not begun:
    then it fails here, or Airflow would take the run for a success.
    """
    dag_id, run = context["dag"].dag_id, context["run_id"]
    stays = Servers(run_id_of(dag_id, run)).release()
    if stays:
        raise AirflowFailException(f"Not removed:\n{stays}")
    states = context["ti"].get_task_states(dag_id=dag_id, task_ids=[LAST_STEP], run_ids=[run])
    if states.get(run, {}).get(LAST_STEP) == "skipped":
        raise AirflowFailException("The run was stopped")

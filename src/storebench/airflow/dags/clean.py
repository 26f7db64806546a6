"""Create the DAG that removes leftovers at once: close -> clean, in each node pool -> end."""

from __future__ import annotations

from datetime import UTC, datetime

from airflow.sdk import DAG, get_current_context, task
from airflow.sdk.exceptions import AirflowFailException

from storebench.airflow import connections
from storebench.airflow.compat.priority import LAST
from storebench.airflow.compat.tasks import states_of_tasks
from storebench.airflow.kubernetes import secrets
from storebench.airflow.operators.cleaning import CleanOperator
from storebench.airflow.operators.run_end import close_stopped
from storebench.planning.node_pools import DEFAULT, node_pools
from storebench.results.database.repository import run_id_of
from storebench.results.leftovers.unneeded import CLEAN_DAG

DOC = """
Removes the leftovers of ended runs. `storebench clean` lists them. `storebench clean --yes` starts this DAG.

- **close** closes the runs that were stopped in Airflow, and removes their Secrets.
- **clean** waits until no attempt is measured. Then it removes the leftovers of ended runs: pods in the cluster, data in the stores, and
  datasets in S3 that no recorded run uses. It fails if something stays, and its log says why.

Anything that an unfinished run needs stays. Data kept by the parameter **keep_data** stays, too.
"""


def clean_dag() -> DAG:
    """Create the DAG. At most one of its runs is active. Its pods share the slots of the studies' pods, which take precedence."""
    with DAG(
        dag_id=CLEAN_DAG,
        description="Removes the leftovers of ended runs",
        doc_md=DOC,
        schedule=None,
        start_date=datetime(2024, 1, 1, tzinfo=UTC),
        max_active_runs=1,
        is_paused_upon_creation=False,
        tags=["storebench"],
    ) as dag:

        @task
        def close() -> None:
            """Close the runs that were stopped, and remove their Secrets."""
            context = get_current_context()
            connections.repository(connections.PLAN_PATIENCE_S).check_schema()
            remaining = close_stopped(context["ti"], run_id_of(context["dag"].dag_id, context["run_id"]))
            if remaining:
                raise AirflowFailException("Not removed:\n" + "\n".join(remaining))

        @task(trigger_rule="all_done")
        def end() -> None:
            """Remove this run's own Secrets, and fail it if a step has failed."""
            context = get_current_context()
            secrets.release(run_id_of(context["dag"].dag_id, context["run_id"]))
            states = states_of_tasks(context)
            if failed := sorted(name for name, state in states.items() if state == "failed"):
                raise AirflowFailException(f"These tasks failed; their logs say why: {', '.join(failed)}")

        closed, last = close(), end()
        for node_pool in node_pools():
            clean = CleanOperator(
                task_id="clean" if node_pool == DEFAULT else f"clean_{node_pool.name}",
                node_pool=node_pool,
                trigger_rule="all_done",
                priority_weight=LAST,
                weight_rule="absolute",
            )
            closed >> clean >> last
    return dag

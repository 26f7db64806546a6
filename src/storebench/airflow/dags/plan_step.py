"""The first step of a run: its plan, and the approval of a costly plan."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from airflow.sdk import Context, Variable
from airflow.sdk.exceptions import AirflowFailException

from storebench.airflow import connections
from storebench.airflow.compat.approval import AskingOperator
from storebench.airflow.dags.plan import Ask, plan_of, refuse
from storebench.airflow.operators.run_end import close_stopped
from storebench.errors import SpecError, StorebenchError
from storebench.results.database.repository import run_id_of
from storebench.study.model import Study

# The Airflow Variable with a number of minutes: a run waits for approval if its estimate is longer. 0: every run. Not set: no run.
APPROVAL = "storebench_approval_min"


class PlanOperator(AskingOperator):
    """The step that checks everything that can be checked before any work, and names the turns to run.

    `made_for_plan` makes the dataset of a custom file in a pod; None if the study has no dataset. A costly run waits for approval before
    anything of it is recorded. After the approval, the step plans again, because the cluster and the results may have changed meanwhile.
    """

    def __init__(self, *, study: Study, made_for_plan: Callable[..., None] | None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.study = study
        self.made_for_plan = made_for_plan

    def execute(self, context: Context) -> list[str]:
        return self.plan(context, partial(self.ask_if_costly, context))

    def answered(self, context: Context, approved: bool, by: str) -> list[str]:
        print(f"{by} has {'approved' if approved else 'rejected'} the run", flush=True)
        if approved:
            return self.plan(context)
        reason = f"{by} has rejected the plan of this run. Nothing was measured"
        refuse(self.study, context["params"], context["dag_run"], reason)
        raise AirflowFailException(reason)

    def plan(self, context: Context, ask: Ask | None = None) -> list[str]:
        """Plan the run. Returns the names of its turns. `ask` gets the plan before it is recorded."""
        make = partial(self.made_for_plan, context) if self.made_for_plan else None
        try:
            connections.repository(connections.PLAN_PATIENCE_S).check_schema()
            close_stopped(context["ti"], run_id_of(context["dag"].dag_id, context["run_id"]))
            return plan_of(self.study, context["params"], context["dag_run"], make, ask)
        except StorebenchError as error:
            raise AirflowFailException(str(error)) from error

    def ask_if_costly(self, context: Context, expected_s: float, lines: list[str]) -> None:
        """Ask for approval if the run's estimate is longer than the Variable APPROVAL allows. `lines`: the plan's text."""
        limit_min = approval_min(Variable.get(APPROVAL, default=None))
        if limit_min is None or expected_s <= limit_min * 60:
            return
        self.ask(context, f"Measure with {self.study.name}?", "\n".join(f"- {line}" for line in lines))


def approval_min(text: str | None) -> float | None:
    """Parse the value of the Variable APPROVAL. Returns None without a value. Raises SpecError for a text that is no number from 0 on."""
    if not text:
        return None
    try:
        minutes = float(text)
    except ValueError:
        minutes = math.nan
    if not minutes >= 0:
        raise SpecError(
            f"The Airflow Variable {APPROVAL} is not a number of minutes: {text!r}. Set it to the minutes that a run may take without"
            " approval, or remove it"
        )
    return minutes

"""Let a task wait for a person's approval without a process and without a task of its own.

Written for apache-airflow-providers-standard 1.21.0.

Remove the module when the provider's approval operator can decide at run time whether it asks, and with which text.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from airflow.providers.standard.operators.hitl import HITLOperator
from airflow.sdk import Context

APPROVE, REJECT = "Approve", "Reject"  # the options of the provider's approval operator


class AskingOperator(HITLOperator):
    """An operator whose `execute` may ask for approval. Airflow calls `answered` in a new process after the answer."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(subject="", options=[APPROVE, REJECT], **kwargs)

    @abstractmethod
    def execute(self, context: Context) -> Any:
        """Do the work, or call `ask`."""

    @abstractmethod
    def answered(self, context: Context, approved: bool, by: str) -> Any:
        """Go on after the answer. `by`: the name of the user who gave the answer."""

    def ask(self, context: Context, subject: str, body: str) -> None:
        """End this process, and park the task until a user answers under Required Actions. Never returns. `body`: Markdown."""
        self.subject, self.body = subject, body
        super().execute(context)

    def execute_complete(self, context: Context, event: dict[str, Any]) -> Any:
        answer = super().execute_complete(context, event)
        user: Mapping[str, Any] = event["responded_by_user"] or {}
        return self.answered(context, answer["chosen_options"] == [APPROVE], user.get("name") or "a user")

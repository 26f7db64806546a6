"""Define the axis `pods`: how many pods do one operation together."""

from __future__ import annotations

from storebench.study.model import Axis
from storebench.study.reserved import STORE

UNDIVIDED = "1"


def several_pods(*stores: str) -> Axis:
    """Return the axis `pods` of a study. `stores`: the study's stores that can divide an operation (`Store.divides`)."""
    return Axis(
        name="pods",
        title="Pods",
        description="Pods that do one operation together: each does its part, and the parts become one attempt, verified as a whole.",
        pattern="[1-9][0-9]{0,2}",
        hint="a number of pods from 1 to 999",
        default=(UNDIVIDED,),
        choices=("1", "2", "4", "8"),
        grid=(UNDIVIDED,),
        where={STORE: stores},
        implied=UNDIVIDED,
    )

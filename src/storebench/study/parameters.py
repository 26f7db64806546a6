"""Select the parameters of a run that change its measurements. Only figures with equal parameters are combined."""

from __future__ import annotations

from typing import Any

from storebench.servers.sizes import FIELDS
from storebench.study.observing import COUNTERS, PROFILE
from storebench.study.observing import FIELDS as OBSERVING
from storebench.study.planned import PlannedStudy
from storebench.study.reserved import POD
from storebench.study.run_params import CellParams, study_values

# Parameters that all pods get beside the options of their store: the CPU limit, the time limit of starts in seconds, and what an attempt
# observes.
TOLD = ("cpu_limit", "startup_timeout_s", COUNTERS, PROFILE)


def measured_with(
    study: PlannedStudy, store: str, params: CellParams, *, provisioned: bool = False
) -> dict[str, Any]:
    """Return the parameters that change a store's measurements.

    These are the resources of its pods; the study's own parameters and `counters`, unless they have the value that earlier results imply; the
    options of the store and of the store that fills it; and, if the run provisions the store's servers (`provisioned`), their sizes.
    """
    values = study_values(params)
    options = [option for name in study.with_fillers([store]) for option in study.store(name).options]
    of_every_store = {COUNTERS: OBSERVING[COUNTERS], **study.study_params}
    named = [
        name
        for name, field in of_every_store.items()
        if field.earlier is None or values.get(name, field.earlier) != field.earlier
    ]
    sizes = [name for name in FIELDS if name in values] if provisioned else []
    return {name: values[name] for name in dict.fromkeys([*POD, *named, *options, *sizes])}

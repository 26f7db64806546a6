"""Build the API's answer about a study's claims."""

from __future__ import annotations

from collections.abc import Sequence

from storebench.results.claims import judged_claims, runs_of
from storebench.results.claims_output import rules, told
from storebench.web.models.claims import Claim, Claims
from storebench.web.reading import Reading


def claims_of(read: Reading, study: str, runs: Sequence[str] = ()) -> Claims:
    """Judge the claims of a study by these runs, or by all runs. Raises SpecError for an unknown study or run."""
    record = read.study(study)
    found = judged_claims(read, record, runs_of(read, runs, study)) if record.claims else []
    return Claims(study=study, rules=rules(), claims=[Claim.model_validate(told(one)) for one in found])

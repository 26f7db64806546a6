"""The claims of a study as the page's API answers them."""

from __future__ import annotations

from collections.abc import Sequence

from storebench.results.claims import judged_claims, runs_of
from storebench.results.claims_output import rules, told
from storebench.web.models.claims import Claim, Claims
from storebench.web.reading import Reading


def claims_of(read: Reading, study: str, runs: Sequence[str] = ()) -> Claims:
    """Judge the claims of a study by these runs, or by all. Raises SpecError for a study or a run that is not there."""
    details = read.study(study)
    found = judged_claims(read, details, runs_of(read, runs, study)) if details.get("claims") else []
    return Claims(study=study, rules=rules(), claims=[Claim.model_validate(told(one)) for one in found])

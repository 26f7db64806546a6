"""Declare the parameters of a run that choose what its attempts observe beside their times: counters of servers, stacks of clients."""

from __future__ import annotations

from storebench.fields import Text

COUNTERS, PROFILE = "counters", "profile"
ON, OFF = "on", "off"
CPU, WALL = PROFILES = ("cpu", "wall")
FIELDS = {
    COUNTERS: Text(
        title="Counters",
        text="**on**: read what the store's server reports about itself, before and after each operation. **off**: read no counters, for a"
        " login that may not read them, or for a server that answers slowly. The documentation lists the counters, in"
        " **docs/counters.md**.",
        default=ON,
        examples=(ON, OFF),
        earlier=ON,
        pattern=f"{ON}|{OFF}",
        hint=f"{ON} or {OFF}",
    ),
    PROFILE: Text(
        title="Profile",
        text="**cpu**: sample the stacks of the client's running threads during each operation. **wall**: also sample threads that wait, which"
        " shows sleeps, locks and answers of the server. A profiled attempt never counts: not in statistics, rankings or verdicts. The"
        " run skips no verified repeat. The documentation lists the clients with profiles, in **docs/method.md**. **off**: no profiler.",
        default=OFF,
        examples=(OFF, *PROFILES),
        pattern="|".join((OFF, *PROFILES)),
        hint=f"{OFF}, {CPU} or {WALL}",
    ),
}


def disturbed_by(profile: str) -> str:
    """Return the reason why a profiled attempt is disturbed. `profile`: the run's parameter."""
    return f"a profiler sampled the client (profile={profile}): the attempt never counts"

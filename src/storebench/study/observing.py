"""Declare the parameters of a run that choose what its attempts observe beside their times: counters of servers, stacks of clients."""

from __future__ import annotations

from storebench.fields import Text

COUNTERS, PROFILE = "counters", "profile"
ON, OFF, CPU = "on", "off", "cpu"
FIELDS = {
    COUNTERS: Text(
        title="Counters",
        text="**on**: read what the store's server reports about itself, before and after each operation. **off**: read no counters, for a"
        " login that may not read them, or for a server whose readings take long. The documentation lists the counters, in"
        " **docs/counters.md**.",
        default=ON,
        examples=(ON, OFF),
        earlier=ON,
        pattern=f"{ON}|{OFF}",
        hint=f"{ON} or {OFF}",
    ),
    PROFILE: Text(
        title="Profile",
        text="**cpu**: sample the stacks of the client during each operation. A profiled attempt never counts: not in statistics, rankings or"
        " verdicts. The run skips no verified repeat. The documentation lists the clients with profiles, in **docs/method.md**. **off**: no"
        " profiler.",
        default=OFF,
        examples=(OFF, CPU),
        pattern=f"{OFF}|{CPU}",
        hint=f"{OFF} or {CPU}",
    ),
}
# The reason why a profiled attempt is disturbed
DISTURBED = "a profiler sampled the client (profile=cpu): the attempt never counts"

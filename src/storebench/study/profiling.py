"""Declare the parameter of a run that samples the stacks of its clients."""

from __future__ import annotations

from storebench.fields import Text

PROFILE = "profile"
OFF, CPU = "off", "cpu"
FIELD = Text(
    title="Profile",
    text="**cpu**: sample the stacks of the client during each operation. A profiled attempt never counts: not in statistics, rankings or"
    " verdicts. The run skips no verified repeat. The documentation lists the clients with profiles, in **docs/method.md**. **off**: no"
    " profiler.",
    default=OFF,
    examples=(OFF, CPU),
    pattern=f"{OFF}|{CPU}",
    hint=f"{OFF} or {CPU}",
)
# The reason why a profiled attempt is disturbed
DISTURBED = "a profiler sampled the client (profile=cpu): the attempt never counts"

"""The load that a run requests: its parameters, and their combined meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from storebench.errors import SpecError, unknown
from storebench.fields import Field, Number, Text, integer
from storebench.servers.fault import Fault
from storebench.stores.point_operations.arrivals import Schedule, request_count
from storebench.stores.point_operations.capacity import Limits

LOADS = CLOSED, OPEN, RAMP, CAPACITY = ("closed", "open", "ramp", "capacity")
# The parameters of a ramp.
RAMP_PARAMS = ("first_rate", "rate_factor", "step_s", "slo_ms")
# The parameters of a search for the capacity.
CAPACITY_PARAMS = ("first_rate", "rate_factor", "capacity_tolerance", "slo_ms", "longest_step_s")
MAX_RATE, MAX_STEPS = 100_000, 100
PERCENT = 99  # percent of a step's requests that must be answered in time: the 99th percentile
SPARE_S = 60.0
LONGEST_S = 86_400  # the largest time limit of an attempt in seconds
MIN_REQUESTS = 100  # the fewest requests of a step with a 99th percentile


def _number(
    default: float, maximum: float, title: str, text: str, *examples: float, earlier: float | None = None
) -> Number:
    return Number(
        title=title, text=text, default=default, maximum=maximum, examples=examples, earlier=earlier
    )


# Parameters added later have `earlier`, the value that earlier results imply.
PARAMS: Mapping[str, Field] = {
    "users": integer(
        100,
        1,
        10_000,
        "Users",
        "Number of users. Each user sends one request after another.",
        (10, 100, 1_000),
    ),
    "spawn_rate": _number(
        10, 10_000, "Users per second", "Users that begin per second, before the warm-up.", 1, 10, 100
    ),
    "rate": integer(500, 1, MAX_RATE, "Rate", "Requests per second of an open load.", (100, 500, 2_000)),
    "warmup_s": _number(15, 3_600, "Warm-up", "Seconds with all users that no figure includes.", 5, 15, 60),
    "duration_s": _number(
        120,
        6_000,
        "Duration",
        "Measured seconds after the warm-up, of a closed or open load. At least **warmup_s**.",
        10,
        120,
        600,
    ),
    "request_timeout_s": _number(
        10,
        600,
        "Timeout",
        "Seconds after which a request fails. A request that still waits at the end of the load gets one more second, and then counts as timed out.",
        1,
        10,
        60,
    ),
    "max_error_share": _number(
        0.01,
        1,
        "Errors",
        "Largest share of failed requests: an attempt with a larger share fails.",
        0.001,
        0.01,
        0.1,
    ),
    "load_processes": integer(
        1,
        1,
        64,
        "Load generators",
        "Number of processes of each pod that share the users. One process keeps one core busy.",
        (1, 2, 4),
    ),
    "first_rate": _number(
        100,
        MAX_RATE,
        "First rate",
        "Requests per second at which a ramp or a search begins.",
        20,
        100,
        500,
        earlier=100,
    ),
    "rate_factor": _number(
        *(
            1.25,
            10,
            "Factor",
            "Factor between the rates of two steps while the rate of a ramp or a search rises.",
            1.1,
            1.25,
            2,
        ),
        earlier=1.25,
    ),
    "step_s": _number(
        5,
        600,
        "Step",
        "Seconds of each step of a ramp. The first step must have at least 100 requests.",
        5,
        10,
        30,
        earlier=5,
    ),
    "slo_ms": _number(
        *(
            50,
            600_000,
            "Limit of the latency",
            "Milliseconds in which 99 % of the requests of a step must be answered. At most the length of a step.",
        ),
        *(10, 50, 200),
        earlier=50,
    ),
    "capacity_tolerance": _number(
        *(
            0.05,
            1,
            "Tolerance",
            "Of a search: the largest difference of the two rates between which the capacity lies, as a share.",
        ),
        *(0.02, 0.05, 0.2),
        earlier=0.05,
    ),
    "longest_step_s": _number(
        *(60, 3_600, "Longest step", "Most seconds of a step of the search for the capacity."),
        *(30, 60, 300),
        earlier=60,
    ),
    "read_share": Text(
        title="Reads among the writes",
        text="Share of reads in the operation **write**. The seed determines which requests are reads. Reads request entities of the filled table.",
        default="0",
        pattern=r"0|0\.[0-9]*[1-9]",
        hint="0, or a share below 1, such as 0.5",
        examples=("0", "0.5", "0.95"),
        earlier="0",
    ),
}


@dataclass(frozen=True)
class Step:
    """A step of a ramp. Its seconds count from the start of the first user."""

    rate: float  # requests per second
    from_s: float
    to_s: float

    @property
    def request_count(self) -> int:
        """Return the number of planned requests of the step."""
        return request_count(self.rate, self.to_s - self.from_s)

    def holds(self, in_time: int) -> bool:
        """Return whether the 99th percentile is within the limit. `in_time`: number of requests answered within the limit."""
        return in_time * 100 >= self.request_count * PERCENT


@dataclass(frozen=True)
class Load:
    """The load on a store, and its duration."""

    users: int
    spawn_rate: float  # users per second
    warmup_s: float  # seconds with all users before the measurement
    duration_s: float
    processes: int  # load generators of each pod
    timeout_s: float  # time limit of a request
    max_error_share: float
    pods: int = 1  # pods that share the users
    rate: float = 0  # requests per second of an open load; 0: a closed load, or a ramp
    rates: tuple[float, ...] = ()  # rates of a ramp's steps
    step_s: float = 0
    slo_s: float = 0
    read_share: float = 0  # share of reads in the operation write
    limits: Limits | None = None  # of a search for the capacity
    fault: Fault | None = None  # caused after the warm-up

    @classmethod
    def of(cls, values: Mapping[str, str]) -> Load:
        """Create the load from a run's parameters. Raises SpecError if parameters contradict each other."""
        kind = values.get("load", CLOSED)
        if kind not in LOADS:
            raise unknown("load", kind, LOADS)
        load = cls(
            users=int(values["users"]),
            spawn_rate=float(values["spawn_rate"]),
            warmup_s=float(values["warmup_s"]),
            duration_s=float(values["duration_s"]),
            processes=int(values["load_processes"]),
            timeout_s=float(values["request_timeout_s"]),
            max_error_share=float(values["max_error_share"]),
            pods=int(values.get("pods", 1)),
            rate=float(values["rate"]) if kind == OPEN else 0,
            rates=_rates(values) if kind == RAMP else (),
            step_s=float(values["step_s"]) if kind == RAMP else 0,
            slo_s=float(values["slo_ms"]) / 1000 if kind in (RAMP, CAPACITY) else 0,
            read_share=float(values["read_share"]),
            limits=_limits(values) if kind == CAPACITY else None,
            fault=Fault.of(values),
        )
        load.check_fault()
        if not load.stepped and load.duration_s < load.warmup_s:
            raise SpecError(
                f"A measurement of {load.duration_s:g} s is shorter than its warm-up of {load.warmup_s:g} s: ask for a longer duration_s"
            )
        if load.shortest_s > LONGEST_S:
            raise SpecError(
                f"This load lasts {load.shortest_s:,.0f} s, and an attempt may last {LONGEST_S:,} s at most: ask for fewer users, or for"
                " a larger spawn_rate"
            )
        if load.users < load.pods * load.processes:
            among = f"{load.processes} load generators"
            advice = "fewer load_processes"
            if load.pods > 1:
                among, advice = f"{among} in each of {load.pods} pods", "more users, or for fewer pods"
            raise SpecError(f"{load.users} users cannot be divided among {among}: ask for {advice}")
        return load

    def check_fault(self) -> None:
        """Raise SpecError for a load that cannot show what its fault does."""
        if self.fault is None:
            return
        if self.stepped:
            raise SpecError(
                f"A load by steps searches a limit, and the fault {self.fault.name!r} would be taken for the limit: ask for"
                f" load={CLOSED} or load={OPEN}"
            )
        if self.duration_s < self.fault.least_s:
            raise SpecError(
                f"A measurement of {self.duration_s:g} s is too short for a fault that begins after {self.fault.after_s:g} s and lasts at"
                f" least {self.fault.for_s:g} s: ask for a duration_s of at least {self.fault.least_s:g}"
            )

    @property
    def most_errors(self) -> float:
        """Return the largest share of failed requests: any share under a fault, which is there to make requests fail."""
        return 1.0 if self.fault else self.max_error_share

    @property
    def stepped(self) -> bool:
        """Return whether the load goes by steps, the number of which the server decides: a ramp, or a search for the capacity."""
        return bool(self.rates or self.limits)

    @property
    def before_s(self) -> float:
        """Return the seconds from the start of the first user until the measurement begins."""
        return self.users / self.spawn_rate + self.warmup_s

    @property
    def steps(self) -> tuple[Step, ...]:
        """Return the steps of a ramp."""
        ends = [self.before_s + place * self.step_s for place in range(len(self.rates) + 1)]
        return tuple(Step(*step) for step in zip(self.rates, ends, ends[1:], strict=False))

    @property
    def schedule(self) -> Schedule:
        """Return the rates of the load; empty for a closed load. A ramp's schedule begins with the warm-up. A search's has
        only the warm-up."""
        if self.limits:
            return [(self.limits.first_rate, self.before_s)]
        if self.rates:
            return [(self.rates[0], self.before_s), *((rate, self.step_s) for rate in self.rates)]
        return [(self.rate, self.before_s + self.duration_s)] if self.rate else []

    @property
    def shortest_s(self) -> float:
        """Return the least seconds of the load: a ramp or a search may end in its first step."""
        if self.limits:
            return self.before_s + self.limits.seconds(self.limits.first_rate)
        return self.before_s + (self.step_s if self.rates else self.duration_s)

    @property
    def longest_s(self) -> float:
        """Return the seconds after which a load generator ends itself, with a margin for a load by steps, which is ended by command."""
        if self.limits:
            return LONGEST_S
        if self.rates:
            return self.steps[-1].to_s + self.slo_s + SPARE_S
        return self.before_s + self.duration_s

    def shares(self, part: int = 0) -> list[int]:
        """Return the number of users of each load generator of a part: the parts share the users, and the load generators a part's users."""
        return _evenly(_evenly(self.users, self.pods)[part], self.processes)


def _evenly(total: int, among: int) -> list[int]:
    least, more = divmod(total, among)
    return [least + (place < more) for place in range(among)]


def _limits(values: Mapping[str, str]) -> Limits:
    first_rate, factor, tolerance, slo_ms, longest_step_s = (float(values[name]) for name in CAPACITY_PARAMS)
    return Limits(
        *(
            first_rate,
            factor,
            tolerance,
            slo_ms / 1000,
            float(values["max_error_share"]),
            longest_step_s,
            MAX_RATE,
        )
    )


def _rates(values: Mapping[str, str]) -> tuple[float, ...]:
    """Return the rates of a ramp up to the largest allowed rate. Raises SpecError for parameters without a valid ramp."""
    first, factor, step_s, slo_ms = (float(values[name]) for name in RAMP_PARAMS)
    if factor <= 1:
        raise SpecError(f"A ramp needs a rate_factor above 1, not {factor:g}")
    if slo_ms > 1000 * step_s:
        raise SpecError(
            f"The limit slo_ms={slo_ms:g} is longer than a step of {step_s:g} s: ask for a longer step_s"
        )
    if (count := request_count(first, step_s)) < MIN_REQUESTS:
        raise SpecError(
            f"A step of {step_s:g} s at {first:g} a second has {count} requests, and 1 % of them is none:"
            f" ask for a larger first_rate or step_s, so that there are {MIN_REQUESTS}"
        )
    rates = [first]
    while (following := rates[-1] * factor) <= MAX_RATE:
        rates.append(following)
        if len(rates) > MAX_STEPS:
            raise SpecError(
                f"A ramp from {first:g} a second by {factor:g} has more than {MAX_STEPS} steps up to {MAX_RATE:,}:"
                " ask for a larger rate_factor or first_rate"
            )
    return tuple(rates)

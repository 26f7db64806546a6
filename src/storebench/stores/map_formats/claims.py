"""The claims of the original study of formats in map jobs."""

from storebench.study.claim import Claim

YSON, SKIFF, STATIC, DYNAMIC, ARROW = "yson", "skiff", "protobuf-static", "protobuf-dynamic", "arrow"
FORMATS = (YSON, SKIFF, STATIC, DYNAMIC, ARROW)
BENCHMARKS = ("wide", "narrow", "modify", "extend", "complex", "write")
READS = BENCHMARKS[:-1]
COMPILED = {"client": "compiled"}
# The value of each axis in the original's table of benchmarks.
STUDIED = {**COMPILED, "values": "random", "interface": "direct", "network": "unlimited"}
BY_VALUES = {**COMPILED, "interface": "direct", "network": "unlimited", "position": "end"}
AT_END = {**STUDIED, "position": "end"}
LIBRARIES = "the libraries are those for Go, the original's those for C++"
DYNAMICPB = "the jobs use Go's dynamicpb, whose times do not apply to YTsaurus' dynamic Protobuf"
MOST = "*most* is taken as five sixths of the cases"


def _first(text: str, benchmark: str, note: str = "", at_least: float = 1) -> Claim:
    """Create the claim that all other formats take longer than Skiff in a benchmark."""
    others = tuple(name for name in FORMATS if name != SKIFF)
    both = {**AT_END, "benchmark": benchmark}
    return Claim(text, "map", {"store": SKIFF}, {"store": others}, both=both, at_least=at_least, note=note)


def _smaller(text: str, store: str, at_least: float, at_most: float) -> Claim:
    """Create the claim about the mean size of a format's tables relative to YSON's."""
    return Claim(
        text,
        "map",
        {"store": YSON},
        {"store": store},
        both={**AT_END, "benchmark": READS},
        at_least=at_least,
        at_most=at_most,
        fewest=3,
        metric="in_bytes",
        note="the original states the mean of its tables; it is taken to be within 5 points in most of them",
    )


CLAIMS = (
    *(
        Claim(
            f"{name} is ahead of YSON, dynamic Protobuf and Arrow in most benchmarks",
            "map",
            {"store": store},
            {"store": (YSON, DYNAMIC, ARROW)},
            both={**AT_END, "benchmark": BENCHMARKS},
            at_least=1,
            fewest=15,
            note=f"{MOST}; {LIBRARIES}",
        )
        for name, store in (("Skiff", SKIFF), ("Static Protobuf", STATIC))
    ),
    _first("Skiff is the first in tables of many columns of a fixed size", "wide", LIBRARIES),
    _first("Skiff is the first where a job changes numbers in place", "modify", LIBRARIES),
    _first("Skiff is the first with complex types", "complex", LIBRARIES),
    _first(
        "Skiff writes several times as fast as the others",
        "write",
        f"*several times* is taken as at least twice; {LIBRARIES}",
        at_least=2,
    ),
    Claim(
        "Static Protobuf is slightly ahead of Skiff in tables of few columns",
        "map",
        {"store": STATIC},
        {"store": SKIFF},
        both={**AT_END, "benchmark": "narrow"},
        at_least=1,
        at_most=1.25,
        note=f"*slightly* is taken as less than a quarter; {LIBRARIES}",
    ),
    Claim(
        "Skiff and static Protobuf are about equal without complex types and large outputs",
        "map",
        {"store": SKIFF},
        {"store": STATIC},
        both={**AT_END, "benchmark": ("wide", "narrow", "modify", "extend")},
        at_least=0.8,
        at_most=1.25,
        note=f"*about equal* is taken as less than a quarter; {LIBRARIES}",
    ),
    Claim(
        "Static Protobuf is ahead of Skiff where a column is added in the middle",
        "map",
        {"store": STATIC},
        {"store": SKIFF},
        both={**STUDIED, "benchmark": "extend", "position": "middle"},
        at_least=1,
        note=LIBRARIES,
    ),
    Claim(
        "A column in the middle makes Skiff 8 % slower than one at the end",
        "map",
        {"position": "end"},
        {"position": "middle"},
        both={**STUDIED, "benchmark": "extend", "store": SKIFF},
        at_least=1.04,
        at_most=1.12,
    ),
    Claim(
        "Where a column is added changes nothing in static Protobuf",
        "map",
        {"position": "end"},
        {"position": "middle"},
        both={**STUDIED, "benchmark": "extend", "store": STATIC},
        at_least=0.95,
        at_most=1.05,
        note=LIBRARIES,
    ),
    Claim(
        "YSON is in between: behind Skiff",
        "map",
        {"store": SKIFF},
        {"store": YSON},
        both={**AT_END, "benchmark": BENCHMARKS},
        at_least=1,
    ),
    Claim(
        "Dynamic Protobuf is behind YSON in most benchmarks",
        "map",
        {"store": YSON},
        {"store": DYNAMIC},
        both={**AT_END, "benchmark": BENCHMARKS},
        at_least=1,
        fewest=5,
        elsewhere=DYNAMICPB,
    ),
    Claim(
        "Dynamic Protobuf of earlier versions of YTsaurus is within 5 % of static Protobuf",
        "map",
        {"store": STATIC},
        {"store": DYNAMIC},
        both={**AT_END, "benchmark": BENCHMARKS},
        at_least=0.95,
        at_most=1.05,
        elsewhere=DYNAMICPB,
    ),
    Claim(
        "Arrow is far behind the other formats in most benchmarks",
        "map",
        {"store": (YSON, SKIFF, STATIC)},
        {"store": ARROW},
        both={**AT_END, "benchmark": BENCHMARKS},
        at_least=1.5,
        fewest=15,
        note=f"*far* is taken as at least 1.5 times the time; {MOST}; {LIBRARIES}",
    ),
    Claim(
        "Writing in Arrow is very inefficient",
        "map",
        {"store": (YSON, SKIFF, STATIC)},
        {"store": ARROW},
        both={**AT_END, "benchmark": "write"},
        at_least=2,
        elsewhere="YTsaurus' server limited the original's writes, and this study has no server",
    ),
    Claim(
        "Arrow's jobs take 15 % less time on tables that are stored by columns",
        elsewhere="a server decides the layout of a table, and this study has no server",
    ),
    Claim(
        "Where values repeat, Arrow's jobs are up to 8 to 9 times as fast",
        "map",
        {"values": "random"},
        {"values": "few"},
        both={**BY_VALUES, "store": ARROW, "benchmark": READS},
        at_least=0.09,
        at_most=0.15,
        fewest=1,
        note="*up to 8 to 9* is taken as 6.7 to 11 times in one benchmark; with 16 distinct values, the original does not say how many",
    ),
    Claim(
        "Whether values repeat changes nothing in the other formats",
        "map",
        {"values": "random"},
        {"values": "few"},
        both={**BY_VALUES, "store": (YSON, SKIFF, STATIC, DYNAMIC), "benchmark": READS},
        at_least=0.9,
        at_most=1.1,
        note="*nothing* is taken as less than 10 %",
    ),
    _smaller("Protobuf's data is 18 % smaller than YSON's", STATIC, 0.77, 0.87),
    _smaller("Skiff's data is 34 % smaller than YSON's", SKIFF, 0.61, 0.71),
    _smaller("Arrow's data is 34 % smaller than YSON's", ARROW, 0.61, 0.71),
    Claim(
        "A network of 10 Mbit/s is not the bottleneck",
        "map",
        {"network": "unlimited"},
        {"network": "10mbit"},
        both={**COMPILED, "values": "random", "interface": "direct", "benchmark": "modify", "store": FORMATS},
        at_most=1.1,
        note="*not the bottleneck* is taken as at most 10 % more time; the original's jobs took far longer for a byte, so the network limited them less",
    ),
    Claim(
        "A common interface makes jobs of each format 10 to 15 % slower",
        "map",
        {"interface": "direct"},
        {"interface": "common"},
        both={
            **COMPILED,
            "values": "random",
            "network": "unlimited",
            "benchmark": "modify",
            "store": FORMATS,
        },
        at_least=1.08,
        at_most=1.18,
        note="the original states the mean of its benchmarks; the interface is this project's",
    ),
    Claim(
        "Jobs of all formats need about the same memory",
        "map",
        {"store": SKIFF},
        {"store": (YSON, STATIC, DYNAMIC, ARROW)},
        both={**AT_END, "benchmark": BENCHMARKS},
        at_least=0.8,
        at_most=1.25,
        metric="job_memory_peak_bytes",
        note="*about the same* is taken as less than a quarter; with Go's runtime",
    ),
)

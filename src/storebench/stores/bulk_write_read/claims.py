"""The claims of the original study of bulk writes and reads."""

from storebench.study.claim import Claim
from storebench.study.model import MEMORY

REFERENCE = {"client": "reference"}
READ = {**REFERENCE, "cache": "as_is"}
SPARK = {**REFERENCE, "store": "delta-spark"}
BATCHES = ("10000", "100000", "all")
EXECUTORS = ("1", "2", "4")
MONGODB = {"mongodb": "MongoDB"}
ONE_TASK = (
    "all at once is one task by construction: Spark does not split a CSV whose fields may have several lines"
)
TENDS = "*tends* is taken as two thirds of the cases"
NO_TREND = "*no trend* is taken as a difference of less than a quarter"

CLAIMS = (
    Claim(
        "Delta's writes tend to take less time in larger batches",
        "write",
        {"batch": "10000"},
        {"batch": ("100000", "all")},
        both={**SPARK, "executors": EXECUTORS},
        at_most=1,
        fewest=4,
        note=TENDS,
    ),
    Claim(
        "Delta's writes in batches tend to take less time with more executors",
        "write",
        {"executors": "1"},
        {"executors": ("2", "4")},
        both={**SPARK, "batch": ("10000", "100000")},
        at_most=1,
        fewest=3,
        note=TENDS,
    ),
    Claim(
        "Delta's writes all at once tend to take less time with more executors",
        "write",
        {"executors": "1"},
        {"executors": ("2", "4")},
        both={**SPARK, "batch": "all"},
        at_most=1,
        elsewhere=ONE_TASK,
    ),
    Claim(
        "MongoDB writes fast in small batches: faster than Delta Lake",
        "write",
        {"store": "mongodb"},
        {"store": "delta-spark"},
        both={**REFERENCE, "batch": "10000", "executors": EXECUTORS},
        at_least=1,
        servers=MONGODB,
    ),
    Claim(
        "Delta Lake may overtake MongoDB in large batches",
        "write",
        {"store": "mongodb"},
        {"store": "delta-spark"},
        both={**REFERENCE, "batch": ("100000", "all"), "executors": EXECUTORS},
        at_most=1,
        fewest=1,
        servers=MONGODB,
        note=ONE_TASK,
    ),
    Claim(
        "Elasticsearch's writes are very slow beside MongoDB's",
        "write",
        {"store": "mongodb"},
        {"store": "elasticsearch"},
        both={**REFERENCE, "batch": BATCHES},
        at_least=2,
        servers=MONGODB,
        note="*very slow* is taken as at least twice the time",
    ),
    Claim(
        "Elasticsearch's writes are very slow beside Delta Lake's",
        "write",
        {"store": "delta-spark"},
        {"store": "elasticsearch"},
        both={**REFERENCE, "batch": BATCHES, "executors": EXECUTORS},
        at_least=2,
        note="*very slow* is taken as at least twice the time",
    ),
    Claim(
        "Delta's reads show no trend with the batch",
        "read",
        {"batch": "10000"},
        {"batch": ("100000", "all")},
        both={**SPARK, **READ, "executors": EXECUTORS},
        at_least=0.8,
        at_most=1.25,
        note=NO_TREND,
    ),
    Claim(
        "Delta's reads show no trend with the number of executors",
        "read",
        {"executors": "1"},
        {"executors": ("2", "4")},
        both={**SPARK, **READ, "batch": BATCHES},
        at_least=0.8,
        at_most=1.25,
        note=f"{NO_TREND}; a table that was written {ONE_TASK}",
    ),
    Claim(
        "delta-standalone does not always read faster than Spark",
        "read",
        {"store": "delta-spark"},
        {"store": "delta-standalone"},
        both={**READ, "batch": BATCHES, "executors": EXECUTORS},
        at_least=1,
        fewest=1,
    ),
    Claim(
        "Elasticsearch reads about twice as fast as MongoDB",
        "read",
        {"store": "mongodb"},
        {"store": "elasticsearch"},
        both={**READ, "batch": BATCHES},
        at_least=0.4,
        at_most=0.6,
        servers=MONGODB,
        note="*about twice* is taken as 1.7 to 2.5 times",
    ),
    Claim(
        "Delta Lake needs more memory with more executors",
        a={"executors": "1"},
        b={"executors": ("2", "4")},
        both={**SPARK, **READ, "operation": ("write", "read"), "batch": BATCHES},
        at_least=1,
        metric=MEMORY.name,
        note=ONE_TASK,
    ),
    Claim(
        "MongoDB needs more memory for writes in larger batches",
        "write",
        {"batch": "10000"},
        {"batch": "100000"},
        both={**REFERENCE, "store": "mongodb"},
        at_least=1,
        metric=MEMORY.name,
        note="the memory of the client, which does not depend on the server that answered",
    ),
    Claim(
        "Elasticsearch needs the least memory",
        a={"store": ("mongodb", "delta-spark")},
        b={"store": "elasticsearch"},
        both={**READ, "operation": ("write", "read"), "batch": BATCHES},
        at_most=1,
        metric=MEMORY.name,
    ),
    Claim(
        "All at once needs little memory, because the CSV is read while it is written",
        "write",
        {"batch": "100000"},
        {"batch": "all"},
        both={**REFERENCE, "store": ("mongodb", "elasticsearch", "delta-spark")},
        at_most=1,
        metric=MEMORY.name,
        note="*little* is taken as less than in batches of 100,000 rows",
    ),
)

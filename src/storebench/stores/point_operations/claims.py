"""The claims of the original study of MongoDB and Cassandra under load."""

from storebench.study.claim import Claim

STUDIED = {"client": "rest", "load": "closed", "consistency": "one", "key_distribution": "uniform"}
CASSANDRA, MONGODB = {"store": "cassandra@rest_three"}, {"store": "mongodb@rest_sharded"}
SERVERS = {"mongodb": "MongoDB"}
SERVICE = "through a service in Python, the original's was in .NET"

CLAIMS = (
    Claim(
        "On the same machines a sharded MongoDB is faster than a cluster of Cassandra",
        a=CASSANDRA,
        b=MONGODB,
        both={**STUDIED, "operation": ("read", "write")},
        at_least=1,
        servers=SERVERS,
        note=SERVICE,
    ),
    Claim(
        "MongoDB writes 540 entities a second where Cassandra writes 120",
        "write",
        CASSANDRA,
        MONGODB,
        both=STUDIED,
        at_least=3.6,
        at_most=5.6,
        servers=SERVERS,
        note=f"*540 to 120* is taken as a factor of 3.6 to 5.6; {SERVICE}",
    ),
    Claim(
        "MongoDB reads 600 entities a second where Cassandra reads 70",
        "read",
        CASSANDRA,
        MONGODB,
        both=STUDIED,
        at_least=6.9,
        at_most=10.7,
        servers=SERVERS,
        note=f"*600 to 70* is taken as a factor of 6.9 to 10.7; {SERVICE}",
    ),
    Claim(
        "Twice the machine does not let Cassandra catch up with MongoDB",
        "write",
        {**CASSANDRA, "server_cpu": "4", "server_memory": "8Gi"},
        {**MONGODB, "server_cpu": "2", "server_memory": "4Gi"},
        both=STUDIED,
        at_least=1,
        servers=SERVERS,
        note=f"servers of the original's sizes; {SERVICE}",
    ),
    Claim(
        "Cassandra writes faster than it reads",
        a={"operation": "read"},
        b={"operation": "write"},
        both={**STUDIED, "store": "cassandra"},
        at_least=1,
        note=SERVICE,
    ),
    Claim(
        "MongoDB reads faster than it writes",
        a={"operation": "write"},
        b={"operation": "read"},
        both={**STUDIED, "store": "mongodb"},
        at_least=1,
        servers=SERVERS,
        note=SERVICE,
    ),
    Claim(
        "From some point on Cassandra's writes get slower",
        elsewhere="the claim is about the course of one run, and not about a ratio of two sides: see the chart of operations in each second",
    ),
)

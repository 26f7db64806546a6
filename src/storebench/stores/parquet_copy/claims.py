"""The claims of the original study of Spark on HDFS and Ozone."""

from storebench.study.claim import Claim

STUDIED = {"client": "reference", "executors": "local"}
CHECKSUMS = ("on", "off")
GENERATOR = "another generator makes the rows: the original's was Java's RandomStringUtils, whose speed decides how much a file system counts"

CLAIMS = (
    Claim(
        "Ozone is slower than HDFS in copying",
        "copy",
        {"store": "hdfs"},
        {"store": "ozone"},
        both={**STUDIED, "checksum": CHECKSUMS},
        at_least=1,
    ),
    Claim(
        "Ozone is close to HDFS in copying",
        "copy",
        {"store": "hdfs"},
        {"store": "ozone"},
        both={**STUDIED, "checksum": CHECKSUMS},
        at_least=0.67,
        at_most=1.5,
        note="*close* is taken as a factor of at most 1.5",
    ),
    Claim(
        "Generating takes the same time in Ozone and HDFS",
        "generate",
        {"store": "hdfs"},
        {"store": "ozone"},
        both={**STUDIED, "checksum": CHECKSUMS},
        at_least=0.9,
        at_most=1.11,
        elsewhere=GENERATOR,
    ),
    Claim(
        "Generating the rows may limit the writes",
        "generate",
        {"store": "null"},
        {"store": ("hdfs", "ozone")},
        both=STUDIED,
        at_most=1.25,
        elsewhere=GENERATOR,
    ),
    Claim(
        "Without checksums Ozone copies significantly faster",
        "copy",
        {"checksum": "on"},
        {"checksum": "off"},
        both={**STUDIED, "store": "ozone"},
        at_most=0.9,
        note="*significantly* is taken as at least a tenth of the time",
    ),
    Claim(
        "Checksums cost HDFS little in copying",
        "copy",
        {"checksum": "off"},
        {"checksum": "on"},
        both={**STUDIED, "store": "hdfs"},
        at_most=1.1,
        note="*little* is taken as at most 10 %",
    ),
    Claim(
        "Checksums cost less in HDFS than in Ozone",
        elsewhere="a claim compares two sides, and this text compares two ratios: the claims about the checksums of each have them",
    ),
)

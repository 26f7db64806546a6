"""The list of newer versions reads the requirements, a go.mod as JSON, and the output of Maven's plugin."""

import pytest

from local.outdated import Row, names, pins, required, table, updates


def test_only_the_packages_that_a_file_names_are_compared():
    lock = "boto3==1.44.5 \\\n    --hash=sha256:13a3\nbotocore==1.44.5 \\\n    # via boto3\nwendelin-core==0.13\n"
    asked = "# boto3 is in\n-r pod-python.in\nboto3\npsycopg[binary,pool]\nwendelin.core==0.13  # old\nsetuptools<60\n"
    assert names(asked) == {"boto3", "psycopg", "wendelin-core", "setuptools"}
    assert {name: version for name, version in pins(lock).items() if name in names(asked)} == {
        "boto3": "1.44.5",
        "wendelin-core": "0.13",
    }


def test_a_go_mod_requires_what_it_names_itself_and_the_modules_of_its_tools():
    module = {
        "Require": [
            {"Path": "example.org/direct", "Version": "v1.2.0"},
            {"Path": "example.org/tool/v2", "Version": "v2.7.0", "Indirect": True},
            {"Path": "example.org/tool", "Version": "v0.1.0", "Indirect": True},
            {"Path": "example.org/staged", "Version": "v0.0.0"},
        ],
        "Tool": [{"Path": "example.org/tool/v2/cmd/tool"}],
        "Replace": [
            {
                "Old": {"Path": "example.org/staged"},
                "New": {"Path": "example.org/staged", "Version": "v0.34.4"},
            }
        ],
    }
    assert required(module) == {
        "example.org/direct": "v1.2.0",
        "example.org/tool/v2": "v2.7.0",
        "example.org/tool": "v0.1.0",
        "example.org/staged": "v0.34.4",
    }
    assert required({"Require": None}) == {}


@pytest.mark.parametrize(
    "line",
    [
        "[INFO]   io.delta:delta-kernel-api .......................... 4.4.0 -> 4.4.1\n",
        "[INFO]   io.delta:delta-kernel-api ..........................\n[INFO]                          4.4.0 -> 4.4.1\n",
    ],
)
def test_mavens_updates_are_read_also_from_broken_lines(line):
    text = f"[INFO] The following dependencies have newer versions:\n{line}[INFO] BUILD SUCCESS\n"
    assert updates(text) == [("io.delta:delta-kernel-api", "4.4.0", "4.4.1")]


def test_the_table_has_a_line_for_each_row():
    assert table([Row("npm: page", "react", "19.2.9", "19.3.1")]).splitlines() == [
        "PART       PACKAGE  PINNED  NEWEST",
        "npm: page  react    19.2.9  19.3.1",
    ]

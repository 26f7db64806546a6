import json
import math
import random

import pytest

from bench import fuzz_conf
from bench.fuzz_conf import stand_ins
from bench.fuzz_conf_values import Configuration, configurations
from storebench.errors import SpecError
from storebench.study.studies import find
from storebench.web import starting


@pytest.fixture
def fuzzer(monkeypatch):
    # Only `make fuzz-conf` judges speed: the limit in seconds depends on the machine.
    monkeypatch.setattr(fuzz_conf, "LONGEST_S", math.inf)
    with stand_ins() as found:
        yield found


def test_configurations_of_one_seed_are_the_same_and_some_are_taken():
    study = find("bulk_write_read")
    ones, others = (configurations([study], random.Random(5)) for _ in range(2))
    made = [next(ones) for _ in range(50)]
    assert made == [next(others) for _ in range(50)] and len({one.params for one in made}) > 40


def test_each_of_300_configurations_is_taken_or_refused_in_words(fuzzer, capsys):
    tally = fuzzer.run(300, seed=11)
    assert not tally.findings, capsys.readouterr().out
    assert tally.taken > 50 and tally.refused > 50


ASKED = {"stores": ["null"], "clients": ["reference"], "batch": "all"}
ONE = Configuration("bulk_write_read", json.dumps(ASKED), ())


@pytest.mark.parametrize(
    ("where", "name", "broken", "kind"),
    [
        (starting, "run_values_or_mistakes", lambda *_: 1 / 0, "tracebacks"),
        (starting, "check_agents", lambda *_: (_ for _ in ()).throw(SpecError("no")), "differing"),
        (fuzz_conf, "LONGEST_S", 0, "slow"),
    ],
)
def test_what_is_broken_is_a_finding_that_can_be_typed_again(
    fuzzer, capsys, monkeypatch, where, name, broken, kind
):
    fuzzer.check(ONE)
    assert not fuzzer.tally.findings, capsys.readouterr().out
    monkeypatch.setattr(where, name, broken)
    fuzzer.check(ONE)
    assert fuzzer.tally.findings[kind]
    typed = json.loads(capsys.readouterr().out.splitlines()[1])
    assert json.loads(typed["params"]) == ASKED and typed["study"] == ONE.study

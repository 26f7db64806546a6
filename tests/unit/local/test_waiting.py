import itertools
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from local.stack import __main__ as command
from local.stack import health, jobs, lifecycle, supervisor, waiting
from local.stack.settings import Settings, StackError


class Screen:
    def __init__(self, draws):
        self.draws, self.said, self.shown = draws, [], []

    def say(self, line):
        self.said.append(line)

    def show(self, lines):
        self.shown.append(list(lines))


@pytest.fixture
def settings(tmp_path):
    (tmp_path / "log").mkdir()
    return Settings(home=tmp_path)


@pytest.fixture
def stack(monkeypatch):
    """Parts that answer after `answers` seconds of a clock that goes on while the waiting sleeps."""
    clock = itertools.count()
    stack = SimpleNamespace(answers={"s3": 1, "airflow": 3}, now=0.0)

    def sleep(seconds):
        stack.now = float(next(clock))

    def complaint(name, settings):
        return None if stack.now >= stack.answers[name] else f"{name} refuses"

    monkeypatch.setattr(waiting, "time", SimpleNamespace(monotonic=lambda: stack.now, sleep=sleep))
    running = {"name": "airflow-api", "namespace": "airflow", "status": "Running", "restarts": 0}
    monkeypatch.setattr(supervisor, "processes", lambda settings: [running])
    monkeypatch.setattr(supervisor, "failures", lambda settings, states: None)
    monkeypatch.setattr(health, "complaint", complaint)
    monkeypatch.setattr(jobs, "airflow_variables", lambda settings: None)
    return stack


def test_a_terminal_has_a_line_for_each_part_that_is_waited_for(settings, stack):
    waiting.record(settings, {"airflow": 52.4})
    screen = Screen(draws=True)
    assert waiting.wait(settings, ["s3", "airflow"], screen) == {"s3": 1, "airflow": 3}
    assert screen.said == [
        "waiting for s3, airflow (about 52 s)",
        "s3: ready after 1 s",
        "airflow: ready after 3 s",
    ]
    assert screen.shown == [
        ["s3              0:00  s3 refuses", "airflow         0:00 of about 52 s  airflow refuses"],
        ["airflow         0:01 of about 52 s  airflow refuses"],
        ["airflow         0:02 of about 52 s  airflow refuses"],
        [],
    ]


def test_a_file_gets_a_line_each_minute(settings, stack):
    stack.answers = {"s3": 1, "airflow": 150}
    screen = Screen(draws=False)
    waiting.wait(settings, ["s3", "airflow"], screen)
    assert screen.said == [
        "waiting for s3, airflow",
        "s3: ready after 1 s",
        "airflow: not ready after 60 s: airflow refuses",
        "airflow: not ready after 120 s: airflow refuses",
        "airflow: ready after 150 s",
    ]


def test_what_a_start_took_is_kept_for_each_part(settings, stack):
    waiting.record(settings, {"airflow": 80.0, "s3": 2.0})
    waiting.record(settings, {"airflow": 52.4})
    screen = Screen(draws=False)
    waiting.wait(settings, ["s3"], screen)
    waiting.wait(settings, ["airflow", "s3"], screen)
    assert screen.said[0] == "waiting for s3 (about 2 s)"
    assert screen.said[2] == "waiting for airflow, s3 (about 52 s)"


def test_nothing_stays_drawn_of_a_start_that_fails(settings, stack):
    stack.answers = {"s3": 1_000}
    screen = Screen(draws=True)
    with pytest.raises(StackError, match="s3 does not answer after 90 s: s3 refuses"):
        waiting.wait(settings, ["s3"], screen)
    assert screen.shown[-1] == []


def test_ctrl_c_during_a_start_says_what_goes_on_and_how_to_go_on(monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(lifecycle, "up", interrupted)
    result = CliRunner().invoke(command.main, ["up"])
    assert result.exit_code == 130
    assert result.output == (
        "Interrupted. What was started goes on: the same `make` waits for it, `make stop` ends it.\n"
    )


def test_the_cluster_has_the_longer_the_more_images_its_nodes_get(settings):
    alone = health.time_limit("kubernetes", settings)
    (settings.home / "images").mkdir()
    for name in ("jvm", "python"):
        (settings.home / "images" / f"{name}.txt").touch()
    assert health.time_limit("kubernetes", settings) == alone + 20
    assert health.time_limit("airflow", settings) == health.TIME_LIMITS["airflow"]

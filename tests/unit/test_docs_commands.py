"""Each command of the documentation is one that the programs accept: the command, its options, and the run that it asks for."""

import re
import shlex
from dataclasses import replace

import click
import pytest

from local.reference.programs import MAKEFILE, OPTION_OF, TARGET
from storebench.cli import main
from storebench.errors import SpecError
from storebench.planning.conf import axis_values_of, conf_of
from storebench.planning.params import grid_of, run_values
from storebench.study import studies
from tests.documented import ROOT, Typed, commands, spans
from tests.unit.local.test_variables import OF_OTHERS, OF_RUN

STACKS = "bulk_write_read"  # the study that the embedded stack makes the default
TARGETS = {name for name, _ in TARGET.findall(MAKEFILE + (ROOT / "local" / "setup.mk").read_text())}
RECIPES = {
    text.partition(":")[0]: text.partition("\n\n")[0] for text in re.split(r"\n(?=[a-z0-9-]+:)", MAKEFILE)
}
VARIABLE = re.compile(r"([A-Z]+)=(.*)", re.DOTALL)


def command_of(words):
    """Return the command of `storebench`, and its arguments."""
    name, *arguments = words
    command = main.commands.get(name)
    assert command is not None, f"there is no command {name}"
    if isinstance(command, click.Group) and arguments:
        return command.commands[arguments[0]], arguments[1:]
    return command, arguments


def check_storebench(words):
    """Check a command's arguments and options. Files that it reads need not exist. Check the run that `run` asks for."""
    command, arguments = command_of(words)
    if "--help" in arguments:
        return
    try:
        context = command.make_context(words[0], arguments)
    except click.BadParameter as error:
        assert isinstance(error.param.type, click.Path), error
        return
    if words[0] == "run":
        check_run({name: value for name, value in context.params.items() if value is not None})


def check_run(asked):
    """Check that the plan accepts the stores, clients, axes and parameters that a command gives. Placeholders are studies that do not exist."""
    if asked["study"] not in studies.names():
        return
    study = studies.find(asked.pop("study"))
    axes, tags, extra = (asked.pop(name, ()) for name in ("axes", "tags", "extra"))
    preset = asked.pop("preset", None)
    options = {**asked, **axis_values_of(" ".join(axes), study), "tags": ", ".join(tags) or None}
    params = run_values(study, conf_of(study.preset(preset) if preset else None, options, extra))
    assert grid_of(study, params).cells


def check_make(words):
    """Check the target and the variables. Check the run that `make run` asks for, as the options of `storebench run`."""
    target, *given = (word for word in words if word != "--silent")
    assert target in TARGETS, f"there is no target {target}"
    assert all(map(VARIABLE.fullmatch, given)), "not a variable"
    variables = dict(VARIABLE.fullmatch(one).groups() for one in given)
    if target != "run":
        known = {name for name in (*OF_RUN, *OF_OTHERS) if re.search(rf"\b{name}\b", RECIPES.get(target, ""))}
        assert variables.keys() <= known | ({"STUDY", "STORES", "PRESET"} if target == "up" else set())
        return
    assert variables.keys() <= {*OF_RUN}
    options = []
    for name, value in variables.items():
        values = shlex.split(value) if name in OPTION_OF and name != "PARAMS" else [value]
        values = value.split(" ") if name == "PARAMS" else values
        options += [text for one in values for text in (f"--{OPTION_OF.get(name, name.lower())}", one)]
    check_storebench(("run", *options))


def mistake_of(typed):
    """Return why a command would be refused; None if it is accepted."""
    program, *words = typed.words
    try:
        (check_make if program == "make" else check_storebench)(words)
    except (AssertionError, KeyError, SpecError, click.UsageError) as error:
        return f"{typed}: {error}"
    return None


@pytest.fixture(autouse=True)
def stack(monkeypatch):
    monkeypatch.setenv("STOREBENCH_STUDY", STACKS)


def test_each_typed_command_is_accepted():
    typed = [
        one
        for one in commands()
        if one.words[0] in ("make", "storebench") and len(one.words) > 1 and "…" not in str(one)
    ]
    assert len(typed) > 150 and len({one.page for one in typed}) > 25
    assert [mistake for one in typed if (mistake := mistake_of(one))] == []


def test_each_command_in_a_sentence_exists_with_its_options():
    """A sentence may name a command without its arguments, and with placeholders."""
    found = [
        one for one in spans() if not re.search(r"COMMAND|^storebench -|…|\.\.\.|<", " ".join(one.words))
    ]
    assert len(found) > 200
    mistakes = []
    for one in found:
        program, *words = one.words
        if program == "make":
            known = words[0] in TARGETS and all(VARIABLE.fullmatch(word) for word in words[1:])
        else:
            command, arguments = command_of(words)
            options = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
            known = {word for word in arguments if word.startswith("--")} <= {*options, "--help"}
        mistakes += [] if known else [str(one)]
    assert mistakes == []


@pytest.mark.parametrize(
    "line",
    [
        "storebench reslts",
        "storebench results --runs latest",
        "storebench compare",
        "storebench run --stores mongo",
        "storebench run --axis bach=10",
        "make rnu",
        "make run STORS=mongodb",
        "make run AXES='batch=many'",
        "make run PARAMS='server_memory=1'",
        "make report IN=DIR",
    ],
)
def test_a_mistake_is_found(line):
    assert mistake_of(Typed("a page", tuple(shlex.split(line))))


def test_commands_are_found_in_lines_of_the_shell(tmp_path, monkeypatch):
    page = tmp_path / "docs" / "page.md"
    page.parent.mkdir()
    page.write_text(
        '```console\n$ A=1 make up && storebench runs  # its comment\nmake no\n$ for x in 1; do storebench import "$x" > out; done\n'
        "$ storebench run --stores null \\\n    --rows 10\n$ $airflow_pod storebench sql 'SELECT 1; SELECT 2'\n```\n"
    )
    monkeypatch.setattr("tests.documented.PAGES", [page])
    monkeypatch.setattr("tests.documented.ROOT", tmp_path)
    found = [replace(one, page="").words for one in commands() if one.words[0] in ("make", "storebench")]
    assert found == [
        ("make", "up"),
        ("storebench", "runs"),
        ("storebench", "import", "$x"),
        ("storebench", "run", "--stores", "null", "--rows", "10"),
        ("storebench", "sql", "SELECT 1; SELECT 2"),
    ]

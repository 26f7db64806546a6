"""Write the reference pages of programs: the commands of `storebench`, `make`, variables of the environment, and exit codes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click

from local.reference.markdown import code, page, section, table
from storebench import errors
from storebench.attempt.termination import Killed
from storebench.cli import main
from storebench.cli.airflow_api import RunFailed
from storebench.cli.environment import VARIABLES
from storebench.cli.runs import INTERRUPTED, run
from storebench.planning import node_pools
from storebench.servers import topology
from storebench.spark.session import NoExecutors

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text()
TARGET = re.compile(r"^([a-z0-9-]+):.*?## (.*)$", re.MULTILINE)
# Of variables of `make run` whose option has another name
OPTION_OF = {"AXES": "axis", "PARAMS": "param", "TAGS": "tag"}
OF_COMPONENTS = {
    node_pools.VARIABLE: "The pools of nodes beside the default pool, with commas between their names ([operating](../operating.md#scale)).",
    topology.FOLDER: "The folder of the topologies instead of `deploy/servers` ([servers](../servers.md#your-own-topology)).",
    "STOREBENCH_METRICS_TOKEN": "The token of Prometheus, instead of a connection ([monitoring](../how-to/monitoring.md#the-token)).",
}


def commands_page() -> str:
    """Return the page of the commands of `storebench`, with their arguments and options."""
    known = sorted(_commands(main, "storebench"))
    overview = table(
        ("command", "effect"),
        (
            (f"[`{name}`](#{name.replace(' ', '-')})", command.get_short_help_str(200))
            for name, command in known
        ),
    )
    return page(
        "Reference: commands",
        "`src/storebench/cli/`",
        [
            (
                "`storebench COMMAND --help` prints the same. The help of `run` and `grid` also has the axes and parameters of the study that"
                " `--study` names. [Exit codes](exit-codes.md) and [variables](environment.md) have their own pages."
            ),
            "",
            *overview,
            "",
        ],
        *(_command(name, command) for name, command in known),
    )


def _commands(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    """Yield each command with its full name, without the programs of pods, which are hidden."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from _commands(command, f"{path} {name}")
        elif not command.hidden:
            yield f"{path} {name}", command


def _command(name: str, command: click.Command) -> list[str]:
    context = click.Context(command, info_name=name)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    records = [
        option.get_help_record(context) for option in command.params if isinstance(option, click.Option)
    ]
    text = inspect.cleandoc(command.help or "").split("\n\n")
    return section(
        name,
        ["```text", usage, "```"],
        *([" ".join(paragraph.split())] for paragraph in text),
        table(("option", "meaning"), ((code(record[0]), record[1]) for record in records if record)),
    )


def make_page() -> str:
    """Return the page of the targets and variables of make."""
    targets = [(code(f"make {name}"), text) for name, text in TARGET.findall(MAKEFILE + _setup())]
    options = {str(option.name): option for option in run.params if isinstance(option, click.Option)}
    by_flag = {flag.lstrip("-"): option for option in options.values() for flag in option.opts}
    of_run = [
        (code(name), str(by_flag[OPTION_OF.get(name, name.lower())].help)) for name in _variables("OF_RUN")
    ]
    blocks = _blocks()
    others = [
        (code(name), code(*(target for target, block in blocks.items() if re.search(rf"\b{name}\b", block))))
        for name in _variables("OF_OTHERS")
    ]
    return page(
        "Reference: make",
        "`Makefile`",
        ["`make help` prints the same targets.", ""],
        section("Targets", table(("command", "effect"), targets)),
        section(
            "Variables of `make run`",
            [
                "`make run STORES=mongodb,null REPEATS=6`. AXES, PARAMS and TAGS take several values, with spaces between them."
            ],
            table(("variable", "meaning"), of_run),
        ),
        section("Variables of other targets", table(("variable", "targets"), others)),
    )


def _setup() -> str:
    return (ROOT / "local" / "setup.mk").read_text()


def _variables(name: str) -> list[str]:
    found = re.search(rf"^{name} := (.*)$", MAKEFILE, re.MULTILINE)
    assert found, name
    return found[1].split()


def _blocks() -> dict[str, str]:
    """Return the text of each documented target with its recipe."""
    texts = re.split(r"^(?=[a-z0-9-]+:)", MAKEFILE, flags=re.MULTILINE)
    return {found[1]: text.partition("\n\n")[0] for text in texts if (found := TARGET.match(text))}


def environment_page() -> str:
    """Return the page of the variables of the environment that users may set."""
    return page(
        "Reference: variables of the environment",
        "`Makefile`, `src/storebench/cli/environment.py` and `deploy/compose/env.template`",
        section(
            "The embedded stack",
            ["`make` reads these variables. Write them before the command: `STOREBENCH_NODES=2 make up`."],
            table(("variable", "default", "meaning"), _of_make()),
        ),
        section(
            "Commands",
            [
                (
                    "`storebench` reads these variables. The embedded stack writes them to `~/.cache/storebench/run/env`, and Docker Compose"
                    " sets them in the service `bench`. For an Airflow of your own, see [Kubernetes](../how-to/kubernetes.md#9-use-the-command-line)."
                )
            ],
            table(("variable", "meaning"), ((code(name), text) for name, text in VARIABLES.items())),
        ),
        section(
            "Airflow's components",
            ["Set these variables for all components of an Airflow of your own."],
            table(("variable", "meaning"), ((code(name), text) for name, text in OF_COMPONENTS.items())),
        ),
        section(
            "Docker Compose",
            [
                (
                    "`deploy/compose/prepare` writes these variables to `.env`, with random [secrets](../how-to/docker-compose.md#secrets). After a"
                    " change, type `docker compose up --wait`."
                )
            ],
            table(("variables with their defaults", "meaning"), _of_compose()),
        ),
    )


def _of_make() -> list[tuple[str, str, str]]:
    """Return the variables of the help of make: name, default, meaning."""
    listed = MAKEFILE.partition("#: Variables of the environment, with their defaults:\n")[2].partition(
        "\n\n"
    )[0]
    joined = re.sub(r"\n#: {20,}", "  ", listed).replace(",\n#:   ", ", ")
    rows = list[tuple[str, str, str]]()
    for line in joined.splitlines():
        names, meaning = re.split(r" {2,}", line.removeprefix("#:").strip(), maxsplit=1)
        text = f"{meaning[0].upper()}{meaning[1:]}."
        if "=" in names:
            name, _, default = names.partition("=")
            rows.append((code(name), code(default), text))
        else:
            rows.append((code(*names.split(", ")), "", text))
    return rows


def _of_compose() -> Iterator[tuple[str, str]]:
    """Yield the settings below each comment of the template, and the comment. Settings that `prepare` chooses are excluded."""
    text = (ROOT / "deploy" / "compose" / "env.template").read_text()
    for comment, settings in re.findall(r"^((?:#.*\n)+)((?:[A-Z].*\n)+)", text, re.MULTILINE):
        if "=@" not in settings:
            yield code(*settings.splitlines()), comment.replace("#", "").strip()


def exit_codes_page() -> str:
    """Return the page of the exit codes of commands and of pods."""
    known: list[type[errors.StorebenchError]] = [
        one
        for one in (*vars(errors).values(), RunFailed, NoExecutors, Killed)
        if inspect.isclass(one) and issubclass(one, errors.StorebenchError)
    ]
    meanings = {one: str(one.__doc__).split("\n\n")[0] for one in known}
    meanings[errors.StorebenchError] = "A defect of Storebench."
    del meanings[errors.SchemaDiffers]  # has the kind of SpecError
    rows = [("0", "", "The command has done its work, or the attempt is verified.")]
    rows += [
        (str(one.exit_code), code(one.kind), meanings[one])
        for one in sorted(meanings, key=lambda one: one.exit_code)
    ]
    return page(
        "Reference: exit codes",
        "`src/storebench/errors.py`",
        [
            ("A command that fails ends with the exit code of its error, and so does the program of a pod. The column `error_kind` of the"
            " results has the kind of a failed attempt. [Failures](../method.md#failures) has the other kinds."),
            "",
            *table(("exit code", "`error_kind`", "meaning"), rows),
            "",
        ],
        section(
            "Other codes",
            table(
                ("exit code", "of", "meaning"),
                [
                    ("1, 6", code("storebench compare --fail-over"), "1: B is worse. 6: the data do not rule out that B is worse ([a green build](../method.md#repeats))."),
                    (str(INTERRUPTED), code("storebench run", "storebench follow"), "Ctrl-C ended the command. The run goes on in Airflow."),
                    ("128 + N", "pods", "Signal number N ended the program: 137 is SIGKILL, 143 is SIGTERM."),
                ],
            ),
        ),
    )  # fmt: skip

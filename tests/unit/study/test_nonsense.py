"""Each field of a valid study is replaced by nonsense: the study is refused by the name of the field, and all others go on."""

import dataclasses
import sys
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from click.testing import CliRunner

from storebench import stores
from storebench.cli import main
from storebench.errors import SpecError
from storebench.stores.base import Store
from storebench.study import studies
from storebench.study.model import Study

# A study that has every part, and every field of each. CHANGES has fields to replace by the name of their part.
STUDY = """
from storebench.airflow.dags.study import study_dag
from storebench.fields import integer
from storebench.stores.base import Pod
from storebench.study.claim import Claim
from storebench.study.dataset import FILE, FILE_FIELD, Dataset, CustomFile
from storebench.study.model import Axis, Band, Chart, Metric, Operation, Preset, Study, Table

CHANGES = {changes!r}


def made(part, **fields):
    return part(**{{**fields, **CHANGES.get(part.__name__, {{}})}})


POD = made(
    Pod,
    image="python",
    command=("sh",),
    arguments=("attempt",),
    account="me",
    volume="/data",
    shared_memory=True,
)
AXIS = made(
    Axis,
    name="size",
    title="Size",
    description="How large.",
    pattern="small|large|all",
    hint="small, large or all",
    default=("small",),
    choices=("small", "large"),
    grid=("small", "large"),
    where={{"store": ("paper",)}},
    whole="all",
    of_copies=True,
    workload=True,
    implied="small",
)
STUDY = made(
    Study,
    name="{name}",
    title="A toy",
    description="What is asked.",
    stores=("paper", "stone"),
    default_stores=("paper",),
    operations=(
        made(Operation, name="put", metrics=("put_s", "queue_bytes"), needs=()),
        Operation("get", ("get_s",), needs=("put",)),
    ),
    metrics=(
        made(Metric, name="put_s", title="time to put", better="lower", kind="scalar", by_cover=False, merge="max"),
        Metric("get_s", "time to get"),
        Metric("queue_bytes", "queue", "neither", "series"),
        Metric("done_bytes", "done", "neither", "series"),
    ),
    charts=(
        made(
            Chart,
            metric="queue_bytes",
            colour="store",
            operations=("put",),
            panel="operation",
            over="done_bytes",
            limit="depth",
            since="put_s",
            beside="done_bytes",
            band=None,
        ),
        Chart("done_bytes", "store", ("put",), band=made(Band, begin="put_s", end="get_s", title="stretch")),
    ),
    tables=(made(Table, title="By size", axis="size", metrics=("put_s", "get_s"), operations=("put",)),),
    axes=(AXIS,),
    dataset=made(
        Dataset,
        name="papers",
        version=1,
        text="A row is a sheet.",
        row_bytes=10,
        max_rows=1000,
        pod=POD,
        axes=("size",),
        custom_file=made(CustomFile, name="own", version=1, max_rows=1000, pod=Pod()),
        divides=True,
    ),
    rows=100,
    params={{"depth": integer(1, 1, 9, "Depth", "How deep.", (1, 2)), FILE: FILE_FIELD}},
    presets={{
        "quick": made(
            Preset,
            description="A look.",
            params={{"rows": 10}},
            embedded={{"rows": 5}},
            once={{"random_order": False}},
        )
    }},
    method_version=1,
    claims=(
        made(
            Claim,
            text="Paper beats stone.",
            operation="put",
            a={{"store": "paper"}},
            b={{"store": "stone"}},
            both={{"rows": "100"}},
            at_least=1.5,
            at_most=9,
            metric="put_s",
            fewest=1,
            servers={{"paper": "A printer"}},
            note="Not the same paper.",
            elsewhere="",
        ),
    ),
)
dag = study_dag(STUDY)
"""
STORE = """
from storebench.fields import flag
from storebench.protocol.counters import Counter
from storebench.stores.base import Pod, Store, TypicalTime

class Stone(Store):
    name = "stone"
    operations = ("put", "get")

class Paper(Stone):
    name = "paper"
    operations = ("put", "get")
    clients = ("reference", "tuned")
    keeps_data = True
    floor = False
    filled_by = "stone"
    connection = "paper"
    product = "Paper"
    elsewhere = ("s3",)
    provisioned_servers_only = ""
    provisions = True
    options = {"cold": flag("Cold", "Empty the caches.")}
    figures_cover = "client"
    pod = Pod()
    pods = {"get": Pod(command=("sh",))}
    packages = ("pip",)
    modules = ("json",)
    typical = (TypicalTime("put", fixed_s=1.0, million_s=2.0, client="tuned", times=("size",)), TypicalTime("get", 1.0))
    delivers = ("sheets", "pulp")
    divides = ()
    faults = ()
    lacks = ()
    counters = (Counter("pages", "", "counter", "pages that were turned"),)
"""
STONE = "from storebench.stores.{study}.paper import Stone\n"
# Empty, and all right so. Mappings may all be empty.
EMPTY = {
    *(("Study", name) for name in ("description", "charts", "tables", "claims", "axes", "default_stores")),
    *(("Axis", name) for name in ("description", "implied")),
    ("Operation", "needs"),
    *(("Chart", name) for name in ("operations", "panel", "over", "limit", "since", "beside")),
    ("Table", "operations"),
    *(("Claim", name) for name in ("operation", "metric", "note", "elsewhere")),
    *(("Dataset", name) for name in ("name", "axes")),
    *(("Pod", name) for name in ("command", "arguments")),
    *(("Store", name) for name in ("elsewhere", "provisioned_servers_only", "packages", "modules")),
    *(("Store", name) for name in ("delivers", "typical", "divides", "faults", "lacks", "counters")),
}
NEAR = "Did you mean"
# A name or a value that is misspelt, or that means nothing there, with the words of the suggestion
MISSPELT = [
    ("Study", "name", "Bad", ""),
    ("Study", "name", "other", ""),
    ("Study", "stores", ("papr", "stone"), ""),
    ("Study", "default_stores", ("papr",), NEAR),
    ("Study", "rows", 0, ""),
    ("Study", "rows", 2000, ""),
    ("Study", "method_version", -1, ""),
    ("Study", "params", {"a depth": None}, ""),
    ("Axis", "name", "a size", ""),
    ("Axis", "pattern", "[", ""),
    ("Axis", "default", ("smal",), ""),
    ("Axis", "choices", ("small", "small"), ""),
    ("Axis", "grid", ("large/small",), ""),
    ("Axis", "whole", "al", ""),
    ("Axis", "where", {"stor": ("paper",)}, NEAR),
    ("Axis", "where", {"store": ("papr",)}, NEAR),
    ("Axis", "where", {"store": ()}, ""),
    ("Axis", "where", {"client": ("reference", "tunes")}, NEAR),
    ("Metric", "name", "put s", ""),
    ("Metric", "better", "hihger", "Did you mean 'higher'?"),
    ("Metric", "kind", "histgram", "Did you mean 'histogram'?"),
    ("Metric", "beter", "lower", "Did you mean better?"),
    ("Operation", "name", "my put", ""),
    ("Operation", "metrics", ("put_z",), NEAR),
    ("Operation", "needs", ("get",), ""),
    ("Operation", "needs", ("gett",), NEAR),
    ("Chart", "metric", "queue_byte", NEAR),
    ("Chart", "colour", "sise", NEAR),
    ("Chart", "panel", "operaton", NEAR),
    ("Chart", "operations", ("puts",), NEAR),
    ("Chart", "over", "done_byte", NEAR),
    ("Chart", "limit", "dept", NEAR),
    ("Chart", "since", "put_z", NEAR),
    ("Chart", "beside", "done_byte", NEAR),
    ("Band", "begin", "put_z", NEAR),
    ("Table", "axis", "sise", NEAR),
    ("Table", "metrics", ("put_z",), NEAR),
    ("Table", "operations", ("puts",), NEAR),
    ("Preset", "params", {"rowz": 10}, NEAR),
    ("Preset", "params", {"rows": "many"}, ""),
    ("Preset", "embedded", {"stores": ["papr"]}, NEAR),
    ("Preset", "once", {"random": False}, NEAR),
    ("Dataset", "name", "My papers", ""),
    ("Dataset", "version", 0, ""),
    ("Dataset", "row_bytes", 0, ""),
    ("Dataset", "max_rows", 0, ""),
    ("Dataset", "axes", ("sise",), NEAR),
    ("CustomFile", "version", 0, ""),
    ("Claim", "operation", "putt", NEAR),
    ("Claim", "a", {"stor": "paper"}, NEAR),
    ("Claim", "b", {"store": "ston"}, NEAR),
    ("Claim", "both", {"row": "100"}, NEAR),
    ("Claim", "metric", "put_z", NEAR),
    ("Claim", "fewest", 0, ""),
    ("Claim", "servers", {"papr": "A printer"}, ""),
    ("Pod", "img", "python", ""),
    ("Store", "operations", ("put", "gett"), ""),
    ("Store", "clients", ("My client",), ""),
    ("Store", "filled_by", "ston", NEAR),
    ("Store", "figures_cover", "engin", "Did you mean 'engine'?"),
    ("Store", "delivers", ("sheets",), ""),
    ("Store", "lacks", ("put_z",), NEAR),
    ("Store", "lacks", ("put_s",), "which ranks an operation"),
    ("Store", "pods", "{'gett': Pod()}", NEAR),
    ("Store", "options", "{'cold': flag('Cold', 'Empty.', default='maybe')}", ""),
    ("Store", "conection", "paper", "Did you mean connection?"),
    ("Store", "client", ("reference",), "Did you mean clients?"),
]
CODE = {"pods", "options"}  # of a store: their misspelt values are code


def nonsense(kind: Any) -> list[Any]:
    """Return values that an annotation never allows."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is tuple:
        return ["text", [], None, (5,)]
    if origin is Literal:
        return [5, "", f"{inner[0]}x"]
    if kind is str:
        return [5, None, ("text",)]
    if kind is bool:
        return ["yes", 1, None]
    if kind in (int, float):
        return ["many", True, None]
    if float in inner or int in inner:
        return ["many", True]
    return [5, ("text",)]  # a dict, a part, or one of several types


def cases() -> list[Any]:
    found = []
    for part in (*studies.PARTS, Store):
        hints = get_type_hints(part)
        names = [one.name for one in dataclasses.fields(part)] if part is not Store else VARIABLES
        for name in names:
            kind = get_args(hints[name])[0] if part is Store else hints[name]
            values = nonsense(kind)
            if (part.__name__, name) not in EMPTY:
                values += [""] if kind is str else [()] if get_origin(kind) is tuple else []
            found += [(part.__name__, name, value, "") for value in values]
    return [*found, *MISSPELT]


# fmt: off
VARIABLES = (
    "name", "operations", "clients", "delivers",
    "divides", "faults", "lacks", "keeps_data", "floor",
    "filled_by", "connection", "provisioned_servers_only", "provisions", "product", "elsewhere",
    "options", "figures_cover", "pod", "pods",
    "packages", "modules", "typical", "counters",
)
# fmt: on


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a study, with nonsense in one field of one part, into a folder of DAGs."""
    monkeypatch.setenv("AIRFLOW__CORE__DAGS_FOLDER", str(tmp_path))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(stores, "__path__", [*stores.__path__, str(tmp_path / "stores")])
    before = set(sys.modules)

    def written(name: str, part: str = "", field: str = "", value: Any = None) -> Path:
        changes = {part: {field: value}} if part and part != "Store" else {}
        (tmp_path / f"{name}.py").write_text(STUDY.format(name=name, changes=changes))
        folder = tmp_path / "stores" / name
        folder.mkdir(parents=True)
        code = value if field in CODE and isinstance(value, str) and value.startswith("{") else repr(value)
        own = f"    {field} = {code}\n" if part == "Store" else ""
        (folder / "paper.py").write_text(STORE + own)
        (folder / "stone.py").write_text(STONE.format(study=name))
        return tmp_path / f"{name}.py"

    yield written
    stores._class_of.cache_clear()
    for name in set(sys.modules) - before:
        if name.startswith("storebench.stores."):
            del sys.modules[name]


def test_the_study_of_this_test_is_valid_and_has_every_field(write):
    write("good")
    found = studies.find("good")
    assert isinstance(found, Study) and found.clients == ("reference", "tuned")
    for part in studies.PARTS:
        text = STUDY.partition(f"{part.__name__},\n")[2] or STUDY.partition(f"made({part.__name__}, ")[2]
        assert all(f"{one.name}=" in text for one in dataclasses.fields(part)), part
    declared = {name for name, kind in get_type_hints(Store).items() if "ClassVar" in str(kind)}
    assert declared == set(VARIABLES), "a class variable of a store that this test does not know"
    assert all(f"    {name} = " in STORE for name in VARIABLES)


@pytest.mark.parametrize(("part", "field", "value", "words"), cases())
def test_nonsense_in_any_field_is_refused_by_name_and_no_other_study_is_broken(
    write, part, field, value, words
):
    write("alpha")
    path = write("bad", part, field, value)
    with pytest.raises(SpecError) as caught:
        studies.find("bad")
    said = str(caught.value)
    assert said.startswith(str(path)), "the file"
    assert (field if part != "Claim" else "claim").removesuffix("s") in said.removeprefix(str(path))
    assert words in said
    assert part != "Store" or "paper" in said
    found = dict(studies.all_of())
    assert isinstance(found["alpha"], Study) and str(found["bad"]) == said


def test_the_list_of_studies_has_the_mistake_and_the_other_studies(write):
    write("alpha")
    write("bad", "Metric", "better", "hihger")
    listed = CliRunner().invoke(main, ["studies"])
    assert listed.exit_code == 2 and "alpha: A toy" in listed.stdout
    assert (
        "The study 'bad': metrics['put_s'].better is 'hihger', and must be 'lower', 'higher' or 'neither'. Did you mean 'higher'?"
        in listed.stderr
    )


def test_airflow_names_the_mistake_and_has_the_other_studies(write, tmp_path):
    from airflow.dag_processing.dagbag import DagBag

    write("alpha")
    write("bad", "Metric", "kind", "histgram")
    write("copied", "Study", "name", "alpha")
    bag = DagBag(dag_folder=str(tmp_path), bundle_name="dags-folder")
    errors = {Path(path).name: text for path, text in bag.import_errors.items()}
    assert set(errors) == {"bad.py", "copied.py"} and set(bag.dags) == {"alpha"}
    assert "metrics['put_s'].kind is 'histgram'" in errors["bad.py"]
    assert "copied.py has no study of the name 'copied', but one of the name 'alpha'" in errors["copied.py"]


def test_an_option_of_two_stores_is_declared_once(write, tmp_path):
    write("bad")
    other = (
        'class Other(Stone):\n    name = "stone"\n    options = {"cold": flag("Cold", "Something else.")}\n'
    )
    imports = "from storebench.fields import flag\n" + STONE.format(study="bad")
    (tmp_path / "stores" / "bad" / "stone.py").write_text(imports + other)
    with pytest.raises(
        SpecError, match="stores 'paper' and 'stone' declare the option 'cold' in two ways: declare it once"
    ):
        studies.find("bad")


@pytest.mark.parametrize("text", ["import sys\nsys.exit('study_dag')", "raise SystemExit  # study_dag"])
def test_a_file_that_ends_the_program_is_a_mistake_too(write, tmp_path, text):
    write("alpha")
    (tmp_path / "bad.py").write_text(text)
    found = dict(studies.all_of())
    assert isinstance(found["alpha"], Study)
    assert "bad.py cannot be loaded: SystemExit" in str(found["bad"])


def test_what_is_no_file_is_no_study(write, tmp_path):
    write("alpha")
    (tmp_path / ".#alpha.py").symlink_to("me@here.17")  # an editor's lock
    (tmp_path / "folder.py").mkdir()
    assert studies.names() == ["alpha"]

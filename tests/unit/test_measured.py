"""Tables and pictures of figures name their method and version, and the study's figures equal its bundle's."""

import csv
import json
import re
import zipfile
from functools import cache
from pathlib import Path

import pytest

from storebench.study import studies

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
DATA = DOCS / "studies" / "data"
STUDY_PAGE = DOCS / "studies" / "bulk_write_read.md"
# A decision keeps the figures by which it was taken. The reference has no figures: its numbers are defaults and limits.
NOT_MEASURED = ("decisions", "reference")
PAGES = [ROOT / "README.md", *(p for p in sorted(DOCS.rglob("*.md")) if p.parent.name not in NOT_MEASURED)]
WITHOUT_FIGURES = {"how-it-works.svg", "backfill.png"}  # a drawing, and a dialog of Airflow
CAPTION = re.compile(
    r"\*Measured: (\w+), method (\d+)(?: \(([^)]+)\))?, version (\d+\.\d+\.\d+\+g[0-9a-f]{12})[;.] "
)
# Figures of an older method (study, its method, the present one) that may be shown until they are measured anew, because what they show still
# means the same: only_s, memory and times of pods. The line below them says in these words what has changed. No other older method is shown.
SHOWN_STILL = {
    ("bulk_write_read", 2, 3): "method 3 ranks writes by `write_s`, and takes their `rows_per_s` by it",
    ("point_operations", 1, 2): "no request failed, and method 2 differs in failed requests alone",
}
PICTURE = re.compile(r"(?:\]\(|src=\")[\w./]*images/([\w.-]+)")
NUMBER = re.compile(r"-?\d[\d,]*(\.\d+)?( ?(%|s|ms|µs|ns|MiB|kB|MB|GB)| \(client\))?( to \d[\d.]*)?")
FIGURES = {"only_s": 2, "work_total_s": 2, "memory": 0}  # and their decimal places
FACTOR = 1.5  # that the study's page takes for the interval of a ratio
MIB = 1024**2
SERVER = re.compile(r"\w+ \(store (\S+)\)")  # the label of a store that another server answered for


def blocks(page):
    """Return the paragraphs and tables of a page as lists of lines."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return [block.splitlines() for block in re.split(r"\n\s*\n", text) if block.strip()]


def cells_of(line):
    return [cell.strip().replace("`", "") for cell in line.strip().strip("|").split("|")]


def table(block):
    """Return a table's header and rows."""
    header, _, *rows = map(cells_of, block)
    return header, rows


def is_measured(block):
    """Return whether a block has a picture, or is a table with at least a third of numbers; the first cell of a line names the line."""
    if not block[0].startswith("|"):
        return bool(set(PICTURE.findall("\n".join(block))) - WITHOUT_FIGURES)
    cells = [cell for row in table(block)[1] for cell in row[1:] if cell]
    return sum(bool(NUMBER.fullmatch(cell)) for cell in cells) * 3 >= len(cells) > 0


def captions(found):
    """Return each measured block with the caption in the paragraph below, or None."""
    below = [*found[1:], [""]]
    return [
        (block, CAPTION.match(after[0]))
        for block, after in zip(found, below, strict=True)
        if is_measured(block)
    ]


@cache
def method_of(study):
    return studies.find(study).method_version


def mistakes(page):
    found = []
    for block, caption in captions(blocks(page)):
        if caption is None:
            found.append(f"no line '*Measured: STUDY, method N, version V; …*' below {block[0][:60]}")
        elif (method := int(caption[2])) != (now := method_of(caption[1])):
            if caption[3] is None or caption[3] != SHOWN_STILL.get((caption[1], method, now)):
                found.append(f"method {caption[2]}, and {caption[1]} has {now} today: {block[0][:60]}")
        elif caption[3] is not None:
            found.append(f"the present method needs no word ({caption[3]}): {block[0][:60]}")
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_was_measured_says_by_which_version_and_by_the_present_method(page):
    assert mistakes(page) == []


STILL = SHOWN_STILL["bulk_write_read", 2, 3]
PLAIN = "| store | s |\n|---|---|\n| null | 1.50 |\n"
PRESENT = f"*Measured: bulk_write_read, method {method_of('bulk_write_read')}, version 0.1.0+g97e28f31da79; once.*\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (PLAIN, "no line"),
        ("![A chart](images/page-charts.png)\n", "no line"),
        ('<img src="images/page-dark.png">\n', "no line"),
        (f"{PLAIN}\nText between.\n\n{PRESENT}", "no line"),
        (f"{PLAIN}\n{PRESENT.replace(', version 0.1.0+g97e28f31da79', '')}", "no line"),
        (f"{PLAIN}\n{PRESENT.replace('method 3', 'method 1')}", "method 1, and bulk_write_read has 3 today"),
        (f"{PLAIN}\n{PRESENT.replace('method 3', 'method 2')}", "method 2, and bulk_write_read has 3 today"),
        (f"{PLAIN}\n{PRESENT.replace('method 3', 'method 2 (other words)')}", "method 2, and bulk"),
        (f"{PLAIN}\n{PRESENT.replace('method 3', f'method 1 ({STILL})')}", "method 1, and bulk_write_read has 3"),
        (f"{PLAIN}\n{PRESENT.replace('method 3', f'method 2 ({STILL})')}", None),
        (f"{PLAIN}\n{PRESENT.replace('method 3', f'method 3 ({STILL})')}", "needs no word"),
        (f"{PLAIN}\n{PRESENT}", None),
        ("![A drawing](images/how-it-works.svg)\n", None),
        ("| code | meaning |\n|---|---|\n| 0 | no operation is slower |\n", None),
    ],
)  # fmt: skip
def test_a_caption_that_lacks_or_is_old_is_found(text, reason, tmp_path):
    (tmp_path / "page.md").write_text(f"# A page\n\n{text}")
    found = mistakes(tmp_path / "page.md")
    assert len(found) == bool(reason) and all(reason in mistake for mistake in found)


@cache
def bundle():
    """Return the figures of each attempt by store, batch, executors and operation, and the version that measured them."""
    with zipfile.ZipFile(DATA / "bulk_write_read.zip") as file:
        tables = {n[:-5]: json.loads(file.read(n)) for n in file.namelist() if n.endswith(".json")}
    executors = {}
    for row in tables["usage"]:
        peak = executors.get(row["attempt_id"], 0) + row["memory_working_set_peak_bytes"]
        executors[row["attempt_id"]] = peak
    axes = {
        cell["key"]: (cell["store"], cell["axes"]["batch"], cell["axes"].get("executors", ""))
        for cell in tables["cell"]
    }
    verified_s = {
        phase["attempt_id"]: phase["seconds"] for phase in tables["phase"] if phase["name"] == "verify"
    }
    rows = [row for row in tables["attempt"] if row["status"] == "verified"]
    figures = {
        (*axes[row["cell_key"]], row["operation"]): {
            "only_s": row["value"],
            "work_total_s": row["total_s"] - verified_s[row["id"]],
            "memory": (row["memory_working_set_peak_bytes"] + executors.get(row["id"], 0)) / MIB,
        }
        for row in rows
    }
    (version,) = {(row["method_version"], row["code_version"]) for row in rows}
    return figures, version


def tables_of(page, first):
    """The rows of its tables whose header begins so, each as a mapping of the header's cells; and the captions."""
    found = [(*table(b), caption) for b, caption in captions(blocks(page)) if b[0].startswith("|")]
    found = [(header, rows, caption) for header, rows, caption in found if header[: len(first)] == first]
    return [dict(zip(h, row, strict=True)) for h, rows, _ in found for row in rows], [c for *_, c in found]


@pytest.mark.parametrize(
    ("page", "count"),
    [(STUDY_PAGE, 18), (ROOT / "README.md", 5)],
    ids=lambda value: getattr(value, "name", ""),
)
def test_the_figures_of_the_study_are_those_of_the_bundle(page, count):
    figures, version = bundle()
    rows, (caption,) = tables_of(page, ["store", "batch", "executors"])
    assert (int(caption[2]), caption[4]) == version
    assert len(rows) == count
    shown = 0
    for row in rows:
        cell = (SERVER.sub(r"\1", row.pop("store")), row.pop("batch"), row.pop("executors"))
        for column, text in row.items():
            operation, figure, *_ = column.split()
            expected = figures.get((*cell, operation))
            assert text.removesuffix(" (client)") == (
                f"{expected[figure]:,.{FIGURES[figure]}f}" if expected else ""
            ), (cell, column)
            shown += bool(expected)
    assert shown == (3 * len(figures) if page == STUDY_PAGE else shown) > 0


def test_the_barriers_of_the_run_are_as_short_as_the_page_says():
    """Therefore its figures by `only_s` stand for those by `write_s`."""
    with zipfile.ZipFile(DATA / "bulk_write_read.zip") as file:
        attempts = json.loads(file.read("attempt.json"))
    barriers = {
        row["cell_key"]: (row["metrics"]["barrier_s"], row["metrics"]["barrier_s"] / row["value"])
        for row in attempts
        if row["operation"] == "write" and row["status"] == "verified"
    }
    longest_s, share = (max(values) for values in zip(*barriers.values(), strict=True))
    others_s = max(one for key, (one, _) in barriers.items() if "/elasticsearch/" not in key)
    assert f"at most {longest_s:.2f} s here, or {100 * share:.1f} % of" in STUDY_PAGE.read_text().replace(
        "\n", " "
    )
    assert others_s < 1e-4


def test_the_ratios_of_the_study_are_those_of_the_bundle():
    figures, version = bundle()
    rows, found = tables_of(STUDY_PAGE, ["of", "A", "B"])
    assert {(int(caption[2]), caption[4]) for caption in found} == {version}
    assert f"the {len(rows)} ratios" in STUDY_PAGE.read_text()
    for row in rows:
        operation, figure = row["of"].split()
        a, b = (figures[(*[*row[side].split(", "), ""][:3], operation)][figure] for side in "AB")
        expected = (f"{b / a:.2f}", f"{b / a / FACTOR:.2f} to {b / a * FACTOR:.2f}")
        assert (row["B / A"], row["interval"]) == expected, row
    summary, _ = tables_of(STUDY_PAGE, ["the original study said"])
    assert len(summary) == 13
    for column, found in (("ratios", "B / A"), ("intervals", "interval")):
        ends = {f"{float(end):.3g}" for row in rows for end in row[found].split(" to ")}
        assert {f"{float(end):.3g}" for row in summary for end in row[column].split(" to ")} <= ends


def test_the_noise_that_the_intervals_are_made_of_is_that_of_two_runs():
    figures, _ = bundle()
    with (DATA / "bulk_write_read-method-1.csv").open() as file:
        older = {(r["store"], r["batch"], r["executors"], r["operation"]): r for r in csv.DictReader(file)}
    both = sorted(figures.keys() & older.keys())
    text = STUDY_PAGE.read_text()
    assert f"have {len(both)} attempts in common" in text
    for figure, column in (("only_s", "only_s"), ("memory", "memory_mib")):
        ratios = [figures[key][figure] / float(older[key][column]) for key in both]
        factor = max(max(ratio, 1 / ratio) for ratio in ratios)
        assert factor < FACTOR and f" by {'a factor of ' * (figure == 'only_s')}{factor:.2f} at most" in text

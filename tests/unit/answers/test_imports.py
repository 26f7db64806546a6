"""The command line builds answers without the page's server."""

import subprocess
import sys
from pathlib import Path

import storebench.answers

CODE = """
import sys
from importlib import import_module
for name in sys.argv[1:]:
    import_module(f"storebench.answers.{name}")
print(sorted({"airflow", "fastapi"} & {name.partition(".")[0] for name in sys.modules}))
"""


def test_answers_import_neither_fastapi_nor_airflow():
    (folder,) = map(Path, storebench.answers.__path__)
    modules = sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")
    assert "rankings" in modules
    asked = [sys.executable, "-c", CODE, *modules]
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip() == "[]"

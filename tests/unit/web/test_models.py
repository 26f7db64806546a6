import re
from pathlib import Path

import pytest

from storebench.web import models

TYPES = Path(models.__file__).parent / "page" / "src" / "types.ts"


@pytest.mark.parametrize(
    "model",
    [
        models.Run,
        models.CellName,
        models.Turn,
        models.Attempt,
        models.CellFigures,
        models.CellPhases,
        models.Price,
        models.Parameter,
        models.GridCell,
        models.Grid,
    ],
)
def test_the_page_knows_each_field_of_an_answer(model):
    """types.ts, which nothing else holds to the models."""
    heading, body = re.search(
        rf"interface {model.__name__}( extends CellName)? {{\n(.*?)\n}}", TYPES.read_text(), re.DOTALL
    ).groups()
    there = re.findall(r"^  (\w+): ", body, re.MULTILINE)
    named = list(models.CellName.model_fields) if heading else []
    assert named + there == list(model.model_fields)

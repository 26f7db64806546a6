"""Write the API's description: `python -m storebench.web.openapi`. `npm run types` generates the page's types from this description."""

from __future__ import annotations

import json
from pathlib import Path

from storebench.web.api import app

PATH = Path(__file__).parent / "page" / "openapi.json"


def text() -> str:
    """Return the API's OpenAPI description as JSON."""
    return json.dumps(app.openapi(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PATH.write_text(text())

"""The image of the services has exactly the modules of this package that the services import."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[4]
PACKAGES = "/opt/storebench/lib/python3.11/site-packages/"


def test_the_service_starts_with_what_its_image_has(tmp_path):
    for line in (ROOT / "images/servers/api/Dockerfile").read_text().splitlines():
        if found := re.fullmatch(rf"COPY (src/\S+(?: src/\S+)*) {PACKAGES}(\S+)", line):
            folder = tmp_path / found[2]
            folder.mkdir(parents=True, exist_ok=True)
            for pattern in found[1].split():
                copied = [shutil.copy(one, folder) for one in ROOT.glob(pattern)]
                assert copied, f"{pattern} is not there"
    # A store's client is there; the server is not: what is asked is whether it gets so far
    program = (
        "from storebench.errors import StoreUnreachable\n"
        "from storebench.stores.point_operations import service\n"
        "assert service.__file__.startswith(%r)\n"
        "for one in ('mongodb', 'cassandra'):\n"
        "    service.os.environ.update(DATABASE_STORE=one, DATABASE_HOST='127.0.0.1', DATABASE_PORT='1')\n"
        "    try:\n"
        "        service._connected('t', 'one')\n"
        "    except service.HTTPException as error:\n"
        "        assert isinstance(error.__cause__, StoreUnreachable), error.__cause__\n"
        "    print(one)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program % str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.split() == ["mongodb", "cassandra"], done.stderr

import gzip
import os

import pytest
from fastapi.responses import FileResponse

from storebench.web.page_files import answer


def test_a_file_is_packed_for_who_takes_that(tmp_path):
    path = tmp_path / "page.js"
    path.write_text("let one = 1;" * 100)
    found = answer(path, "gzip, deflate, br")
    assert gzip.decompress(found.body) == path.read_bytes()
    assert found.headers["content-encoding"] == "gzip"
    assert found.headers["content-type"].startswith("text/javascript")
    assert found.headers["etag"]


def test_a_file_is_as_it_is_for_others(tmp_path):
    path = tmp_path / "page.js"
    path.write_text("let one = 1;")
    assert isinstance(answer(path, ""), FileResponse)


def test_a_file_that_was_changed_is_packed_anew(tmp_path):
    path = tmp_path / "page.js"
    path.write_text("let one = 1;")
    before = answer(path, "gzip")
    path.write_text("let two = 2;")
    os.utime(path, ns=(1, path.stat().st_mtime_ns + 1))
    after = answer(path, "gzip")
    assert gzip.decompress(after.body) == b"let two = 2;"
    assert before.headers["etag"] != after.headers["etag"]


@pytest.mark.parametrize("accepted", ["gzip", ""])
def test_a_file_that_the_browser_has_is_not_sent_again_until_it_is_changed(tmp_path, accepted):
    path = tmp_path / "page.js"
    path.write_text("let one = 1;")
    first = answer(path, accepted)
    tag = first.headers["etag"]
    assert (first.status_code, first.headers["cache-control"]) == (200, "no-cache")
    again = answer(path, accepted, f'"another", {tag}')
    assert (again.status_code, again.body, again.headers["etag"]) == (304, b"", tag)
    path.write_text("let more = 1234;")
    assert answer(path, accepted, tag).status_code == 200


def test_only_a_file_whose_name_has_a_hash_of_it_is_kept(tmp_path):
    kept = {}
    for name in ("vega-Bx2H9uFJ.js", "page.js", "report.js"):
        (tmp_path / name).touch()
        kept[name] = "immutable" in answer(tmp_path / name, "gzip").headers["cache-control"]
    assert kept == {"vega-Bx2H9uFJ.js": True, "page.js": False, "report.js": False}

import gzip
import os

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

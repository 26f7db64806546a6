"""The uncached rate of a disk: the chosen files, and an unknown rate."""

import os
from types import SimpleNamespace

import pytest

from storebench.attempt import disk
from storebench.errors import SpecError, StoreRefused

LATER_S = 10.0


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Make files of random bytes, each two stretches long, and search in their folder alone; the machine is started after it."""
    for number in range(disk.FEWEST_FILES):
        (tmp_path / str(number)).write_bytes(os.urandom(2 * disk.STRETCH_BYTES))
    os.sync()
    monkeypatch.setattr(disk, "_started_at", lambda: tmp_path.stat().st_mtime + disk.DAY_S + LATER_S)

    def never_read(folder, before_s):
        return (path for path in sorted(folder.iterdir()) if disk._is_old(path.stat(), before_s))

    monkeypatch.setattr(disk, "_never_read", never_read)
    return sorted(tmp_path.iterdir())


def measured(folder):
    try:
        return disk.measure(folder)
    except StoreRefused as error:
        if "O_DIRECT" in str(error):
            pytest.skip("the file system of the tests' folder has no O_DIRECT")
        raise


def test_a_stretch_of_each_file_is_read_past_the_page_cache(files, tmp_path):
    found = measured(tmp_path)
    assert (found.files, found.bytes_read) == (len(files), len(files) * disk.STRETCH_BYTES)
    assert found.mb_per_s == found.bytes_read / found.seconds / 1e6 > 0


def test_a_file_that_was_read_written_or_made_since_is_not_taken(files, tmp_path):
    before_s = disk._started_at() - disk.DAY_S
    old = files[0].stat()
    assert disk._is_old(old, before_s)
    for times in ((before_s + 1, old.st_mtime), (old.st_atime, before_s + 1)):
        os.utime(files[0], times)
        assert not disk._is_old(files[0].stat(), before_s)
    # A file's content may be older than the file: it was unpacked, or copied.
    os.utime(files[1], (1, 1))
    assert not disk._is_old(files[1].stat(), old.st_ctime - 1)
    with pytest.raises(StoreRefused, match=rf"Only {len(files) - 1} files of 4 MiB or more"):
        disk.measure(tmp_path)


def test_files_that_are_small_or_have_holes_are_not_taken(tmp_path):
    small, holes = tmp_path / "small", tmp_path / "holes"
    small.write_bytes(bytes(disk.STRETCH_BYTES - 1))
    holes.touch()
    os.truncate(holes, 2 * disk.STRETCH_BYTES)
    late_s = small.stat().st_ctime + 60
    assert not disk._is_old(small.stat(), late_s) and not disk._is_old(holes.stat(), late_s)


def test_the_whole_file_system_is_searched_and_no_other(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "large").write_bytes(os.urandom(disk.STRETCH_BYTES))
    os.sync()
    device = tmp_path.stat().st_dev
    late_s = (tmp_path / "a" / "b" / "large").stat().st_ctime + 60
    found = [next(disk._never_read(tmp_path / "data", late_s)) for _ in range(3)]
    assert {path.stat().st_dev for path in found} == {device}


def test_without_times_of_reading_it_is_not_known(tmp_path, monkeypatch):
    monkeypatch.setattr(disk.os, "statvfs", lambda _: SimpleNamespace(f_flag=disk.NO_TIMES))
    with pytest.raises(StoreRefused, match="noatime"):
        disk.measure(tmp_path)


def test_a_pod_that_was_told_nothing_knows_nothing(monkeypatch):
    monkeypatch.delenv(disk.VARIABLE, raising=False)
    assert disk.uncached_mb_per_s() is None
    monkeypatch.setenv(disk.VARIABLE, "87.1")
    assert disk.uncached_mb_per_s() == 87.1


@pytest.mark.parametrize("text", ["fast", "0", "-1", "nan", "inf"])
def test_what_is_no_rate_is_refused(text):
    with pytest.raises(SpecError, match="storebench_uncached_mb_per_s is not a number of MB per second"):
        disk.rate_of(text)

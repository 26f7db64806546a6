import pytest

from storebench.attempt.cgroup import Cgroup, WorkingSetSampler

MIB = 2**20
V1 = {
    "memory/memory.max_usage_in_bytes": f"{300 * MIB}\n",
    "memory/memory.usage_in_bytes": f"{200 * MIB}\n",
    "memory/memory.stat": f"cache 1\ninactive_file 7\ntotal_inactive_file {50 * MIB}\n",
    "memory/memory.limit_in_bytes": f"{512 * MIB}\n",
    "memory/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
    "cpuacct/cpuacct.usage": "2500000000\n",
    "cpu/cpu.stat": "nr_periods 10\nnr_throttled 4\nthrottled_time 1500000000\n",
}
V2 = {
    "cgroup.controllers": "cpu memory\n",
    "memory.peak": f"{300 * MIB}\n",
    "memory.current": f"{200 * MIB}\n",
    "memory.stat": f"anon 1\ninactive_file {50 * MIB}\n",
    "memory.max": f"{512 * MIB}\n",
    "memory.events": "low 0\noom 3\noom_kill 3\n",
    "cpu.stat": "usage_usec 2500000\nnr_throttled 4\nthrottled_usec 1500000\n",
}


def tree(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return Cgroup(root)


@pytest.mark.parametrize(("version", "files"), [(1, V1), (2, V2)])
def test_both_versions_give_the_same_figures(tmp_path, version, files):
    cgroup = tree(tmp_path, files)
    assert cgroup.version == version
    assert cgroup.memory_peak_bytes() == 300 * MIB
    assert cgroup.memory_working_set_bytes() == 150 * MIB
    assert cgroup.memory_limit_bytes() == 512 * MIB
    assert cgroup.oom_kills() == 3
    cpu = cgroup.cpu()
    assert (cpu.cpu_s, cpu.throttled_s, cpu.throttled_periods) == (2.5, 1.5, 4)


@pytest.mark.parametrize(
    ("name", "text"), [("memory/memory.limit_in_bytes", "9223372036854771712\n"), ("memory.max", "max\n")]
)
def test_no_limit_is_none(tmp_path, name, text):
    files = V2 if name == "memory.max" else V1
    assert tree(tmp_path, {**files, name: text}).memory_limit_bytes() is None


@pytest.mark.parametrize(("quota", "cores"), [("150000", 1.5), ("max", None)])
def test_a_cpu_limit_is_cores(tmp_path, quota, cores):
    limit = {
        "cpu/cpu.cfs_quota_us": "-1" if quota == "max" else quota,
        "cpu/cpu.cfs_period_us": "100000",
    }
    assert tree(tmp_path / "1", {**V1, **limit}).cpu_limit_cores() == cores
    assert tree(tmp_path / "2", {**V2, "cpu.max": f"{quota} 100000"}).cpu_limit_cores() == cores
    assert Cgroup(tmp_path / "none").cpu_limit_cores() is None


def test_missing_files_are_none_and_no_error(tmp_path):
    cgroup = Cgroup(tmp_path)
    assert cgroup.memory_peak_bytes() is None
    assert cgroup.memory_working_set_bytes() is None
    assert cgroup.oom_kills() == 0


def test_the_sampler_keeps_the_peak(tmp_path):
    cgroup = tree(tmp_path, V2)
    sampler = WorkingSetSampler(cgroup)
    sampler.start()
    (tmp_path / "memory.current").write_text(f"{100 * MIB}\n")
    sampler.stop()
    assert sampler.peak_bytes == 150 * MIB


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({**V1, "cpu/cpu.cfs_quota_us": "50000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 0.5),
        ({**V1, "cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        ({**V2, "cpu.max": "150000 100000\n"}, 1.5),
        ({**V2, "cpu.max": "max 100000\n"}, None),
        (V1, None),
        (V2, None),
    ],
)
def test_a_cpu_limit_is_told_in_cores(tmp_path, files, cores):
    assert tree(tmp_path, files).cpu_limit_cores() == cores

import pytest

from storebench.errors import SpecError
from storebench.spark import executor
from storebench.spark.monitor import ExecutorMonitor

ENVIRONMENT = {
    "SPARK_HOME": "/spark",
    "SPARK_EXECUTOR_MEMORY": "1g",
    "SPARK_DRIVER_URL": "spark://driver",
    "SPARK_EXECUTOR_ID": "3",
    "SPARK_EXECUTOR_CORES": "2",
    "SPARK_APPLICATION_ID": "app",
    "SPARK_EXECUTOR_POD_IP": "10.0.0.3",
    "SPARK_RESOURCE_PROFILE_ID": "0",
    "SPARK_EXECUTOR_POD_NAME": "pod",
    "SPARK_JAVA_OPT_10": "-Dlast",
    "SPARK_JAVA_OPT_2": "-Dfirst",
}


def test_the_command_line_is_that_of_sparks_own_entry_point():
    command = executor.java_command(ENVIRONMENT)
    assert command[:5] == ["java", "-Dfirst", "-Dlast", "-Xms1g", "-Xmx1g"]
    main = command.index(executor.MAIN_CLASS)
    arguments = dict(zip(command[main + 1 :: 2], command[main + 2 :: 2], strict=True))
    assert arguments["--executor-id"] == "3" and arguments["--hostname"] == "10.0.0.3"


def test_an_executor_knows_that_it_is_in_kubernetes_or_it_would_not_read_its_key():
    command = executor.java_command(
        {**ENVIRONMENT, "SPARK_JAVA_OPT_3": "-Dspark.authenticate.secret.file=/key"}
    )
    options = command[: command.index(executor.MAIN_CLASS)]
    assert "-Dspark.authenticate.secret.file=/key" in options
    assert any(option.startswith("-Dspark.master=k8s://") for option in options)


def test_outside_an_executors_pod_it_says_so():
    with pytest.raises(SpecError, match=r"SPARK_DRIVER_URL.*started by Spark"):
        executor.java_command({name: v for name, v in ENVIRONMENT.items() if name != "SPARK_DRIVER_URL"})


def test_an_executor_that_is_gone_keeps_its_last_figures(monkeypatch):
    answers = {"10.0.0.1": {"cpu_s": 1.0}, "10.0.0.2": {"cpu_s": 2.0}}
    monkeypatch.setattr("storebench.spark.monitor._ask", answers.get)
    living = {"1": "10.0.0.1", "2": "10.0.0.2"}
    monitor = ExecutorMonitor(lambda: living, 2)
    monitor._ask_all()
    living = {"10": "10.0.0.1"}
    answers["10.0.0.1"] = {"cpu_s": 5.0}
    monitor.start()
    assert monitor.stop() == [
        {"role": "executor", "name": "1", "cpu_s": 1.0},
        {"role": "executor", "name": "2", "cpu_s": 2.0},
        {"role": "executor", "name": "10", "cpu_s": 5.0},
    ]


def test_a_driver_whose_jvm_has_ended_keeps_the_figures_and_hides_no_other_error(monkeypatch):
    monkeypatch.setattr("storebench.spark.monitor._ask", {"10.0.0.1": {"cpu_s": 1.0}}.get)
    answers = iter([{"1": "10.0.0.1"}])

    def addresses():
        try:
            return next(answers)
        except StopIteration:
            raise ConnectionRefusedError from None

    monitor = ExecutorMonitor(addresses, 2)
    monitor._ask_all()
    monitor.start()
    assert monitor.stop() == [{"role": "executor", "name": "1", "cpu_s": 1.0}]


@pytest.mark.parametrize(
    ("looks", "lost"),
    [
        ([{"1", "2"}, {"1", "2"}], 0),
        ([{"1", "2"}, {"1"}], 1),
        ([{"1", "2"}, {"2", "3"}], 1),  # replaced
        ([{"1", "2"}, {"1", "2", "10"}, {"1", "10"}, {"1", "3"}], 2),
        ([{"2"}, {"2"}], 1),  # before the first look
        ([{"2"}, {"2", "3"}], 1),
    ],
)
def test_an_executor_that_there_was_and_is_not_any_more_is_lost(monkeypatch, looks, lost):
    monkeypatch.setattr("storebench.spark.monitor._ask", lambda address: None)
    living = iter(looks)
    monitor = ExecutorMonitor(lambda: dict.fromkeys(next(living), "10.0.0.1"), 2)
    monitor._look()
    for _ in looks[1:]:
        monitor._ask_all()
    assert monitor.lost == lost


def test_a_driver_that_cannot_be_asked_has_lost_nobody(monkeypatch):
    monkeypatch.setattr("storebench.spark.monitor._ask", lambda address: None)
    answers = iter([{"1": "10.0.0.1"}])
    monitor = ExecutorMonitor(lambda: next(answers), 1)
    monitor._look()
    monitor._ask_all()
    assert monitor.lost == 0


def test_the_work_of_executors_is_known_by_machine_if_all_of_them_answer(monkeypatch):
    answers = {
        "10.0.0.1": {"cpu_s": 1.0, "boot_id": "here"},
        "10.0.0.2": {"cpu_s": 2.0, "boot_id": "here"},
        "10.0.0.3": {"cpu_s": 4.0, "boot_id": "there"},
    }
    monkeypatch.setattr("storebench.spark.monitor._ask", answers.get)
    monitor = ExecutorMonitor(lambda: {address[-1]: address for address in sorted(answers)}, 3)
    assert monitor.cpu_s() == {"here": 3.0, "there": 4.0}
    del answers["10.0.0.2"]
    assert monitor.cpu_s() is None
    monitor.start()
    assert {figures["name"] for figures in monitor.stop()} == {"1", "2", "3"}
    assert not any("boot_id" in figures for figures in monitor.stop()), "it is not recorded"


def test_an_executor_says_on_which_machine_it_is():
    assert executor.figures(executor.Cgroup(), None)["boot_id"]

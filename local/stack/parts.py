"""Find the parts of the stack that a run needs: servers and images of pods."""

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from local.stack.settings import OWN_SERVERS, Settings
from storebench.servers import stand_ins, topology
from storebench.study import studies
from storebench.study.model import Study

CHECKOUT = Path(__file__).parents[2]
# Named as the stores' connections and the supervisor's namespaces are.
SERVERS = frozenset(OWN_SERVERS) - {"kubernetes", "s3"}
ALWAYS_BUILT = "python"
# Of pods: the folders under images/. images/airflow is of Docker Compose.
IMAGES = frozenset(path.parent.name for path in (CHECKOUT / "images").glob("*/Dockerfile")) - {
    ALWAYS_BUILT,
    "airflow",
}
# What servers need that a run brings, and volumes (local/stack/services.py); the images of such servers: the folders under images/servers/.
SERVICES = "services"
ON_DEMAND = SERVERS | {SERVICES}
SERVER_IMAGES = frozenset(
    f"servers-{path.parent.name}" for path in (CHECKOUT / "images" / "servers").glob("*/Dockerfile")
)
TOPOLOGIES = CHECKOUT / "deploy" / "servers"
# The steps of the set-up that build what runs on demand.
STEPS_OF = {"mongodb": "ferretdb", "elasticsearch": "elasticsearch", SERVICES: "services"}


def study_named(name: str) -> Study:
    """The study of that name; raises SpecError where there is none. Its file loads Airflow, which makes its home wherever it is loaded."""
    if "AIRFLOW_HOME" not in os.environ:
        home = tempfile.mkdtemp(prefix="storebench-airflow-")
        atexit.register(shutil.rmtree, home, ignore_errors=True)
        os.environ["AIRFLOW_HOME"] = home
    return studies.find(name)


def needed_by(study: Study, names: Iterable[str] | None = None) -> frozenset[str]:
    """The parts that these stores of the study need, or those of its first preset, or all; raises SpecError for a store that it has not, and
    for servers that the stack cannot bring.

    A store needs what fills it, too.
    """
    asked = tuple(_stores_by_itself(study) if names is None else names)
    fillers = [filler for name in asked if (filler := study.store(name).filled_by)]
    found = {study.dataset.pod.image} if study.dataset else set()
    for name in (*asked, *fillers):
        store = study.store(name)
        pods = [store.pod_of(step) for step in study.steps]
        found |= {store.connection_of(name) or "", *(pod.image for pod in pods)}
        if any(pod.volume for pod in pods):
            found.add(SERVICES)
        if server := brought(study, name):
            stand_ins.check(*server)
            found |= {SERVICES, "servers-agent", *_images_of(*server)}
    return (SERVERS | IMAGES | {SERVICES} | SERVER_IMAGES) & found


def _stores_by_itself(study: Study) -> Iterable[str]:
    """Return the stores of a run that names no stores."""
    first = next(iter(study.presets.values()), None)
    asked = {**first.params, **first.embedded} if first else {}
    return tuple(asked.get("stores", study.stores))


def brought(study: Study, name: str) -> tuple[str, str] | None:
    """The server and the topology that `name` means, if the run brings that: it is no connection of the user's own."""
    server, which = study.store(name).server_of(name) or ("", "")
    if not which or not (TOPOLOGIES / server / which / "kustomization.yaml").exists():
        return None
    own = f"AIRFLOW_CONN_STOREBENCH_{server}_{which}".upper().replace("-", "_")
    return None if own in os.environ else (server, which)


def _images_of(connection: str, name: str) -> set[str]:
    """Return the images of a topology's containers."""
    sets = topology.find(connection, name).sets
    pods = [one["spec"]["template"]["spec"] for one in sets]
    return {f"servers-{container['name']}" for pod in pods for container in pod["containers"]}


def left_out(settings: Settings) -> frozenset[str]:
    """The parts that the stack does not run, as the user has their own."""
    return settings.own | ({SERVICES} if "kubernetes" in settings.own else frozenset[str]())


def started(settings: Settings) -> frozenset[str]:
    """The parts of ON_DEMAND that the stack has started, or is to start."""
    return frozenset(path.name for path in _marks(settings).glob("*"))


def built(settings: Settings) -> frozenset[str]:
    """The parts of ON_DEMAND that the set-up has built."""
    done = {path.name.rpartition("-")[0] for path in (settings.home / "steps").iterdir()}
    return frozenset(name for name, step in STEPS_OF.items() if step in done)


def asked_at(settings: Settings, server: str) -> float:
    """When `make` asked for this started server last, in seconds since 1970."""
    return (_marks(settings) / server).stat().st_mtime


def record(settings: Settings, servers: Iterable[str]) -> None:
    """Record that servers are started and were asked for now."""
    _marks(settings).mkdir(exist_ok=True)
    for server in servers:
        (_marks(settings) / server).touch()


def forget(settings: Settings, server: str) -> None:
    """This one was stopped."""
    (_marks(settings) / server).unlink()


def _marks(settings: Settings) -> Path:
    """Has a file for each started server."""
    return settings.run / "servers"

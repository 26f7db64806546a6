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
# Parts have the names of stores' connections and of the supervisor's namespaces.
# The store postgresql has a database on the results' server, which every stack has.
SERVERS = frozenset(OWN_SERVERS) - {"kubernetes", "s3", "postgresql"}
ALWAYS_BUILT = "python"  # always built once, even if no run needs its newest build
# Images of pods: the folders under images/, except images/airflow of Docker Compose.
IMAGES = frozenset(path.parent.name for path in (CHECKOUT / "images").glob("*/Dockerfile")) - {"airflow"}
AGENT = "servers-agent"  # watches provisioned servers, and the nodes of pods with other programs
# The services for provisioned servers and volumes (local/stack/services.py). Images of such servers: the folders under images/servers/.
SERVICES = "services"
ON_DEMAND = SERVERS | {SERVICES}
SERVER_IMAGES = frozenset(
    f"servers-{path.parent.name}" for path in (CHECKOUT / "images" / "servers").glob("*/Dockerfile")
)
TOPOLOGIES = CHECKOUT / "deploy" / "servers"
# The steps of the set-up that build the parts on demand.
STEPS_OF = {"mongodb": "ferretdb", "elasticsearch": "elasticsearch", SERVICES: "services"}


def study_named(name: str) -> Study:
    """Return the study `name`. Raises SpecError for an unknown name. The study's file loads Airflow, which creates its home folder."""
    if "AIRFLOW_HOME" not in os.environ:
        home = tempfile.mkdtemp(prefix="storebench-airflow-")
        atexit.register(shutil.rmtree, home, ignore_errors=True)
        os.environ["AIRFLOW_HOME"] = home
    return studies.find(name)


def needed_by(study: Study, names: Iterable[str] | None = None) -> frozenset[str]:
    """Return the parts that stores of a study need. `names`: None for the stores of the first preset, or else of a run that names none.

    A store also needs the parts of the store that fills it. Raises SpecError for an unknown store, and for servers that the stack cannot
    provision.
    """
    asked = tuple(_stores_by_itself(study) if names is None else names)
    needed = {study.dataset.pod.image} if study.dataset else set()
    for name in study.with_fillers(asked):
        store = study.store(name)
        pods = [store.pod_of(step) for step in study.steps]
        needed |= {store.connection_of(name) or "", *(pod.image for pod in pods)}
        if any(pod.volume for pod in pods):
            needed.add(SERVICES)
        if any(pod.command for pod in pods):
            needed.add(AGENT)
        if server := brought(study, name):
            stand_ins.check(*server)
            needed |= {SERVICES, AGENT, *_images_of(*server)}
    return (SERVERS | IMAGES | {SERVICES} | SERVER_IMAGES) & needed


def _stores_by_itself(study: Study) -> Iterable[str]:
    """Return the stores of a run that names no stores."""
    first = next(iter(study.presets.values()), None)
    asked = {**first.params, **first.embedded} if first else {}
    return tuple(asked.get("stores", study.unnamed_stores))


def brought(study: Study, name: str) -> tuple[str, str] | None:
    """Return the server and the topology of a store's name if a run provisions them; None for a user's own connection."""
    server, which = study.store(name).server_of(name) or ("", "")
    if not which or not (TOPOLOGIES / server / which / "kustomization.yaml").exists():
        return None
    variable = f"AIRFLOW_CONN_STOREBENCH_{server}_{which}".upper().replace("-", "_")
    return None if variable in os.environ else (server, which)


def _images_of(connection: str, name: str) -> set[str]:
    """Return the images of a topology's containers."""
    return {f"servers-{container['name']}" for container in topology.find(connection, name).containers}


def left_out(settings: Settings) -> frozenset[str]:
    """Return the parts that the user runs instead of the stack."""
    return settings.own | ({SERVICES} if "kubernetes" in settings.own else frozenset[str]())


def started(settings: Settings) -> frozenset[str]:
    """Return the parts of ON_DEMAND that the stack has started or will start."""
    return frozenset(path.name for path in _marks(settings).glob("*"))


def built(settings: Settings) -> frozenset[str]:
    """Return the parts of ON_DEMAND that the set-up has built."""
    built_steps = {path.name.rpartition("-")[0] for path in (settings.home / "steps").iterdir()}
    return frozenset(name for name, step in STEPS_OF.items() if step in built_steps)


def asked_at(settings: Settings, server: str) -> float:
    """Return the time of the last request for a started server by `make`, in seconds since 1970."""
    return (_marks(settings) / server).stat().st_mtime


def record(settings: Settings, servers: Iterable[str]) -> None:
    """Record that servers are started and were requested now."""
    _marks(settings).mkdir(exist_ok=True)
    for server in servers:
        (_marks(settings) / server).touch()


def forget(settings: Settings, server: str) -> None:
    """Record that a server was stopped."""
    (_marks(settings) / server).unlink()


def _marks(settings: Settings) -> Path:
    """Return the folder with a file for each started server."""
    return settings.run / "servers"

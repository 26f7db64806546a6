"""Write the files that the processes read: certificates, configurations, and the supervisor's list of processes."""

import hashlib
import os
import shutil
from importlib import metadata
from pathlib import Path
from string import Template
from typing import Any

import yaml

from local.stack import environment, host, parts, pki, services
from local.stack.nodes import MARK, Node
from local.stack.secrets import load, write_private
from local.stack.settings import OWN_SERVERS, Settings, StackError

FIRST = Node(1)
TEMPLATES = Path(__file__).parent / "templates"
MANIFESTS = Path("deploy", "kubernetes")  # in the checkout: the manifests of every cluster
# The programs of a cluster, and their files in the set-up's folder of programs.
CLUSTER = {
    "etcd": "etcd",
    "kubectl": "kubectl",
    **{
        part: f"cluster/{part}"
        for part in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "kubelet")
    },
}
# The steps of the set-up whose results always run in the stack.
RUNNING = ("kubernetes", "etcd", "versitygw", "process-compose", "postgres", "python")
# The programs of optional parts, which are built when a store first needs them.
OTHERS = ("coredns", "ferretdb", "local-path-provisioner", "versitygw")
# The modules that affect running processes and the pods' network, beside the templates.
STARTED_WITH = ("environment.py", "idle.py", "network.py", "packet_filter.py", "services.py", "usage.py")
# The packages that the plugins load.
LOADED = ("web", "answers", "planning", "results", "study", "airflow/compat")


def secrets(settings: Settings) -> dict[str, str]:
    return load(settings.home / "secrets.json")


def images(settings: Settings) -> dict[str, str]:
    """Return the images of pods by the name of their folder under images/; `servers-NAME` for images of servers."""
    references = {}
    for name in sorted(parts.IMAGES | parts.SERVER_IMAGES):
        path = settings.home / "images" / f"{name}.txt"
        if not path.exists():
            if name != parts.ALWAYS_BUILT:
                continue  # not built: no run has needed the image
            raise StackError(f"There is no pod image {name} ({path} is missing): run `make setup`.")
        references[name] = dict(line.split("=", 1) for line in path.read_text().split())["image"]
    return references


def variables(settings: Settings, node: Node = FIRST) -> dict[str, str]:
    kubelet_port, kubelet_health_port = (settings.ports[name] for name in node.ports)
    return {
        **secrets(settings),
        **{f"port_{name}": str(port) for name, port in settings.ports.items()},
        "home": str(settings.home),
        "run": str(settings.run),
        "data": str(settings.data),
        "log": str(settings.log),
        "bin": str(settings.run / "bin"),
        "python": str(settings.home / "venv" / "bin" / "python"),
        "storebench": str(settings.home / "venv" / "bin" / "storebench"),
        "airflow": str(settings.home / "venv" / "bin" / "airflow"),
        "postgres_root": str(settings.postgres_root),
        "gateway": settings.gateway,
        "dns_service": services.DNS_SERVICE,
        "elasticsearch_heap": settings.elasticsearch_heap,
        "idle_minutes": str(settings.idle_minutes),
        "network": str(settings.network),
        "bridge": settings.bridge,
        "cgroup": settings.cgroup,
        "node": node.name,
        "node_suffix": node.suffix,
        "node_mark": f"{MARK}={node.mark}",
        "node_cgroup": settings.node_cgroup(node),
        "port_kubelet": str(kubelet_port),
        "port_kubelet_health": str(kubelet_health_port),
        "restricted": "false" if host.has_sys_resource() else "true",
    }


def template(name: str, settings: Settings, node: Node = FIRST) -> str:
    return Template((TEMPLATES / name).read_text()).substitute(variables(settings, node))


def project(settings: Settings) -> dict[str, Any]:
    """Return the supervisor's configuration without the user's own servers. Servers that no store needs yet are disabled."""
    rendered: dict[str, Any] = yaml.safe_load(template("process-compose.yaml", settings))
    processes = dict(rendered["processes"])
    for node in settings.nodes:
        processes |= yaml.safe_load(template("node.yaml", settings, node))
    left_out = parts.left_out(settings)
    kept = {name: process for name, process in processes.items() if process["namespace"] not in left_out}
    if not settings.idle_minutes:
        del kept["idle"]
    waiting = parts.ON_DEMAND - parts.started(settings)
    for name, process in kept.items():
        process["shutdown"] = {"timeout_seconds": 30, **process.get("shutdown", {})}
        # Without a limit: parts of Airflow end repeatedly while their database is down.
        process.setdefault("availability", {"restart": "always", "backoff_seconds": 2})
        # Log directly to a file: the supervisor would wrap each line, and lose lines when it is killed.
        log = str(settings.log / f"{name}.log")
        process["entrypoint"] = ["sh", "-c", 'exec "$@" >> "$0" 2>&1', log, *process["entrypoint"]]
        process["working_dir"] = str(settings.checkout)
        process["disabled"] = process["namespace"] in waiting
    rendered["processes"] = kept
    return rendered


def fingerprint(settings: Settings) -> str:
    """Return a hash of all files whose changes require a restart of the running stack."""
    running = {*RUNNING, *(parts.STEPS_OF[name] for name in parts.started(settings))}
    texts = [
        yaml.safe_dump(project(settings)),
        *(template(path.name, settings) for path in sorted(TEMPLATES.iterdir())),
        *sorted(
            path.name
            for path in (settings.home / "steps").iterdir()
            if path.name.rpartition("-")[0] in running
        ),
        f"compiled: {(settings.home / 'bin' / CLUSTER['kubelet']).is_symlink()}",
        # only read at the start of the stack
        *(path.read_text() for path in sorted((settings.checkout / "sql").glob("*.sql"))),
        *(path.read_text() for path in sorted((settings.checkout / "deploy" / "postgres").iterdir())),
        *(path.read_text() for path in sorted((settings.checkout / "plugins").glob("*.py"))),
        *(
            path.read_text()
            for package in LOADED
            for path in sorted((settings.checkout / "src" / "storebench" / package).rglob("*.py"))
        ),
        *(path.read_text() for path in sorted((settings.checkout / MANIFESTS).iterdir())),
        *((settings.checkout / "local" / "stack" / name).read_text() for name in STARTED_WITH),
        *sorted(settings.own),
        *(os.environ.get(OWN_SERVERS[part], "") for part in sorted(settings.own)),
    ]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def write_all(settings: Settings) -> None:
    for folder in (
        settings.run / "bin",
        settings.run / "pki",
        settings.run / "ferretdb",
        settings.run / "airflow",
    ):
        folder.mkdir(parents=True, exist_ok=True)
    for name, program in {**CLUSTER, **{name: name for name in OTHERS}}.items():
        (settings.run / "bin" / name).symlink_to(settings.home / "bin" / program)

    if "kubernetes" not in settings.own:
        pki.write_certificates(settings.run / "pki", settings)
        pki.write_kubeconfigs(settings)
        for node in settings.nodes:
            for stem, ending in (("containerd", "toml"), ("kubelet", "yaml")):
                file = settings.run / "kubernetes" / f"{stem}{node.suffix}.{ending}"
                write_private(file, template(f"{stem}.{ending}", settings, node))
        write_private(
            settings.run / "kubernetes" / "cni" / "storebench.conflist", template("cni.conflist", settings)
        )
        for name in ("Corefile", "services.yaml"):
            write_private(settings.run / "kubernetes" / name, template(name, settings))
        services.write(settings, environment.NAMESPACE)

    (settings.data / "s3").mkdir(parents=True, exist_ok=True)
    serve = settings.checkout / "local" / "postgres" / "serve.sh"
    shutil.copy(serve, settings.postgres_root / "serve.sh")
    for name in ("results", "documentdb"):
        folder = settings.data / name
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        shutil.chown(folder, 64932, 64932)
    for folder in (settings.data / "elasticsearch", settings.data / "elasticsearch" / "tmp"):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        shutil.chown(folder, 64933, 64933)

    airflow = settings.run / "airflow"
    write_private(airflow / "passwords.json", f'{{"admin": "{secrets(settings)["airflow_password"]}"}}')
    write_private(
        airflow / "config" / "airflow_local_settings.py", template("airflow_local_settings.py", settings)
    )
    write_private(settings.run / "process-compose.yaml", yaml.safe_dump(project(settings), sort_keys=False))
    write_fingerprint(settings)
    write_private(settings.run / "checkout", str(settings.checkout))


def write_fingerprint(settings: Settings) -> None:
    write_private(settings.run / "fingerprint", fingerprint(settings))


def write_environment(settings: Settings) -> dict[str, str]:
    """Write the env file, also of a running stack after a change of only pod images. Return its variables."""
    built = environment.build(settings, secrets(settings), images(settings))
    environment.write(settings.env_file, built)
    return built


def airflow_version() -> str:
    return metadata.version("apache-airflow")

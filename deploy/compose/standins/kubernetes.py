"""Looks like k3s from outside: its flags, variables and folders. Inside are the parts and settings of the embedded stack."""

import argparse
import base64
import json
import os
import shutil
import subprocess
from functools import cached_property
from pathlib import Path

from local.stack import cgroup, environment, nodes, parts, pki, render, services
from local.stack.secrets import write_private
from local.stack.settings import OWN_SERVERS, PORTS, Settings

STATE = Path("/var/lib/rancher/k3s")
IMAGES = STATE / "agent" / "images"
BINARIES = Path("/usr/local/bin")
# What a kubelet wants the kernel to be set to. In this container it may not, and the machine's settings are to stay as they are.
SYSCTLS = {"vm/overcommit_memory": 1, "vm/panic_on_oom": 0, "kernel/panic": 10, "kernel/panic_on_oops": 1}
# The image of the pod that makes and removes the folders of volumes: any image with a shell.
HELPER = "AIRFLOW_VAR_STOREBENCH_IMAGE_PYTHON"
APPLY = 'until kubectl --kubeconfig="$0" apply --filename="$1"; do sleep 0.5; done'
IMPORT = f"""
until ctr --address "$0" version > /dev/null 2>&1; do sleep 0.2; done
for archive in /opt/storebench/pause.tar {IMAGES}/*.tar; do
    [ ! -e "$archive" ] || ctr --address "$0" --namespace k8s.io images import "$archive"
done
"""


class Node(Settings):
    address_of_node: str

    @cached_property
    def gateway(self) -> str:
        """Return the address on which the API server listens: the container's own address. In the embedded stack, the API server listens on
        the pods' bridge.
        """
        return self.address_of_node


def network(settings: Settings) -> str:
    """The embedded stack's pods reach this machine alone; these reach what their node does."""
    configuration = json.loads(render.template("cni.conflist", settings))
    bridge = configuration["plugins"][0]
    bridge |= {"isGateway": True, "ipMasq": True}
    del bridge["ipam"]["ranges"][0][0]["gateway"]
    return json.dumps(configuration)


def processes(settings: Settings) -> dict[str, object]:
    project = render.project(settings)
    wanted = ("kubernetes", parts.SERVICES)
    processes = {name: one for name, one in project["processes"].items() if one["namespace"] in wanted}
    del processes["cluster"]  # k3s leaves that to its user
    processes["images"]["entrypoint"] = ["sh", "-euc", IMPORT, str(settings.run / "containerd.sock")]
    folder = settings.run / "kubernetes"
    apply = ["sh", "-uc", APPLY, str(folder / "admin.kubeconfig"), str(folder / "services.yaml")]
    processes["services"] |= {"entrypoint": apply, "depends_on": {}}
    for process in processes.values():
        process |= {"working_dir": "/", "disabled": False}
    return {**project, "processes": processes}


def admin_kubeconfig(settings: Settings) -> str:
    """Return the administrator's kubeconfig for another machine, with certificates and key inside."""
    configuration = json.loads(pki.kubeconfig(settings, {}))

    def encoded(name: str) -> str:
        return base64.b64encode((settings.run / "pki" / name).read_bytes()).decode()

    cluster = configuration["clusters"][0]["cluster"]
    del cluster["certificate-authority"]
    cluster["certificate-authority-data"] = encoded("ca.crt")
    configuration["users"][0]["user"] = {
        "client-certificate-data": encoded("admin.crt"),
        "client-key-data": encoded("admin.key"),
    }
    return json.dumps(configuration)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["server"])
    parser.add_argument("--node-ip", required=True)
    options, _ = parser.parse_known_args()

    settings = Node(
        home=STATE / "standin",
        checkout=Path("/opt/storebench"),
        ports={name: 10000 + port for name, port in (PORTS | nodes.Node(1).ports).items()}
        | {"kubernetes": 6443},
        bridge="cni0",
        own=frozenset(OWN_SERVERS) - {"kubernetes"},
    )
    object.__setattr__(settings, "address_of_node", options.node_ip)
    shutil.rmtree(settings.run, ignore_errors=True)  # the cluster is made anew at each start
    for folder in (settings.log, settings.run / "bin", settings.run / "pki"):
        folder.mkdir(parents=True, exist_ok=True)
    for name, program in {**render.CLUSTER, **{name: name for name in render.OTHERS}}.items():
        (settings.run / "bin" / name).symlink_to(BINARIES / program)
    pki.write_certificates(settings.run / "pki", settings)
    pki.write_kubeconfigs(settings)
    for name in ("containerd.toml", "kubelet.yaml", "Corefile", "services.yaml"):
        write_private(settings.run / "kubernetes" / name, render.template(name, settings))
    services.write(settings, environment.NAMESPACE)
    services.write_helper(settings, os.environ.get(HELPER, ""))
    (settings.run / "kubernetes" / "resolv.conf").unlink()
    (settings.run / "kubernetes" / "resolv.conf").symlink_to("services.resolv.conf")
    write_private(settings.run / "kubernetes" / "cni" / "storebench.conflist", network(settings))
    write_private(settings.run / "process-compose.yaml", json.dumps(processes(settings)))
    write_private(Path(os.environ["K3S_KUBECONFIG_OUTPUT"]), admin_kubeconfig(settings))

    for name, value in SYSCTLS.items():
        shown = settings.run / name.replace("/", ".")
        shown.write_text(f"{value}\n")
        subprocess.run(["mount", "--bind", str(shown), f"/proc/sys/{name}"], check=True)
    # Mounts of pods must be seen by the container runtime, and cgroups be written.
    subprocess.run(["mount", "--make-rshared", "/"], check=True)
    for hierarchy in cgroup.hierarchies():
        subprocess.run(["mount", "-o", "remount,bind,rw", str(hierarchy)], check=True)
    cgroup.create(settings.cgroup)
    command = ["process-compose", "up", "--tui=false", "--disable-dotenv", "--keep-project", "--no-server"]
    os.execvp(command[0], [*command, "--config", str(settings.run / "process-compose.yaml")])


if __name__ == "__main__":
    main()

"""Run the services of the embedded cluster that only provisioned servers need: addresses of Services, DNS, volumes.

The supervisor runs the programs (its namespace `services`). This module makes and reverts their changes to the machine and to new pods.
"""

import json
from pathlib import Path

from local.stack import network, packet_filter
from local.stack.kubectl import kubectl
from local.stack.secrets import write_private
from local.stack.settings import Settings

DOMAIN = "cluster.local"
DNS_SERVICE = "10.96.0.10"  # the usual address in a cluster
HOST_RESOLVER = Path("/etc/resolv.conf")


def _folder(settings: Settings) -> Path:
    return settings.run / "kubernetes"


def _resolve_by(settings: Settings, target: Path) -> None:
    """Set the /etc/resolv.conf of new pods."""
    link = _folder(settings) / "resolv.conf.new"
    link.unlink(missing_ok=True)
    link.symlink_to(target)
    link.replace(_folder(settings) / "resolv.conf")


def write(settings: Settings, namespace: str) -> None:
    """Write the files of the programs before their start. Pods of `namespace` may omit it in names."""
    folder = _folder(settings)
    folder.mkdir(parents=True, exist_ok=True)
    search = f"{namespace}.svc.{DOMAIN} svc.{DOMAIN} {DOMAIN}"
    (folder / "services.resolv.conf").write_text(
        f"nameserver {DNS_SERVICE}\nsearch {search}\noptions ndots:5\n"
    )
    _resolve_by(settings, HOST_RESOLVER)
    volumes = settings.run / "volumes"  # removed with the cluster, which owns all claims
    volumes.mkdir(exist_ok=True)
    # All nodes are this machine: a volume is on each of them.
    write_private(folder / "volumes" / "config.json", json.dumps({"sharedFileSystemPath": str(volumes)}))


def write_helper(settings: Settings, image: str) -> None:
    """Write the manifest of the pod that creates or removes a volume's folder. `image`: any image with a shell."""
    container = {
        "name": "helper-pod",
        "image": image,
        "imagePullPolicy": "Never",
        "securityContext": {"runAsUser": 0},
    }
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "helper-pod"},
        "spec": {"terminationGracePeriodSeconds": 0, "enableServiceLinks": False, "containers": [container]},
    }
    write_private(_folder(settings) / "volumes" / "helperPod.yaml", json.dumps(pod))


def begin(settings: Settings) -> None:
    """Prepare the machine before the programs start. Raises StackError if another cluster's services run."""
    packet_filter.claim(settings)
    network.forward(True, settings)
    kubectl(settings, "apply", f"--filename={_folder(settings) / 'services.yaml'}")
    _resolve_by(settings, _folder(settings) / "services.resolv.conf")


def end(settings: Settings) -> None:
    """Revert the changes to the machine after the programs have ended."""
    _resolve_by(settings, HOST_RESOLVER)
    packet_filter.clear(settings)
    network.forward(False, settings)

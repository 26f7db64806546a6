"""Create the certificates of the embedded cluster, at each start like all of the cluster's state."""

import json
from pathlib import Path

import trustme

from local.stack.secrets import write_private
from local.stack.settings import Settings

# Group by user. Kubernetes defines these names, which give each component its permissions. Kubelets have names by node.
USERS = {
    "admin": ("storebench:admin", "system:masters"),
    "controller-manager": ("system:kube-controller-manager", None),
    "scheduler": ("system:kube-scheduler", None),
    "proxy": ("system:kube-proxy", None),
    "dns": ("storebench:dns", None),
    "volumes": ("storebench:volumes", None),
    "apiserver-kubelet": ("storebench:apiserver", "system:masters"),
}


def write_certificates(folder: Path, settings: Settings) -> None:
    authority = trustme.CA(organization_name="storebench", key_type=trustme.KeyType.ECDSA)
    authority.cert_pem.write_to_path(folder / "ca.crt")
    write_private(folder / "ca.key", authority.private_key_pem.bytes().decode())

    def issue(name: str, *hosts: str, user: str | None = None, group: str | None = None) -> None:
        certificate = authority.issue_cert(
            *hosts, common_name=user, organization_name=group, key_type=trustme.KeyType.ECDSA
        )
        certificate.cert_chain_pems[0].write_to_path(folder / f"{name}.crt")
        write_private(folder / f"{name}.key", certificate.private_key_pem.bytes().decode())

    issue("apiserver", "127.0.0.1", "localhost", settings.gateway, "10.96.0.1", "kubernetes.default.svc")
    issue("kubelet-server", settings.gateway, *(node.name for node in settings.nodes))
    issue("service-account", "service-account.storebench")
    kubelets = {
        f"kubelet{node.suffix}": (f"system:node:{node.name}", "system:nodes") for node in settings.nodes
    }
    for name, (user, group) in (USERS | kubelets).items():
        issue(name, f"{name}.storebench", user=user, group=group)


def kubeconfig(settings: Settings, user: dict[str, str], namespace: str = "default") -> str:
    """Return the text of a kubeconfig for the embedded cluster. JSON is valid YAML."""
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "storebench",
            "contexts": [
                {
                    "name": "storebench",
                    "context": {"cluster": "storebench", "user": "user", "namespace": namespace},
                }
            ],
            "clusters": [
                {
                    "name": "storebench",
                    "cluster": {
                        "server": settings.url("kubernetes", "https"),
                        "certificate-authority": str(settings.run / "pki" / "ca.crt"),
                    },
                }
            ],
            "users": [{"name": "user", "user": user}],
        }
    )


def write_kubeconfigs(settings: Settings) -> None:
    pki = settings.run / "pki"
    kubelets = (f"kubelet{node.suffix}" for node in settings.nodes)
    for name in ("admin", "controller-manager", "scheduler", "proxy", "dns", "volumes", *kubelets):
        user = {"client-certificate": str(pki / f"{name}.crt"), "client-key": str(pki / f"{name}.key")}
        write_private(settings.run / "kubernetes" / f"{name}.kubeconfig", kubeconfig(settings, user))

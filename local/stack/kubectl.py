"""Run kubectl as the embedded cluster's administrator."""

import subprocess

from local.stack.settings import Settings


def kubectl(settings: Settings, *arguments: str) -> str:
    """Run kubectl and return its output. Raises subprocess.CalledProcessError."""
    configuration = settings.run / "kubernetes" / "admin.kubeconfig"
    options = [f"--kubeconfig={configuration}", f"--cache-dir={settings.run / 'kubectl'}"]
    command = [str(settings.run / "bin" / "kubectl"), *options, *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

"""Contain everything that depends on more of Airflow than its public task SDK, `airflow.sdk`.

Each module has one subject: an override of Airflow or of the Kubernetes provider, or knowledge of their internals. The module's docstring
names the version that the module was written for, and when the module can be removed. Other packages import only `airflow.sdk`.

LOOKED_AT lists the packages that each module depends on, with the version of the package with which somebody last compared the module.
A test fails if requirements/ pins another version: read the module and the package's changes, then write the new version into the row.
"""

from __future__ import annotations

from collections.abc import Mapping

AIRFLOW = "apache-airflow-core"
SDK = "apache-airflow-task-sdk"
KUBERNETES = "apache-airflow-providers-cncf-kubernetes"
STANDARD = "apache-airflow-providers-standard"

# By module: the packages that the module depends on, and the version of each package that was last compared.
LOOKED_AT: Mapping[str, Mapping[str, str]] = {
    "api_server": {AIRFLOW: "3.3.2"},
    "approval": {STANDARD: "1.21.0"},
    "executor": {AIRFLOW: "3.3.2"},
    "kubernetes_provider": {KUBERNETES: "10.25.0"},
    "pod_manager": {KUBERNETES: "10.25.0"},
    "pod_operator": {KUBERNETES: "10.25.0", SDK: "1.3.2"},
    "priority": {AIRFLOW: "3.3.2"},
    "tasks": {AIRFLOW: "3.3.2", SDK: "1.3.2"},
    "timetable": {AIRFLOW: "3.3.2"},
}

"""Pools of nodes: cells on different ones are measured side by side, those on the same one after the other.

A store's server may have nodes of its own for its clients. What the environment variable STOREBENCH_NODE_POOLS names, comma-separated,
are such pools: `v8` is where `mongodb@v8` is measured (and `null@v8`), by the Kubernetes connection `storebench_kubernetes_v8`, in the Airflow pool
`benchmark_v8`. Everything else is measured in the default pool: `storebench_kubernetes` and `benchmark`.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from storebench.errors import SpecError
from storebench.stores.base import SERVER, split
from storebench.study.model import Study

VARIABLE = "STOREBENCH_NODE_POOLS"
SLOTS, GROUP, CONNECTION = "benchmark", "cell", "kubernetes"


@dataclass(frozen=True)
class NodePool:
    """`name` is empty for the default pool."""

    name: str = ""

    @property
    def slots(self) -> str:
        """The Airflow pool, with as many slots as attempts may run side by side on these nodes: one for each node."""
        return self._named(SLOTS)

    @property
    def group(self) -> str:
        """The task group of its cells."""
        return self._named(GROUP)

    @property
    def connection(self) -> str:
        """The name of the Kubernetes connection by which its pods are started."""
        return self._named(CONNECTION)

    def _named(self, text: str) -> str:
        return f"{text}_{self.name}" if self.name else text


DEFAULT = NodePool()


def node_pools() -> list[NodePool]:
    """The default pool, and those that VARIABLE names; raises SpecError for what is no name."""
    names = [name.strip() for name in os.environ.get(VARIABLE, "").split(",") if name.strip()]
    for name in names:
        if not re.fullmatch(SERVER, name):
            raise SpecError(
                f"{VARIABLE}: {name!r} is not a valid name. Use lower-case letters, digits and _, at most 30"
            )
    return [DEFAULT, *map(NodePool, dict.fromkeys(names))]


def node_pool_of(study: Study, store: str) -> NodePool:
    """Where the store that this name means is measured. Raises SpecError for `null@v8`, a store without a server, where there is no
    such pool.
    """
    pool, pools = NodePool(split(store)[1]), node_pools()
    if pool in pools:
        return pool
    if study.store(store).server_of(store) is None:
        raise SpecError(
            f"{store!r}: there is no pool of nodes {pool.name!r}. {VARIABLE} has"
            f" {', '.join(pool.name for pool in pools[1:]) or 'none'}. And this store has no server of its own that the name could mean"
        )
    return DEFAULT

"""The nodes of the embedded cluster, each with its own containerd and kubelet. Each node after the first is a node pool."""

from dataclasses import dataclass

NAME = "storebench-node"
MARK = "storebench/benchmark"  # the label and the taint of a node that only accepts the benchmark's pods
MOST = 8


@dataclass(frozen=True)
class Node:
    """A node of the embedded cluster. `number` counts from 1."""

    number: int

    @property
    def suffix(self) -> str:
        """Return the suffix of names that each node has separately; empty for the first node."""
        return "" if self.number == 1 else f"-{self.number}"

    @property
    def name(self) -> str:
        return NAME + self.suffix

    @property
    def pool(self) -> str:
        """Return the node's pool as named in STOREBENCH_NODE_POOLS; the first node is in the default pool."""
        return "" if self.number == 1 else f"node{self.number}"

    @property
    def mark(self) -> str:
        """Return the value of MARK for this node."""
        return self.pool or "true"

    @property
    def ports(self) -> dict[str, int]:
        """Return the node's ports, relative to the base port."""
        if self.number == 1:
            return {"kubelet": 250, "kubelet_health": 248}
        return {
            f"kubelet_{self.number}": 498 + 2 * self.number,
            f"kubelet_{self.number}_health": 499 + 2 * self.number,
        }

"""The nodes of the embedded cluster: each is a containerd and a kubelet of its own. Those after the first are pools of nodes by themselves."""

from dataclasses import dataclass

NAME = "storebench-node"
MARK = "storebench/benchmark"  # the label and the taint of a node that takes the benchmark's pods alone
MOST = 8


@dataclass(frozen=True)
class Node:
    """`number` counts from 1."""

    number: int

    @property
    def suffix(self) -> str:
        """Behind the names of whatever each node has of its own; the first has none."""
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
        """The value of MARK."""
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

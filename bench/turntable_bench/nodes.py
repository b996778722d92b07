"""kvclient under measurement."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from .namespaces import CLIENT_ADDRESS
from .processes import Argv, Node, node
from .settings import Settings

LEAD_MS, WARMUP_MS, DRAIN_MS = 50, 200, 5_000


def client_node(
    settings: Settings, prefix: Argv, means: str = "sockets"
) -> AbstractContextManager[Node]:
    options = ["--address", CLIENT_ADDRESS, "--datagrams", means, "--interface", "data"]
    return node(settings.binary("kvclient"), prefix, options)


def prepare(client: Node, workload: dict[str, Any], address: str, port: int) -> None:
    """Makes the traces of all clients of the workload, to be played by one thread."""
    client.call(
        "prepare",
        workload=workload,
        scale=1,
        partitions=[0],
        first_client=0,
        clients=workload["clients"],
        threads=1,
        server_address=address,
        server_port=port,
    )


def play(client: Node, measure_ms: int = 1500) -> int:
    """One iteration of what was prepared; the operations answered.

    Raises RuntimeError unless every request was answered once, and rightly.
    """
    client.start(LEAD_MS, WARMUP_MS, measure_ms, DRAIN_MS)
    client.call("wait", deadline_s=30)
    statistics = client.call("stats")
    errors = {name: statistics[name] for name in ("retries", "unanswered", "wrong_values")}
    if any(errors.values()):
        raise RuntimeError(f"kvclient: {errors}; expected none. Is something else using the CPUs?")
    (partition,) = statistics["partitions"]
    return partition["answers_total"]

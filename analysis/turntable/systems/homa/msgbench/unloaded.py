"""`msgbench client --unloaded N`: N calls of each size, one after the other, on a network that is
otherwise idle. The least round trips are what slowdowns are of.
"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from turntable.systems.homa.artifact.baseline import Baseline, baseline_text
from turntable.systems.homa.msgbench import files, node, transport
from turntable.systems.homa.msgbench.node import Node
from turntable.systems.homa.msgbench.transport import Workload
from turntable_systems.homa import placement

_EACH_S = 10.0  # of a size, as in the artifact: fewer calls where they take longer
_MARGIN_S = 30.0


def run(options: Namespace, workload: Workload) -> int:
    found: dict[int, float] = {}
    with node.running(placement.CLIENT, options.build, options.address, options.port) as client:
        prepare(client, options, workload)
        try:
            for size in workload.distribution.sizes:
                found[size] = round_trips(client, size, options.unloaded)["min_ns"]
        except KeyboardInterrupt:
            print(f"interrupted: {len(found)} of {len(workload.distribution.sizes)} sizes")
    print(baseline_text(found), end="")
    if options.output and found:
        baseline = Baseline(Path(workload.name), found)
        files.add_baseline(options.output, options.protocol, workload.name, baseline)
    return 0 if len(found) == len(workload.distribution.sizes) else 1


def prepare(client: Node, options: Namespace, workload: Workload) -> None:
    client.ask(
        "prepare",
        transport=transport.derive(options, workload).transport,
        servers=options.servers,
        client=options.client,
        seed=options.seed,
        sizes=workload.argument,
        payload_bps=1e6,  # nothing is started
        response_bytes=transport.ONE_WAY_BYTES if options.one_way else 0,
        realtime=options.realtime,
    )


def round_trips(client: Node, size: int, calls: int) -> dict[str, Any]:
    """In ns, of the node's `idle`."""
    answer = client.ask_within(
        "idle", _EACH_S + _MARGIN_S, bytes=[size], calls=calls, each_s=_EACH_S
    )
    (row,) = answer["round_trips"]
    return row

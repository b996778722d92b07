"""`msgbench client --unloaded N`: N calls of each size, one after the other, on a network that is
otherwise idle. The least round trips are what slowdowns are of.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from turntable.systems.homa.artifact import names
from turntable.systems.homa.artifact.baseline import Baseline, baseline_text
from turntable.systems.homa.msgbench import files, node, silence, transport
from turntable.systems.homa.msgbench.node import Node, NodeError
from turntable.systems.homa.msgbench.transport import Workload
from turntable_core.errors import TurntableError
from turntable_systems.homa import placement

_EACH_S = 10.0  # of a size, as in the artifact: fewer calls where they take longer
_MARGIN_S = 30.0
_CLEARLY = 1.15  # times as long


def run(options: Namespace, workload: Workload) -> int:
    found: dict[int, float] = {}
    if options.output:
        file = names.baseline_file(options.protocol, workload.name)
        files.require_place(options.output, file, options.replace)
    with node.running(placement.CLIENT, options.build, options.address, options.port) as client:
        prepare(client, options, workload)
        try:
            for size in workload.distribution.sizes:
                found[size] = round_trips(client, options, size, options.unloaded)["min_ns"]
        except KeyboardInterrupt:
            print(f"interrupted: {len(found)} of {len(workload.distribution.sizes)} sizes")
    print(baseline_text(found), end="")
    if remark := falling(found):
        print(f"msgbench client: {remark}", file=sys.stderr)
    if options.output and found:
        baseline = Baseline(Path(workload.name), found)
        files.add_baseline(options.output, options.protocol, workload.name, baseline)
    return 0 if len(found) == len(workload.distribution.sizes) else 1


def falling(ns_by_bytes: Mapping[int, float]) -> str | None:
    """Of the worst pair of sizes, if the larger one took clearly less: a longer message never
    does, so the smaller one's least was not found.
    """
    worst, pair, largest = _CLEARLY, None, (0, 0.0)
    for size, ns in sorted(ns_by_bytes.items()):
        if largest[1] > worst * ns:
            worst, pair = largest[1] / ns, (largest, (size, ns))
        largest = max(largest, (size, ns), key=lambda one: one[1])
    if pair is None:
        return None
    (small, small_ns), (large, large_ns) = pair
    return (
        f"{small} bytes took {small_ns / 1e3:.1f} us at the least, and {large} bytes "
        f"{large_ns / 1e3:.1f} us: the least was not found, and slowdowns come out too small; "
        "measure with more calls (--unloaded), or on a quieter machine"
    )


def prepare(client: Node, options: Namespace, workload: Workload) -> None:
    client.ask(
        "prepare",
        transport=transport.derive(options, workload).transport,
        servers=options.servers,
        client=options.client,
        seed=options.seed,
        sizes=workload.argument,
        payload_bps=1e6,  # nothing is started
        response_bytes=transport.response_bytes(options),
        realtime=options.realtime,
    )


def round_trips(client: Node, options: Namespace, size: int, calls: int) -> dict[str, Any]:
    """In ns, of the node's `idle`."""
    try:
        answer = client.ask_within(
            "idle", _EACH_S + _MARGIN_S, bytes=[size], calls=calls, each_s=_EACH_S
        )
    except NodeError as error:
        raise TurntableError(f"{error} {silence.what_to_check(options)}") from None
    (row,) = answer["round_trips"]
    return row

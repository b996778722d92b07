"""`msgbench echo-basic`: the artifact's table of round trips of five sizes on the idle network."""

from __future__ import annotations

from argparse import Namespace

from turntable.systems.homa.artifact.echo import SIZES, Echo, echo_table
from turntable.systems.homa.msgbench import node, unloaded
from turntable.systems.homa.msgbench.transport import Workload
from turntable_systems.homa import placement


def run(options: Namespace) -> int:
    """With Ctrl-C, of the sizes that were measured."""
    echoes: list[Echo] = []
    with node.running(placement.CLIENT, options.build, options.address, options.port) as client:
        unloaded.prepare(client, options, Workload.of("echo", {"bytes": max(SIZES)}))
        try:
            for size in SIZES:
                echoes.append(
                    _echo(size, unloaded.round_trips(client, options, size, options.count))
                )
        except KeyboardInterrupt:
            pass
    print(*echo_table(echoes), sep="\n")
    return 0 if len(echoes) == len(SIZES) else 1


def _echo(size: int, row: dict[str, float]) -> Echo:
    times = ("min_ns", "mean_ns", "median_ns", "p90_ns", "p99_ns", "p999_ns")
    return Echo(size, *(row[name] for name in times))

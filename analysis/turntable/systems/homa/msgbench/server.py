"""`msgbench server`: answers until Ctrl-C."""

from __future__ import annotations

from argparse import Namespace

from turntable.systems.homa.msgbench import node, transport
from turntable.systems.homa.msgbench.node import Node
from turntable_core.errors import TurntableError
from turntable_systems.homa import placement


def run(options: Namespace) -> int:
    said = _transport(options)
    with node.running(placement.SERVER, options.build, options.address, options.port) as server:
        server.ask(
            "prepare",
            transport=said,
            clients=options.clients,
            response_bytes=transport.response_bytes(options),
            realtime=options.realtime,
        )
        where = f"{options.address}:{options.port} for {len(options.clients)} client(s)"
        try:
            print(
                f"msgbench server: {transport.label(options)} on {where}; Ctrl-C ends it",
                flush=True,
            )
            server.process.wait()
        except KeyboardInterrupt:
            print(_counts(server))
            return 0
    raise TurntableError(f"{placement.SERVER} has ended by itself")


def _transport(options: Namespace) -> dict[str, object]:
    if options.protocol != "homa" or options.priorities == 1:
        return transport.transport_of(options)
    if options.workload is None:
        raise TurntableError(
            f"--priorities {options.priorities}: their cutoffs follow from the sizes of messages; "
            "expected the clients' --workload too, or --priorities 1"
        )
    return transport.derive(options, transport.workload_of(options)).transport


def _counts(server: Node) -> str:
    stats = server.ask("stats")
    counts = stats["transport"]
    text = f"\n{counts['executed']:,} calls served, {stats['echoed_bytes']:,} bytes answered"
    for name in ("malformed", "strangers"):
        if counts.get(name):
            text += f", {counts[name]:,} packets {name}"
    return text

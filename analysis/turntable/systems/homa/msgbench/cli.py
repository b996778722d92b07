"""The command line of `msgbench` (docs/homa.md §10)."""

from __future__ import annotations

import argparse
import ipaddress
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from turntable.find_run import named_run
from turntable.systems.homa.artifact.directory import only_one_in
from turntable.systems.homa.artifact.export import export_run
from turntable.systems.homa.msgbench import client, echo_basic, files, server, transport
from turntable_core.errors import TurntableError
from turntable_systems.homa import placement

_REPOSITORY = Path(__file__).resolve().parents[5]
_INTERRUPTED = 130  # as a shell says it


def main(arguments: Sequence[str] | None = None) -> int:
    """Status: 0; 1 where answers were wrong, or measurements are missing; 2 for what cannot be."""
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if hasattr(options, "protocol"):
            transport.complete(options, options.levels)
        return options.run(options)
    except TurntableError as error:
        print(f"msgbench {options.command}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"msgbench {options.command}: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return _INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="msgbench",
        description="Messages between clients and servers over Homa, Basic or TCP: round trips, "
        "slowdowns, and the files of Homa's artifact. docs/homa.md goes through a session.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, run: Callable[..., int], does: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=does, description=does[:1].upper() + does[1:])
        command.set_defaults(run=run)
        return command

    _add_server(add("server", server.run, "answer messages until Ctrl-C"))
    _add_client(add("client", client.run, "send messages and measure their round trips"))
    _add_echo(add("echo-basic", echo_basic.run, "the artifact's table of echoes of five sizes"))
    command = add("export", _export, "write a finished run as the artifact's directory")
    command.add_argument("of_run", metavar="RUN", type=Path, help="its directory or name")
    command.add_argument("directory", metavar="DIR", type=Path, help="gets a homa_experiment_…")
    command = add("import", _import, "show slowdowns of the artifact's files")
    command.add_argument(
        "directory", metavar="DIR", type=Path, help="a homa_experiment_…, or what holds one"
    )
    command.add_argument(
        "--figure", metavar="FILE", type=Path, help="draw them too, as .svg, .pdf or .png"
    )
    return parser


def _export(options: argparse.Namespace) -> int:
    try:
        run = named_run(_REPOSITORY / "results", options.of_run)
    except TurntableError as error:
        raise TurntableError(
            f"{error}, or the path of a run's directory that lies elsewhere"
        ) from None
    print(*export_run(run, options.directory), sep="\n")
    return 0


def _import(options: argparse.Namespace) -> int:
    figure = options.figure.absolute() if options.figure else None
    return files.show(only_one_in(options.directory), figure)


def _add_server(command: argparse.ArgumentParser) -> None:
    node = _add_node(command, placement.SERVER_PORT)
    node.add_argument(
        "--clients", metavar="IP:PORT,…", type=_endpoints, required=True,
        help="whom it answers; packets of others are counted and not looked at",
    )  # fmt: skip
    messages = command.add_argument_group("messages, as its clients say them")
    _add_sizes(messages)
    _add_one_way(messages)
    _add_transport(command)
    command.set_defaults(load=None)


def _add_client(command: argparse.ArgumentParser) -> None:
    _add_node_of_client(command, servers_required=False)
    messages = command.add_argument_group("messages")
    _add_sizes(messages)
    rate = messages.add_mutually_exclusive_group()
    rate.add_argument("--gbps", metavar="R", type=_positive, help="payload in each direction")
    rate.add_argument(
        "--load", metavar="SHARE", type=_load,
        help="the same as a share of the link (--link-gbps) in wire bytes, with headers and grants",
    )  # fmt: skip
    messages.add_argument(
        "--arrivals", choices=("exponential", "periodic"), default="exponential",
        help="gaps between calls (default: %(default)s)",
    )  # fmt: skip
    messages.add_argument(
        "--client-max", metavar="N", type=_count, default=50,
        help="RPCs under way; others wait, and their wait counts (default: %(default)s)",
    )  # fmt: skip
    _add_one_way(messages)
    _add_seed(messages)
    measured = command.add_argument_group("what is measured")
    measured.add_argument(
        "--seconds", metavar="S", type=_positive, default=10.0, help="default: %(default)g"
    )
    measured.add_argument(
        "--unloaded", metavar="N", type=_count,
        help="instead of a load: N calls of each size, one after the other (or as many as 10 s "
        "allow), on a network that is otherwise idle: a baseline",
    )  # fmt: skip
    measured.add_argument(
        "--baseline", metavar="FILE", type=Path,
        help="of the same workload, for slowdowns (default: that in --output, if there)",
    )  # fmt: skip
    measured.add_argument(
        "--output", metavar="DIR", type=Path, help="add the artifact's files to this directory"
    )
    measured.add_argument(
        "--replace", action="store_true", help="where --output has the same measurement already"
    )
    measured.add_argument(
        "--plot-only", action="store_true",
        help=f"measure nothing: show the files of --output, and draw {files.FIGURE} there",
    )  # fmt: skip
    _add_transport(command)


def _add_echo(command: argparse.ArgumentParser) -> None:
    _add_node_of_client(command, servers_required=True)
    command.add_argument(
        "--count", metavar="N", type=_count, default=10_000,
        help="calls of each size, or as many as 10 s allow (default: %(default)s)",
    )  # fmt: skip
    _add_seed(command)
    _add_transport(command, priorities=1)
    command.set_defaults(one_way=False, load=None)


def _add_node(command: argparse.ArgumentParser, port: int) -> Any:
    node = command.add_argument_group("the node")
    node.add_argument("--address", metavar="IP", type=_address, required=True, help="its own")
    node.add_argument(
        "--port", metavar="UDP", type=_port, default=port, help="its own (default: %(default)s)"
    )
    node.add_argument(
        "--realtime", action="store_true", help="its thread before all ordinary ones (SCHED_RR)"
    )
    node.add_argument(
        "--build", metavar="DIR", type=Path, default=_REPOSITORY / "build",
        help="programs are in its bin/ (default: that of the checkout)",
    )  # fmt: skip
    return node


def _add_node_of_client(command: argparse.ArgumentParser, servers_required: bool) -> None:
    node = _add_node(command, placement.CLIENT_PORT)
    node.add_argument(
        "--servers", metavar="IP:PORT,…", type=_endpoints, required=servers_required,
        help="one is chosen for each call",
    )  # fmt: skip
    node.add_argument(
        "--client", metavar="K", type=int, default=0,
        help="its number among several clients: its draws are its own (default: %(default)s)",
    )  # fmt: skip


def _add_sizes(group: Any) -> None:
    group.add_argument(
        "--workload", metavar="W1…W8|FILE|BYTES", help="sizes: the paper's, a table, or one size"
    )
    group.add_argument(
        "--cap", dest="cap_bytes", metavar="BYTES", type=_count,
        help="larger messages have this size",
    )  # fmt: skip
    group.add_argument("--divide", metavar="D", type=_at_least_1, help="all sizes by so much")


def _add_one_way(group: Any) -> None:
    group.add_argument(
        "--one-way", action="store_true",
        help=f"answers of {transport.ONE_WAY_BYTES} bytes, not as long as their requests",
    )  # fmt: skip


def _add_seed(group: Any) -> None:
    group.add_argument(
        "--seed", metavar="N", type=int, default=1,
        help="the same calls whatever the transport (default: %(default)s)",
    )  # fmt: skip


def _add_transport(command: argparse.ArgumentParser, priorities: int = 8) -> None:
    group = command.add_argument_group("the transport, the same for all nodes")
    group.add_argument("--protocol", choices=transport.PROTOCOLS, default="homa")
    group.add_argument(
        "--priorities", metavar="N", type=int, choices=range(1, 9),
        help="of homa, 1 to 8; cutoffs are the paper's, or follow from the sizes "
        f"(default: {priorities})",
    )  # fmt: skip
    group.add_argument(
        "--link-gbps", metavar="R", type=_positive, help="pace the node's uplink at this rate"
    )
    group.add_argument(
        "--payload-bytes", metavar="B", type=_count,
        help="of a message in a packet; 1470, as the paper's, need an MTU of 1528 (default: 1442)",
    )  # fmt: skip
    group.add_argument(
        "--rtt-bytes", metavar="B", type=_count, help="RTTbytes, whole packets (default: 7 packets)"
    )
    group.add_argument("--tick-ms", metavar="MS", type=_positive, help="of the timer (default: 2)")
    group.add_argument(
        "--connections", metavar="N", type=_count, help="of tcp, to each server (default: 1)"
    )
    command.set_defaults(levels=priorities)  # where none are said


# --- Words


def _address(word: str) -> str:
    try:
        return str(ipaddress.IPv4Address(word))
    except ValueError:
        raise _refused(word, "an IPv4 address, for example 127.0.0.1") from None


def _port(word: str) -> int:
    if not word.isdigit() or not 1 <= int(word) <= 65_535:
        raise _refused(word, "a port, 1 to 65535")
    return int(word)


def _endpoints(word: str) -> list[dict[str, Any]]:
    endpoints = []
    for part in word.split(","):
        address, colon, port = part.rpartition(":")
        if not colon:
            raise _refused(part, "IP:PORT, several with commas between")
        endpoints.append({"address": _address(address), "port": _port(port)})
    return endpoints


def _positive(word: str) -> float:
    return _number(word, lambda value: 0 < value < float("inf"), "a number above 0")


def _load(word: str) -> float:
    return _number(word, lambda value: 1e-6 <= value <= 10, "a share of the link, 1e-6 to 10")


def _at_least_1(word: str) -> float:
    return _number(word, lambda value: 1 <= value <= 1e6, "a number from 1 to 1,000,000")


def _number(word: str, accepted: Callable[[float], bool], expected: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = float("nan")
    if not accepted(value):
        raise _refused(word, expected)
    return value


def _count(word: str) -> int:
    if not word.isdigit() or not 1 <= int(word) <= 1 << 30:
        raise _refused(word, "a whole number of at least 1")
    return int(word)


def _refused(word: str, expected: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(f"{word!r} is not accepted; expected {expected}")

"""`p4soft run PROGRAM.p4 --port 0=veth0 --port 1=veth1`: see the package."""

from __future__ import annotations

import argparse
import contextlib
import ipaddress
import shlex
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from p4soft import cli
from p4soft.emit.program import Translation
from p4soft.errors import P4Error
from p4soft.options import OptionParser
from p4soft.run import cache, compiler, installation, node, ports
from p4soft.run.directories import make, temporary
from p4soft.run.errors import RunError
from p4soft.run.processes import Child, StopRequested, end_all, stop_on_signals, wait_for_an_end

_OFF = "off"


@dataclass(frozen=True)
class Server:
    """One that stands beside softswitch: a program of this name, and its option here."""

    program: str
    option: str
    title: str
    default: str

    def listen(self, text: str) -> list[str] | None:
        """Its options for ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT; None: it is off."""
        if text == _OFF:
            return None
        address, colon, port = text, "", ""
        if text.startswith("[") or text.count(":") == 1:
            address, colon, port = text.rpartition(":")
        address = address.removeprefix("[").removesuffix("]")
        with contextlib.suppress(ValueError):
            if ipaddress.ip_address(address).is_unspecified:
                raise RunError(
                    f"{self.option} {text}: this is every network of the host, and whoever reaches "
                    f"the port controls the switch; expected one address, for instance "
                    f"{self.default}",
                    status=2,
                )
            if not colon:
                return ["--address", address]
            if 0 <= int(port) <= 0xFFFF:
                return ["--address", address, "--port", port]
        message = f"{self.option} {text}: expected ADDRESS or ADDRESS:PORT, for instance "
        raise RunError(f"{message}{self.default}, or {_OFF}", status=2)


BFRT = Server("bfrt-server", "--bfrt", "BF Runtime", "127.0.0.1:50052")
P4RUNTIME = Server("p4runtime-server", "--p4runtime", "P4Runtime", "127.0.0.1:9559")


def main(arguments: list[str] | None = None) -> int:
    """Runs a switch until Ctrl-C or SIGTERM. Exit status: 0 it forwarded and was told to end, 1
    wrong program or something failed, 2 usage or unreadable file, 128 + N ended by signal N before
    it forwarded.
    """
    words = sys.argv[1:] if arguments is None else arguments
    options, further = _parse(words)
    stop_on_signals()
    switch = _Switch(options, further)
    try:
        switch.run()
    except StopRequested as request:
        return 0 if switch.forwards else request.status
    except P4Error as error:
        print(error, file=sys.stderr)
        return 1
    except RunError as error:
        print(f"p4soft: {error}", file=sys.stderr)
        return error.status
    except OSError as error:
        print(f"p4soft: {cli.text_of(error)}", file=sys.stderr)
        return 2
    return 1


def _parse(words: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """The options, and those for softswitch behind `--`."""
    mine, further = words, []
    if "--" in words:
        at = words.index("--")
        mine, further = words[:at], words[at + 1 :]
    mine = ports.with_values(mine)
    parser = OptionParser(
        prog="p4soft run",
        usage="p4soft run PROGRAM.p4 --port NUMBER=INTERFACE ... [OPTION ...] [-- softswitch's]",
        description="Translates and compiles a TNA program and runs it on network interfaces, with "
        "the servers of BF Runtime and P4Runtime. Ctrl-C ends it.",
        allow_abbrev=False,
    )
    cli.add_program_arguments(parser)
    add = parser.add_argument
    add("--port", action="append", default=[], metavar="NUMBER=INTERFACE", help="repeatable")
    add("--cpu-port", action="append", default=[], metavar="NUMBER=INTERFACE",
        help="a port of the control plane")  # fmt: skip
    add("--cpu-interface", metavar="INTERFACE",
        help="the other end of that port's pair, for P4Runtime's packets")  # fmt: skip
    for server in (BFRT, P4RUNTIME):
        add(server.option, default=server.default, metavar="ADDRESS:PORT",
            help=f"where {server.program} listens, or {_OFF} (default: %(default)s)")  # fmt: skip
    add(
        "--pipes",
        choices=("1", "2", "4"),
        help="of 128 ports, with tables and registers of their own (default: all ports share one "
        "state, which BF Runtime shows as that of two pipes)",
    )
    add("--pcap-dir", type=Path, metavar="DIR",
        help="write INTERFACE_in.pcap and INTERFACE_out.pcap there")  # fmt: skip
    add("--trace", nargs="?", const="", metavar="FILTER",
        help="print what happens to packets: docs/p4soft.md")  # fmt: skip
    add("--compiler", metavar="PROGRAM", help="C++ compiler; default: what CXX says, or c++")
    add("--cache-dir", type=Path, default=cache.default_directory(), metavar="DIR",
        help="compiled programs (default: %(default)s)")  # fmt: skip
    options = parser.parse_args(mine)
    if not options.port:
        parser.error("--port is missing: expected at least one, for instance --port 1=veth1")
    return options, further


class _Switch:
    def __init__(self, options: argparse.Namespace, further: list[str]) -> None:
        self.forwards = False
        self._options = options
        self._further = further

    def run(self) -> None:
        """Until a child ends, which is a RunError, or a signal comes, which is a StopRequested."""
        options = self._options
        front = ports.parse("--port", options.port)
        cpu = ports.parse("--cpu-port", options.cpu_port)
        ports.check_unique([*front, *cpu])
        ports.check_pipes([*front, *cpu], int(options.pipes or 1))
        listening = {
            server: server.listen(text)
            for server, text in ((BFRT, options.bfrt), (P4RUNTIME, options.p4runtime))
        }
        if options.pipes and listening[BFRT] is not None:
            listening[BFRT] += ["--pipes", options.pipes]
        if options.cpu_interface:
            ports.check_cpu_interface(options.cpu_interface, front, cpu)
            if listening[P4RUNTIME] is None:
                raise RunError(
                    f"--cpu-interface {options.cpu_interface}: packets in and out are P4Runtime's; "
                    f"leave out {P4RUNTIME.option} {_OFF}",
                    status=2,
                )
            listening[P4RUNTIME] += ["--cpu-interface", options.cpu_interface]
        ports.check_interfaces([*front, *cpu])
        ports.check_permission()
        found = installation.find()
        programs = {name: found.program(name) for name in ("softswitch", "nodectl")}
        for server, arguments in listening.items():
            if arguments is not None:
                programs[server.program] = found.program(server.program)
        program = self._compiled(found)
        _say("ports", ", ".join(map(_described, [*front, *cpu])))

        with contextlib.ExitStack() as cleanup:
            # Below the temporary one, as nodes lock the directory of their sockets themselves.
            directory = cleanup.enter_context(temporary(Path(tempfile.gettempdir()))) / "nodes"
            directory.mkdir()
            children: list[Child] = []
            cleanup.enter_context(_ended_together(children))
            command = self._softswitch(programs["softswitch"], directory, program.library)
            children.append(Child("softswitch", command))
            node.wait_until(
                directory, children[0], "ping", lambda answer: answer["state"] == "forwarding"
            )
            for server, arguments in listening.items():
                if arguments is None:
                    continue
                command = [programs[server.program], "--directory", directory, *arguments]
                log = directory / f"{server.program}.log"
                child = Child(server.program, command, log)
                children.append(child)
                with _remedy(f"{server.option} 127.0.0.1:0 takes a port that is free"):
                    stats = node.wait_until(
                        directory, child, "stats", lambda answer: answer["program"] is not None
                    )
                _say(
                    server.title, f"{stats['address']}:{stats['port']}, program {stats['program']}"
                )
            _say("P4Info", str(program.p4info))
            if options.pcap_dir:
                _say("captures", f"{options.pcap_dir}/INTERFACE_in.pcap, INTERFACE_out.pcap")
            _say("control", shlex.join([str(programs["nodectl"]), "--directory", str(directory)]))
            self.forwards = True
            _say("forwarding", "Ctrl-C ends it")
            ended = wait_for_an_end(children)
            raise RunError(f"{ended.name} {ended.how_it_ended()}; the others are ended, too")

    def _compiled(self, found: installation.Installation) -> cache.CompiledProgram:
        options = self._options
        chosen = compiler.find(options.compiler)
        began = time.monotonic()
        made: Translation = cli.translated(options)
        took = f"{options.program.stem}, translated in {time.monotonic() - began:.1f} s"
        if options.pcap_dir:
            make("--pcap-dir", options.pcap_dir)
        program = cache.compiled(
            options.program.stem, made, chosen, found, options.cache_dir,
            traced=options.trace is not None,
            begins=lambda: _say("compiling", f"{took}; with {chosen.version}"),
        )  # fmt: skip
        how = "compiled before, taken from the cache"
        if program.seconds is not None:
            how = f"compiled in {program.seconds:.1f} s"
        _say("program", f"{took}, {how}")
        return program

    def _softswitch(self, binary: Path, directory: Path, library: Path) -> list[str | Path]:
        options = self._options
        command: list[str | Path] = [binary, "--directory", directory, "--program", library]
        for option, given in (("--port", options.port), ("--cpu-port", options.cpu_port)):
            for text in given:
                command += [option, text]
        if options.pipes:
            command += ["--pipes", options.pipes]
        if options.pcap_dir:
            command += ["--pcap-dir", options.pcap_dir]
        if options.trace is not None:
            command += ["--trace", *filter(None, [options.trace])]
        return [*command, *self._further]


@contextlib.contextmanager
def _ended_together(children: list[Child]) -> Iterator[None]:
    """At the end; where that is a failure, what they said is printed."""
    try:
        yield
    except RunError:
        for child in reversed(children):
            sys.stderr.write(child.said())
        raise
    finally:
        end_all(children)


@contextlib.contextmanager
def _remedy(text: str) -> Iterator[None]:
    """What to do, behind what is said to be wrong."""
    try:
        yield
    except RunError as error:
        raise RunError(f"{error}; {text}", error.status) from error


def _described(port: ports.PortArgument) -> str:
    down = "" if ports.is_up(port.interface) else f" (down: ip link set {port.interface} up)"
    return f"{port.number} = {port.interface}{down}"


def _say(what: str, text: str) -> None:
    print(f"{what:<12}{text}", flush=True)

"""bf_switchd: its arguments, log, ports and signals."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

from .cli import Cli
from .dataplane import Dataplane, DataplaneError
from .machine import Machine, here
from .ports import Ports

WITH_VALUE = {
    "--install-dir": None,
    "--conf-file": None,
    "--status-port": None,
    "--bfrt-grpc-port": "50052",
    "--tcp-port-base": "8001",
    "--skip-hld": None,
    "--init-mode": "cold",
    "--p4rt-server": None,
}
FLAGS = (
    *("--background", "--skip-p4", "--skip-port-add", "--skip-dma", "--kernel-pkt", "--ucli"),
    *("--shell-no-wait", "--server-listen-local-only"),
)
USAGE = (
    "Usage: bf_switchd --install-dir <path> --conf-file <file> [OPTIONS]...\n\n Options:\n"
    + "\n".join(f"  {name}" for name in ("--help", *WITH_VALUE, *FLAGS))
)
BANNER = """
     ********************************************
     *      WARNING: Authorised Access Only     *
     ********************************************

bfshell> """
CLI_PORT = 9999
IGNORED_S = 300


def main(argv: list[str]) -> int:
    options = parse(argv[1:])
    if options is None:
        print(USAGE)
        return 0
    for name in ("--install-dir", "--conf-file"):
        if not options[name]:
            print(f"ERROR: {name} must be specified\n{USAGE}")
            return 0
    machine = here()
    if machine.settings["needs_root"] and os.geteuid() != 0:
        print("ERROR: must run sudo for DMA")
        return 1
    return Switchd(machine, options).run()


def parse(words: list[str]) -> dict[str, Any] | None:
    """Options by name; None: one of them is unknown, or help was asked for."""
    options: dict[str, Any] = WITH_VALUE | dict.fromkeys(FLAGS, False)
    words = [part for word in words for part in word.split("=", 1)]
    while words:
        word = words.pop(0)
        if word in FLAGS:
            options[word] = True
        elif word in WITH_VALUE and words:
            options[word] = words.pop(0)
        else:
            return None
    return options


class Switchd:
    def __init__(self, machine: Machine, options: dict[str, Any]) -> None:
        self._machine, self._options = machine, options
        self._ready = False
        self._end = threading.Event()
        self._ports = Ports(machine)
        self._dataplane: Dataplane | None = None
        local = options["--server-listen-local-only"]
        self._address = "127.0.0.1" if local else "0.0.0.0"

    def run(self) -> int:
        self._take_signals()
        self._log(f"Install dir: {self._options['--install-dir']} (0x55d0)")
        if self._options["--status-port"]:
            self._serve(int(self._options["--status-port"]), self._answer_status)
        self._log("bf_switchd: system services initialized")
        conf = Path(self._options["--conf-file"])
        self._log(f"bf_switchd: loading conf_file {conf}...")
        programs = self._load(conf)
        if programs is None:
            return self._fail_conf()
        if self._options["--kernel-pkt"] and not self._has_module("bf_kpkt"):
            self._log("ERROR: kernel mode packet driver not loaded. Exiting!")
            return 255
        if not self._start(programs):
            self._end.wait()
            return 0
        if not self._options["--background"]:
            return self._shell()
        self._end.wait()
        return 0

    def _start(self, programs: list[dict[str, Any]]) -> bool:
        self._log("bf_switchd: processing device configuration...")
        if self._has_module("bf_kdrv") or self._has_module("bf_kpkt"):
            self._log("Operational mode set to ASIC")
            self._log("ASIC detected at PCI /sys/class/bf/bf0/device")
            self._log("ASIC pci device id is 16")
        else:
            self._log("Operational mode set to default: MODEL")
        self._log("bf_switchd: agent[0] initialized")
        self._log("Starting PD-API RPC server on port 9090")
        self._log("bf_switchd: drivers initialized")
        for file in missing_files(programs, Path(self._options["--install-dir"])):
            self._log(f"ERROR: bf_switchd: device add failed (Object not found): {file}")
            return False
        self._log("bf_switchd: dev_id 0 initialized")
        self._log("bf_switchd: initialized 1 devices")
        if self._machine.has("crash_after_start"):
            self._log("Segmentation fault")
            os.kill(os.getpid(), signal.SIGKILL)
        most = 400 if self._machine.has("truncated_output") else None
        self._serve(CLI_PORT, lambda connection: Cli(connection, self._ports, most).serve())
        self._log("bf_switchd: spawning cli server thread")
        self._log(f"bf_switchd: server started - listening on port {CLI_PORT}")
        port = int(self._options["--bfrt-grpc-port"])
        if not self._machine.has("grpc_refused"):
            try:
                self._start_bfrt(programs[0]["program-name"], port)
            except DataplaneError as error:
                self._log(f"ERROR: fake chip: {error}")
                return True
            self._log(f"bfruntime gRPC server started on {self._address}:{port}")
        self._ready = not self._machine.has("never_ready")
        return True

    def _start_bfrt(self, program: str, port: int) -> None:
        """The chip runs the program; BF Runtime answers at the port."""
        from .bfrt import BfRuntime  # noqa: PLC0415  half a second, which --help does not wait for

        if self._machine.has("other_schema"):
            program = self._machine.settings["other_program"]
        self._dataplane = Dataplane(self._machine, program, self._ports)
        upstream = self._dataplane.start()
        self._bfrt = BfRuntime(self._machine, self._ports, self._dataplane, upstream)
        self._bfrt.serve(f"{self._address}:{port}")

    def _load(self, conf: Path) -> list[dict[str, Any]] | None:
        try:
            document = json.loads(conf.read_text())
            return [
                program for device in document["p4_devices"] for program in device["p4_programs"]
            ]
        except OSError:
            self._log(f"ERROR: Could not open conf file {conf}")
            self._log("ERROR: Loading conf_file failed : -2")
        except (ValueError, KeyError) as error:
            self._log(f"ERROR: Error in config file at line {getattr(error, 'lineno', 1)}")
            self._log("ERROR: Loading conf_file failed : -22")
        return None

    def _fail_conf(self) -> int:
        """What follows is undefined in the real one: each of these has been seen or is possible."""
        ending = self._machine.settings["conf_failure"]
        if ending == "crash":
            signal.signal(signal.SIGSEGV, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGSEGV)
        if ending == "hang":
            self._end.wait()
        return 1

    def _has_module(self, name: str) -> bool:
        with self._machine.state("modules", []) as loaded:
            return name in loaded

    def _log(self, text: str) -> None:
        time.sleep(self._machine.settings["line_delay_s"])
        print(text, flush=True)

    def _take_signals(self) -> None:
        started = time.monotonic()

        def quit_in_order(number: int, _: Any) -> None:
            if self._machine.has("sigterm_ignored") and time.monotonic() - started < IGNORED_S:
                return
            print(f"bf_switchd: Received signal {number}. Quitting!", flush=True)
            self._end.set()
            if self._dataplane:
                self._dataplane.stop()
            os._exit(0)

        def hint(_: int, __: Any) -> None:
            print("Use Ctrl-\\ to quit", flush=True)

        signal.signal(signal.SIGTERM, quit_in_order)
        signal.signal(signal.SIGQUIT, quit_in_order)
        signal.signal(signal.SIGINT, hint)

    def _serve(self, port: int, answer: Any) -> None:
        server = socket.socket()
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            server.bind((self._address, port))
        except OSError:
            print(f"ERROR: bind failed: Address already in use (port {port})", flush=True)
            os._exit(1)
        server.listen()

        def accept() -> None:
            while True:
                connection, _ = server.accept()
                threading.Thread(target=answer, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()

    def _answer_status(self, connection: socket.socket) -> None:
        """One digit in, the device; one out, whether it is ready."""
        with connection:
            device = connection.recv(1)
            if device:
                connection.sendall(b"1" if self._ready and device == b"0" else b"0")

    def _shell(self) -> int:
        print(BANNER, end="", flush=True)
        for _ in sys.stdin:
            print("bfshell> ", end="", flush=True)
        return 0


def missing_files(programs: list[dict[str, Any]], install: Path) -> list[Path]:
    """Of those that a conf names: relative ones are below the install directory."""
    named = [program.get("bfrt-config") for program in programs]
    for program in programs:
        for pipeline in program.get("p4_pipelines", []):
            named += [pipeline.get("context"), pipeline.get("config")]
    return [path for path in (install / name for name in named if name) if not path.is_file()]

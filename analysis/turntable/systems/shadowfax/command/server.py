"""shadowfax-server: the original's server.py, in front of hlserver."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from turntable.systems.shadowfax.command import flags, log_directory
from turntable.systems.shadowfax.command.program import Program, debugged, path_of
from turntable_core.errors import TurntableError
from turntable_core.text_table import size

_BUCKET_BYTES = 64
_MILLION = 2**20  # of buckets, as the original counts them
_GIB = 2**30
_MEMORY_SHARE = 0.8  # of what is available
_MEMINFO = Path("/proc/meminfo")


def main(words: Sequence[str] | None = None) -> int:
    """0: it was told to end; 1: hlserver failed; 2: refused."""
    options = _parser().parse_args(words)
    try:
        flags.refuse_what_is_not_here(options)
        if options.action == "compile":
            print(f"nothing is compiled for a run; {path_of('hlserver')} takes any size of values")
            return 0
        return _run(options)
    except (TurntableError, OSError) as error:
        print(f"shadowfax-server: {error}", file=sys.stderr)
        return 2


def _run(options: argparse.Namespace) -> int:
    of_program = arguments(options)
    require_memory(options, available_bytes())
    argv = debugged([str(path_of("hlserver", options.binary)), *of_program], debugs=options.debug)
    options.logDisk.mkdir(parents=True, exist_ok=True)
    directory = log_directory.make(options.logs, "server", datetime.now())
    log = log_directory.Log(directory / f"server{server_id(options)}.log")
    for note in notes(options):
        log.lines.info("%s", note)
    program = Program(argv, log)
    with program.is_told_of_signals():
        for line in program.output():
            log.lines.info("%s", line.rstrip())  # ready, and its ports
        status = program.wait()
    log.lines.log(20 if status == 0 else 40, "hlserver has ended with %d", status)
    log.close()
    return 0 if status == 0 else 1


def server_id(options: argparse.Namespace) -> int:
    """Its number in a cluster; else, if none is given, 16 bits of the address."""
    if options.id is not None or options.metadata:
        return options.id or 0
    digits = [int(part) for part in options.ip.split(".") if part.isdigit()]
    return (digits[-2] << 8 | digits[-1]) & 0xFFFF if len(digits) > 1 else 0


def arguments(options: argparse.Namespace) -> list[str]:
    """Of hlserver."""
    words = [
        *("--address", options.ip, "--base-port", options.basePort, "--threads", options.threads),
        *("--index-bits", options.buckets + _MILLION.bit_length() - 1),
        *("--log-mb", max(1, round(options.logSizeGB * 1024)), "--page-bits", options.page_bits),
        *("--mutable-share", options.mutableFraction, "--file", options.logDisk / "hlog"),
        *("--spin-us", options.spin_us, "--capacity", options.capacity),
        *("--compact-above-mb", options.compact_above_mb),
    ]
    if options.lock and options.splits:
        raise TurntableError("--lock and --splits: expected one of them at most")
    if options.lock:
        words += ["--range-check", "lock"]
    if options.splits:
        words += ["--range-check", "splits", "--splits", options.splits]
    if options.checkpoint:
        words += ["--checkpoint", options.checkpoint, "--checkpoint-s", options.checkpoint_s]
    if options.secret:
        words += ["--secret", options.secret]
    if options.metadata:
        words += ["--metadata", options.metadata]
        words += ["--number", server_id(options)]
    return [str(word) for word in words]


def notes(options: argparse.Namespace) -> list[str]:
    """Of flags that change nothing here."""
    found = {
        "no_indirection": "--no-indirection: as it is, unless hlmigrate says --indirection",
        "strict_pending": "--strict-pending: where too much is pending, a batch is always refused",
        "compile_value": "--compile-value: a server has values of all sizes; clients say theirs",
        "compile_debug": "--compile-debug: programs always have what gdb needs",
    }
    return [note for name, note in found.items() if getattr(options, name)]


def require_memory(options: argparse.Namespace, available: int) -> None:
    """Index and log have to fit into 80 % of what is available. (The original counts the index with
    64 bytes for a million buckets.)
    """
    index = _BUCKET_BYTES * _MILLION << options.buckets
    log = round(options.logSizeGB * _GIB)
    most = int(_MEMORY_SHARE * available)
    if index + log <= most:
        return
    raise TurntableError(
        f"--buckets {options.buckets} --logSizeGB {options.logSizeGB:g}: index of {size(index)} "
        f"({2**options.buckets} million buckets of 64 bytes), log of {size(log)}; expected at most "
        f"{size(most)} together, 80 % of the memory that is available. Give smaller ones, such as "
        "--buckets 0 --logSizeGB 1"
    )


def available_bytes() -> int:
    for line in _MEMINFO.read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    raise TurntableError(f"{_MEMINFO} does not say MemAvailable")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="shadowfax-server",
        description="A server of a hybrid-log store, with the flags of the original's server.py",
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="compile|run")
    compiles = actions.add_parser("compile", help="says that nothing has to be compiled")
    flags.add_compile_flags(compiles, **{"--compile-blobs": "a tier of cloud storage"})
    run = actions.add_parser("run", help="serves until it is told to end")
    _add_original(run)
    _add_others(run)
    return parser


def _add_original(run: argparse.ArgumentParser) -> None:
    run.add_argument("--ip", required=True, metavar="ADDR", help="where it listens")
    run.add_argument("--id", type=int, metavar="N", help="default: of the address")
    processors = len(os.sched_getaffinity(0))
    run.add_argument("--threads", type=int, default=processors, metavar="N", help="workers")
    run.add_argument(
        "--buckets", type=int, default=7, choices=range(21), metavar="BITS",
        help="of the index: 2^BITS million; default 7",
    )  # fmt: skip
    run.add_argument(
        "--logSizeGB", type=float, default=16, metavar="N", help="of the log in memory"
    )
    run.add_argument(
        "--logDisk", type=Path, default=Path("storage"), metavar="DIR", help="has hlog"
    )
    run.add_argument("--binary", type=Path, metavar="PATH", help="default: build/bin/hlserver")
    run.add_argument("--debug", action="store_true", help="under gdb")
    run.add_argument("--dfsKey", metavar="STR", help="not here")
    run.add_argument("--pinirq", action="store_true", help="not here")
    run.add_argument("--no-indirection", action="store_true", help="as it is")
    run.add_argument("--strict-pending", action="store_true", help="as it always is")
    run.add_argument("--splits", type=int, metavar="N", help="keys are looked up in N ranges, too")
    run.add_argument("--lock", action="store_true", help="batches share a lock, too")
    flags.add_compile_flags(run, **{"--compile-blobs": "not here"})


def _add_others(run: argparse.ArgumentParser) -> None:
    more = run.add_argument_group("that the original's script does not have")
    more.add_argument(
        "--basePort", type=int, default=22790, metavar="N", help="of the first worker"
    )
    more.add_argument("--mutableFraction", type=float, default=0.9, metavar="SHARE")
    more.add_argument("--page-bits", type=int, default=20, metavar="N", help="pages of 2^N bytes")
    more.add_argument("--spin-us", type=float, default=50, metavar="N", help="before it waits")
    more.add_argument("--capacity", type=float, default=0, metavar="N", help="operations/s at most")
    more.add_argument("--compact-above-mb", type=int, default=0, metavar="N", help="0: never")
    more.add_argument("--checkpoint", type=Path, metavar="FILE", help="makes and recovers them")
    more.add_argument("--checkpoint-s", type=float, default=2, metavar="N")
    more.add_argument("--metadata", metavar="HOST:PORT", help="of hlmeta: keys may move")
    more.add_argument("--secret", type=Path, metavar="FILE", help="that clients and servers prove")
    more.add_argument(
        "--logs", type=Path, default=Path("logs"), metavar="DIR", help="default: logs"
    )


if __name__ == "__main__":
    sys.exit(main())

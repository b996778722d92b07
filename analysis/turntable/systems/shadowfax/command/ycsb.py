"""shadowfax-ycsb: the original's ycsb.py, in front of hlload."""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from turntable.percentiles import percentile_us
from turntable.systems.shadowfax.command import flags, log_directory
from turntable.systems.shadowfax.command.program import Program, debugged, path_of
from turntable_core.errors import TurntableError
from turntable_systems.shadowfax import batches

_TYPES: Mapping[str, tuple[float, float]] = {  # share of reads, of upserts; the rest are additions
    "YCSB-A": (0.5, 0.5),
    "YCSB-B": (0.95, 0.05),
    "YCSB-C": (1, 0),
    "YCSB-D": (0.95, 0.05),
    "YCSB-F": (0, 0),
}
_BEGINS = "hlload: the load begins"
_SAMPLES = "samples.data"


def main(words: Sequence[str] | None = None) -> int:
    """0: done; 1: hlload failed; 2: refused."""
    options = _parser().parse_args(words)
    try:
        flags.refuse_what_is_not_here(options)
        if options.action == "compile":
            print(f"nothing is compiled for a run; {path_of('hlload')} takes any size of values")
            return 0
        return _run(options)
    except (TurntableError, OSError) as error:
        print(f"shadowfax-ycsb: {error}", file=sys.stderr)
        return 2


def _run(options: argparse.Namespace) -> int:
    argv = debugged(
        [str(path_of("hlload", options.binary)), *arguments(options)], debugs=options.debug
    )
    migrating = migration(options)
    directory = log_directory.make(options.logs, "client", datetime.now())
    log = log_directory.Log(directory / "ycsb.log")
    timers: list[threading.Timer] = []

    def migrate() -> None:
        status = _run_to_its_end(migrating, log)
        log.lines.log(20 if status == 0 else 40, "hlmigrate has ended with %d", status)

    def at_line(line: str) -> None:
        if migrating and line.startswith(_BEGINS):
            timers.append(threading.Timer(options.warmup + options.migrate_at, migrate))
            timers[-1].start()

    program = Program(argv, log, at_line)
    with program.is_told_of_signals():
        output = "".join(program.output())
        status = program.wait()
    for timer in timers:
        timer.cancel()
        timer.join()
    try:
        found = json.loads(output) if output else None
    except ValueError:
        found = None
    if found is not None:
        _report(options, found, directory, log)
    if status != 0 or found is None:
        log.lines.error("hlload has ended with %d", status)
    log.close()
    return 0 if status == 0 and found is not None else 1


def _run_to_its_end(argv: Sequence[str], log: log_directory.Log) -> int:
    program = Program(argv, log)
    for line in program.output():
        log.lines.info("%s", line.rstrip())
    return program.wait()


def _report(
    options: argparse.Namespace, found: Mapping[str, Any], directory: Path, log: log_directory.Log
) -> None:
    if filled := found.get("fill"):
        rate = filled["stored"] / filled["seconds"] / 1e6
        log.lines.info(
            "Filled %d keys in %.1f s (%.3f Mops/sec)", filled["stored"], filled["seconds"], rate
        )
    if "operations" not in found:
        return
    log.lines.info("Throughput: %.3f Mops/sec", found["operations_per_s"] / 1e6)
    median_us = percentile_us((found["round_trip_ns"],), 50)
    if median_us is not None:
        log.lines.info("Median latency of a batch: %.2f us", median_us)
        law_us = _law_us(options, found)
        log.lines.info(
            "  (a full pipeline's round trip; Little's law asks for a mean of %.2f us)", law_us
        )
    if options.sample:
        (directory / _SAMPLES).write_text(samples(found))
        log.lines.info("Samples: %s", directory / _SAMPLES)


def _law_us(options: argparse.Namespace, found: Mapping[str, Any]) -> float:
    under_way = options.threads * len(options.servers) * options.pipelining * operations(options)
    return under_way / found["operations_per_s"] * 1e6


def samples(found: Mapping[str, Any]) -> str:
    """samples.data: answered in an interval, in all and by the first and the last server, and what
    was answered as pending in it.
    """
    seconds = found["sample_ns"] / 1e9
    lines = ["TimeSec ThroughputMops Pending Source Target"]
    for number, sample in enumerate(found["samples"], start=1):
        servers = sample["by_server"]
        source = servers[0] if servers else 0
        target = servers[-1] if len(servers) > 1 else 0
        mops = [count / seconds / 1e6 for count in (sample["operations"], source, target)]
        lines.append(
            f"{number * seconds:.3f} {mops[0]:.6f} {sample['pending']} {mops[1]:.6f} {mops[2]:.6f}"
        )
    return "\n".join(lines) + "\n"


def operations(options: argparse.Namespace) -> int:
    """That fit into a batch of so many bytes."""
    parameters = {"value_bytes": options.compile_value or 8, "batch_operations": 0}
    behind_header = options.batch_size - batches.batch_bytes(parameters)
    count = behind_header // batches.request_bytes(parameters)
    if not 1 <= count <= batches.most_operations(parameters):
        least = batches.batch_bytes(parameters | {"batch_operations": 1})
        most = batches.batch_bytes(
            parameters | {"batch_operations": batches.most_operations(parameters)}
        )
        raise TurntableError(f"--batch-size {options.batch_size}: expected {least} to {most} bytes")
    return count


def arguments(options: argparse.Namespace) -> list[str]:
    """Of hlload."""
    if bool(options.loadFile) != bool(options.txnsFile):
        raise TurntableError("--loadFile and --txnsFile: expected both, or none of them")
    if options.splits:
        raise TurntableError("--splits: servers look keys up; expected `server run --splits N`")
    if options.no_fill and options.no_ycsb:
        raise TurntableError("--no-fill and --no-ycsb: expected one of them at most")
    reads, upserts = _TYPES[options.type]
    words: list[Any] = [
        *("--base-port", options.serverBasePort, "--workers", options.threads),
        *("--threads", options.threads, "--keys", options.nKeys),
        *("--reads", reads, "--upserts", upserts, "--batch", operations(options)),
        *("--value-bytes", options.compile_value or 8, "--pipeline", options.pipelining),
        *("--seconds", options.duration, "--warmup", options.warmup),
        *("--sample-ms", options.measureInMs, "--theta", options.theta, "--rate", options.rate),
    ]
    if options.secret:
        words += ["--secret", options.secret]
    if options.metadata:
        words += ["--metadata", options.metadata]
    else:
        words += ["--servers", ",".join(options.servers)]
    if options.loadFile:
        _require_keys(options.txnsFile, options.nTxns)
        words += ["--load-file", options.loadFile, "--txns-file", options.txnsFile]
    if not options.no_fill:
        words.append("--fill-only" if options.no_ycsb else "--fill")
    return [str(word) for word in words]


def _require_keys(path: Path, count: int | None) -> None:
    size = path.stat().st_size
    if count is not None and size != 8 * count:
        raise TurntableError(
            f"{path} has {size} bytes; expected {8 * count}: 8 for each of {count} (--nTxns)"
        )


def migration(options: argparse.Namespace) -> list[str]:
    """hlmigrate's command line: the first server gives to the last one. Empty: nothing moves."""
    if not options.migrate:
        return []
    if not options.metadata or not options.secret:
        raise TurntableError(
            "--migrate: expected --metadata and --secret too: hlmeta knows who owns which keys "
            "(docs/shadowfax-design.md §2)"
        )
    if len(options.servers) < 2:
        raise TurntableError(
            "--migrate: expected two servers or more, of which the last takes keys"
        )
    return [
        *(str(path_of("hlmigrate")), "--metadata", options.metadata),
        *("--secret", str(options.secret), "--from", "0", "--to", str(len(options.servers) - 1)),
        *("--share", str(options.migrate_percent / 100)),
        *(("--indirection",) if options.indirection else ()),
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="shadowfax-ycsb",
        description="Clients of hybrid-log stores, with the flags of the original's ycsb.py",
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="compile|run")
    flags.add_compile_flags(
        actions.add_parser("compile", help="says that nothing has to be compiled")
    )
    run = actions.add_parser("run", help="fills the servers, then loads them")
    _add_original(run)
    _add_others(run)
    return parser


def _add_original(run: argparse.ArgumentParser) -> None:
    processors = len(os.sched_getaffinity(0))
    run.add_argument(
        "--servers", required=True, type=lambda text: text.split(","), metavar="A,B,…",
        help="addresses",
    )  # fmt: skip
    run.add_argument(
        "--type", default="YCSB-F", choices=_TYPES, help="F is additions alone, as in the original"
    )
    run.add_argument(
        "--threads",
        type=int,
        default=processors,
        metavar="N",
        help="as many as servers have workers",
    )
    run.add_argument("--nKeys", type=int, default=250_000_000, metavar="N")
    run.add_argument("--nTxns", type=int, metavar="N", help="keys of --txnsFile")
    run.add_argument("--loadFile", type=Path, metavar="FILE", help="keys to be stored")
    run.add_argument("--txnsFile", type=Path, metavar="FILE", help="keys of the requests")
    run.add_argument("--duration", type=float, default=360, metavar="S", help="default 360")
    run.add_argument("--batch-size", type=int, default=32768, metavar="BYTES", help="default 32768")
    run.add_argument("--sample", action="store_true", help=f"writes {_SAMPLES} beside the log")
    run.add_argument("--no-fill", action="store_true", help="keys are there")
    run.add_argument("--no-ycsb", action="store_true", help="stores the keys, and ends")
    run.add_argument("--binary", type=Path, metavar="PATH", help="default: build/bin/hlload")
    run.add_argument("--debug", action="store_true", help="under gdb")
    run.add_argument("--pinirq", action="store_true", help="not here")
    run.add_argument(
        "--migrate", action="store_true", help="the first server gives keys to the last"
    )
    run.add_argument("--migrate-percent", type=float, default=10, metavar="N", help="of its keys")
    run.add_argument("--migrate-at", type=float, default=120, metavar="S", help="default 120")
    run.add_argument("--splits", type=int, metavar="N", help="is the servers'")
    run.add_argument("--compact", action="store_true", help="not here")
    run.add_argument("--compact-until", type=float, metavar="GB", help="not here")
    run.add_argument("--compact-at", type=float, metavar="S", help="not here")
    flags.add_compile_flags(run)


def _add_others(run: argparse.ArgumentParser) -> None:
    more = run.add_argument_group("that the original's script does not have")
    more.add_argument("--pipelining", type=int, default=2, metavar="N", help="batches under way")
    more.add_argument("--serverBasePort", type=int, default=22790, metavar="N")
    more.add_argument("--measureInMs", type=float, default=100, metavar="N", help="of a sample")
    more.add_argument("--warmup", type=float, default=0.5, metavar="S")
    more.add_argument("--theta", type=float, default=0, metavar="N", help="Zipfian; 0: uniform")
    more.add_argument("--rate", type=float, default=0, metavar="N", help="of an open loop")
    more.add_argument("--metadata", metavar="HOST:PORT", help="of hlmeta")
    more.add_argument("--secret", type=Path, metavar="FILE", help="that clients and servers prove")
    more.add_argument("--indirection", action="store_true", help="of --migrate: as the original's")
    more.add_argument(
        "--logs", type=Path, default=Path("logs"), metavar="DIR", help="default: logs"
    )


if __name__ == "__main__":
    sys.exit(main())

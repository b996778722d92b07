"""Runs the compiler on one program."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from p4soft.cli import translate
from p4soft.errors import P4Error

from . import p4infos, schemas
from .reports import ReportError, Usage, read_usage

TIMEOUT_S = 900
# Headers with a value are 240 bytes; the compiler allows 160, what egress parses at line rate.
DEEP_PARSERS = "-Xp4c=--disable-parse-max-depth-limit"


@dataclass(frozen=True)
class Result:
    """Of one program. It fits if there is nothing in `wrong`."""

    program: str
    status: int | None  # the compiler's; None: it took too long
    usage: Usage | None
    wrong: list[str] = field(default_factory=list)


def compile_program(
    p4c: Path, program: Path, directory: Path, limit_s: float = TIMEOUT_S
) -> Result:
    """Compiles for Tofino 1 into `directory`; what the compiler says, and its P4Info, go to files
    beside it, for it empties the directory.
    """
    directory.mkdir(parents=True, exist_ok=True)
    log = directory.with_name(f"{directory.name}.log")
    p4info = directory.with_name(f"{directory.name}.p4info.txtpb")
    p4info.unlink(missing_ok=True)
    target = ["--target", "tofino", "--arch", "tna", "-g", DEEP_PARSERS]
    # Without the second option, counters and the like are objects that only an SDE knows.
    runtime = ["--p4runtime-files", p4info, "--p4runtime-force-std-externs"]
    command = [p4c, *target, *runtime, "-o", directory, program]
    status = _run(command, directory.parent, log, limit_s)
    name = program.stem
    if status is None:
        return Result(name, None, None, [f"not compiled within {limit_s:.0f} s; see {log}"])
    if status != 0:
        return Result(name, status, None, [_first_error(log)])
    wrong = [] if list(directory.rglob("tofino.bin")) else [f"no tofino.bin; see {log}"]
    try:
        return Result(
            name, status, read_usage(directory), wrong + _control(program, directory, p4info)
        )
    except ReportError as error:
        return Result(name, status, None, [*wrong, str(error)])


def _run(command: list[str | Path], place: Path, log: Path, limit_s: float) -> int | None:
    """The exit status; None: it did not end in time, and was ended with all that it had started,
    for the compiler is a script that runs others.
    """
    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=place, stdout=output, stderr=output, start_new_session=True
        )
        try:
            return process.wait(limit_s)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _first_error(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()
    errors = [line for line in lines if "error:" in line.lower()]
    return f"{(errors or lines or ['nothing was said'])[0].strip()}; see {log}"


def _control(program: Path, directory: Path, p4info: Path) -> list[str]:
    """Where p4soft's bfrt.json or P4Info says something else than the compiler's."""
    compiled = sorted(directory.rglob("bfrt.json"))
    if len(compiled) != 1:
        return [f"{directory} holds {len(compiled)} files bfrt.json, expected one"]
    if not p4info.exists():
        return [f"the compiler left no {p4info}"]
    try:
        ours = translate(program, [program.parent], {})
    except P4Error as error:
        return [f"p4soft refuses it: {error}"]
    return [
        *schemas.differences(json.loads(ours.schema), json.loads(compiled[0].read_text())),
        *(f"P4Info: {line}" for line in p4infos.differences(ours.p4info, p4info.read_text())),
    ]

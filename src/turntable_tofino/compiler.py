"""Runs the compiler on one program."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from p4soft.cli import translate
from p4soft.errors import P4Error

from .reports import ReportError, Usage, read_usage
from .schemas import differences

TIMEOUT_S = 900
# Headers with a value are 240 bytes; the compiler allows 160, what egress parses at line rate.
DEEP_PARSERS = "-Xp4c=--disable-parse-max-depth-limit"


@dataclass(frozen=True)
class Result:
    """Of one program. It fits if there is nothing in `wrong`."""

    program: str
    status: int  # the compiler's
    usage: Usage | None
    wrong: list[str] = field(default_factory=list)


def compile_program(p4c: Path, program: Path, directory: Path) -> Result:
    """Compiles for Tofino 1 into `directory`; what the compiler says goes to a file beside it, for
    it empties the directory.
    """
    directory.mkdir(parents=True, exist_ok=True)
    log = directory.with_name(f"{directory.name}.log")
    target = ["--target", "tofino", "--arch", "tna"]
    command = [p4c, *target, "-g", DEEP_PARSERS, "-o", directory, program]
    with log.open("w") as output:
        status = subprocess.run(
            command,
            cwd=directory.parent,
            stdout=output,
            stderr=output,
            timeout=TIMEOUT_S,
            check=False,
        ).returncode
    name = program.stem
    if status != 0:
        return Result(name, status, None, [_first_error(log)])
    wrong = [] if list(directory.rglob("tofino.bin")) else [f"no tofino.bin; see {log}"]
    try:
        return Result(name, status, read_usage(directory), wrong + _schema(program, directory))
    except ReportError as error:
        return Result(name, status, None, [*wrong, str(error)])


def _first_error(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()
    errors = [line for line in lines if "error:" in line.lower()]
    return f"{(errors or lines or ['nothing was said'])[0].strip()}; see {log}"


def _schema(program: Path, directory: Path) -> list[str]:
    """Where p4soft's bfrt.json says something else than the compiler's."""
    compiled = sorted(directory.rglob("bfrt.json"))
    if len(compiled) != 1:
        return [f"{directory} holds {len(compiled)} files bfrt.json, expected one"]
    try:
        ours = translate(program, [program.parent], {}).schema
    except P4Error as error:
        return [f"p4soft refuses it: {error}"]
    return differences(json.loads(ours), json.loads(compiled[0].read_text()))

"""What each method's P4 program takes of a switch: experiment 10 of the paper, which measures no
traffic.

p4soft counts what a program declares. What of a chip that takes only the Tofino compiler knows:
its reports are read where there are any.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from p4soft.usage import Declared, declared
from turntable.grid import Column, lines
from turntable.results import EXPERIMENTS
from turntable_core import files
from turntable_core.errors import TurntableError
from turntable_core.files import digest_of_file
from turntable_core.reference import Reference
from turntable_systems.farreach.methods import EVERY
from turntable_tofino.compiler import compile_program
from turntable_tofino.reports import ReportError, Usage, read_usage

EXPERIMENT = "farreach_exp10_resources"
TITLE = "Resources of the switch by method"
SUMMARY, FACTS, PAGE = "summary.csv", "resources.json", "report.html"
NO_REPORTS = "no reports: `make tofino P4C=...` makes them, or -e p4c=PATH"

DECLARED = tuple(Declared.__dataclass_fields__)
COMPILED = (
    "stages", "ingress_stages", "egress_stages", "stateful_alus", "sram_blocks", "tcam_blocks",
    "phv_8", "phv_16", "phv_32",
)  # fmt: skip
COLUMNS = (
    *("experiment", "profile", "fidelity_class", "system", "method"),
    *(*DECLARED, *COMPILED),
    *("compiler", "verdict"),
)


@dataclass(frozen=True)
class Program:
    """Of one method."""

    method: str
    declared: Declared
    schema_digest: str  # SHA-256 of what was counted
    compiled: Usage | None
    compiler: str  # what its numbers are of, or why there are none

    def value(self, resource: str) -> int | None:
        return self.values[resource]

    @property
    def values(self) -> dict[str, int | None]:
        return asdict(self.declared) | _compiled(self.compiled)


def read_programs(build: Path, sources: Path) -> list[Program]:
    """build: with lib/p4 and, if the compiler was asked, tofino; sources: p4/."""
    return [_read(method, build, sources) for method in EVERY]


def compile_programs(p4c: Path, sources: Path, output: Path) -> None:
    """By the Tofino compiler, whose reports are then below `output`."""
    for method in EVERY:
        result = compile_program(p4c, sources / method / f"{method}.p4", output / method)
        if result.wrong:
            raise TurntableError(f"{method}: {'; '.join(result.wrong)}")


def write(directory: Path, programs: Sequence[Program], profile: str) -> str:
    """Summary and facts into the run's directory; returns the table for a terminal."""
    directory.mkdir(parents=True, exist_ok=True)
    counted = [
        {"method": p.method, "schema_digest": p.schema_digest, "compiler": p.compiler, **p.values}
        for p in programs
    ]
    facts = {"experiment": EXPERIMENT, "profile": profile, "programs": counted}
    files.replace(directory / FACTS, (json.dumps(facts, indent=1) + "\n").encode())
    files.replace(directory / SUMMARY, _summary(programs, profile).encode())
    return table(programs)


def artifact(method: str, resource: str) -> float | None:
    """Of the artifact's own program."""
    return Reference(EXPERIMENTS / "reference" / f"{EXPERIMENT}.csv").value(
        resource, {"method": method}
    )


def is_known(resource: str, programs: Sequence[Program]) -> bool:
    """Of any program, here or of the artifact."""
    return any(p.value(resource) is not None for p in programs) or any(
        artifact(p.method, resource) is not None for p in programs
    )


def table(programs: Sequence[Program]) -> str:
    columns = [
        Column("", "resource", "resource", ""),
        *(Column("here", program.method, program.method, ",.0f") for program in programs),
        *(Column("artifact", p.method, f"artifact {p.method}", ",.0f") for p in programs),
    ]
    groups = (("declared, counted by p4soft", DECLARED), ("Tofino compiler", COMPILED))
    text = [TITLE, ""]
    for title, resources in groups:
        rows = [_row(resource, programs) for resource in resources if is_known(resource, programs)]
        text += [f"{title}:", *lines(columns, rows), ""]
    text += [f"{p.method}: {p.compiler}" for p in programs]
    text += ["artifact: calculated from its P4; the paper's table of resources was not found"]
    return "\n".join(text)


def _row(resource: str, programs: Sequence[Program]) -> dict[str, Any]:
    row: dict[str, Any] = {"resource": resource.replace("_", " ")}
    for program in programs:
        row[program.method] = program.value(resource)
        row[f"artifact {program.method}"] = artifact(program.method, resource)
    return row


def _read(method: str, build: Path, sources: Path) -> Program:
    path = build / "lib" / "p4" / f"{method}.bfrt.json"
    try:
        counted = declared(json.loads(path.read_bytes()))
    except FileNotFoundError:
        raise TurntableError(f"{path} does not exist; build it with `make programs`") from None
    compiled, said = _reports(build / "tofino" / method, sources, method)
    return Program(method, counted, digest_of_file(path), compiled, said)


def _reports(directory: Path, sources: Path, method: str) -> tuple[Usage | None, str]:
    reports = sorted(directory.rglob("resources.json"))
    if not reports:
        return None, NO_REPORTS
    of_program = [path for name in (method, "shared") for path in (sources / name).rglob("*.p4")]
    made_at = reports[0].stat().st_mtime
    if any(path.stat().st_mtime > made_at for path in of_program):
        return None, f"{directory}: its reports are older than the program; make them again"
    try:
        return read_usage(directory), f"reports in {directory}"
    except ReportError as error:
        return None, str(error)


def _compiled(usage: Usage | None) -> dict[str, int | None]:
    if usage is None:
        return dict.fromkeys(COMPILED)
    return {
        # Both directions share the stages of a pipe.
        "stages": max(usage.ingress_stages, usage.egress_stages),
        "ingress_stages": usage.ingress_stages,
        "egress_stages": usage.egress_stages,
        "stateful_alus": usage.stateful_alus,
        "sram_blocks": usage.sram_blocks,
        "tcam_blocks": usage.tcam_blocks,
        **{f"phv_{width}": usage.phv_containers.get(width, 0) for width in (8, 16, 32)},
    }


def _summary(programs: Sequence[Program], profile: str) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for program in programs:
        names = {
            "experiment": EXPERIMENT, "profile": profile, "fidelity_class": "compiled",
            "system": "farreach", "method": program.method, "compiler": program.compiler,
            "verdict": "valid",
        }  # fmt: skip
        writer.writerow(names | program.values)
    return text.getvalue()

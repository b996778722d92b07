"""Whether a switch that keeps its program runs the one of this checkout.

playbooks/switch.yml compiles a program on the switch, into a directory that keeps its sources
(plugins/modules/p4_compile.yml), and leaves a record of what it has started there
(plugins/modules/switchd.yml).
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from turntable_core.connections import Command, HostConnections
from turntable_core.errors import PhaseError, TurntableError
from turntable_core.files import digest_of_file
from turntable_core.plan import Cell
from turntable_core.programs import parse_digests
from turntable_core.switch import driver_of
from turntable_core.system import System
from turntable_core.systems import FURTHER
from turntable_core.testbed import SwitchHost, Testbed

_RECORD = "switchd/switchd.json"  # below the switch's run directory
_SOURCES = ("*.p4", "*.h", "*.p4h")
_DEADLINE_S = 30.0


def source_files(program: Path) -> list[Path]:
    """What the program may include: its directory and `shared` beside it."""
    places = (program.parent, program.parent.parent / "shared")
    found = (path for place in places for pattern in _SOURCES for path in place.rglob(pattern))
    return sorted(found)


def require_program(
    connections: HostConnections,
    testbed: Testbed,
    system: System,
    cells: Sequence[Cell],
    repository: Path,
) -> None:
    """Of cells that need one program (turntable_core.switch_checks).

    Raises TurntableError for another program, and for one of other sources. A program that
    playbooks/switch.yml has not started is not known here: the driver says what it finds.
    """
    switch = testbed.switch
    if switch is None or not system.needs_switch or not driver_of(switch).keeps_program:
        return
    program = system.switch_program(cells[0].parameters)
    conf = _conf(_said(connections, switch, f"cat {shlex.quote(f'{switch.run_dir}/{_RECORD}')}"))
    if conf is None:
        return
    advice = f"Run playbooks/switch.yml -e program={program} (docs/rack.md, Experiments)"
    if conf.stem != program:
        raise TurntableError(
            f"{switch.name} runs the P4 program {conf.stem}; expected {program}, which this run "
            f"needs. {advice}"
        )
    source = shlex.quote(str(conf.parent.parent / "source"))
    there = parse_digests(
        _said(connections, switch, f"cd {source} && find * -type f -exec sha256sum -- {{}} +")
    )
    here = _digests(program, repository)
    if there and here and there != here:
        other = sorted({path for path, digest in {*there.items()} ^ {*here.items()}})
        raise TurntableError(
            f"{switch.name} runs {program} of other sources than this checkout's: "
            f"{', '.join(other)}; expected the same. {advice}"
        )


def _conf(record: str) -> PurePosixPath | None:
    """Of the bf_switchd that was started; None where the record does not say."""
    try:
        argv = json.loads(record)["wanted"]["argv"]
        return PurePosixPath(argv[argv.index("--conf-file") + 1])
    except (ValueError, KeyError, IndexError, TypeError):
        return None


def _said(connections: HostConnections, switch: SwitchHost, line: str) -> str:
    """What a shell command prints; nothing if it fails on the switch."""
    outcome = connections.run([Command(switch.name, line)], _DEADLINE_S)[switch.name]
    if outcome.failure:
        raise PhaseError(outcome.failure, f"host {switch.name}: {outcome.message}")
    return outcome.stdout.decode(errors="replace") if outcome.status == 0 else ""


def _digests(program: str, repository: Path) -> dict[str, str]:
    """Path below p4/ -> SHA-256, of the checkout or of the further system that has the program."""
    for directory in (repository, *FURTHER):
        top = directory / "p4" / program / f"{program}.p4"
        if top.is_file():
            root = directory / "p4"
            paths = source_files(top)
            return {path.relative_to(root).as_posix(): digest_of_file(path) for path in paths}
    return {}

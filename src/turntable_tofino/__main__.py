"""Compiles programs for Tofino 1 and prints what each takes of the chip.

    python -m turntable_tofino --p4c /path/to/p4c --output build/tofino [PROGRAM.p4 ...]

Without programs, all of p4/. Exit status: 0 if every program fits and p4soft's bfrt.json and P4Info
say what the compiler's say, 1 if not, 2 for wrong usage (no compiler).
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from .compiler import Result, compile_program
from .reports import PHV_CONTAINERS, SRAM_BLOCKS, STAGES, TCAM_BLOCKS

REPOSITORY = Path(__file__).resolve().parents[2]
_HEADINGS = (
    "program", "exit", f"stages of {STAGES}", "stateful ALUs", f"SRAM of {SRAM_BLOCKS}",
    f"TCAM of {TCAM_BLOCKS}", "PHV " + ", ".join(f"{n} x {w}b" for w, n in PHV_CONTAINERS.items()),
)  # fmt: skip


def table(results: Sequence[Result]) -> str:
    """Stages are those of ingress + egress, PHV containers in the order of the heading."""
    rows = [_HEADINGS, *map(_row, results)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = zip(row, widths, strict=True)
        lines.append("  ".join(cell.ljust(width) for cell, width in cells).rstrip())
    return "\n".join(lines)


def _row(result: Result) -> tuple[str, ...]:
    usage = result.usage
    status = "-" if result.status is None else str(result.status)
    if usage is None:
        return (result.program, status, "-", "-", "-", "-", "-")
    return (
        result.program,
        status,
        f"{usage.ingress_stages} + {usage.egress_stages}",
        str(usage.stateful_alus),
        str(usage.sram_blocks),
        str(usage.tcam_blocks),
        ", ".join(str(usage.phv_containers.get(width, 0)) for width in PHV_CONTAINERS),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_arguments(arguments)
    results = []
    for program in options.programs:
        print(f"compiling {program.name}", flush=True)
        output = options.output.resolve() / program.stem
        results.append(compile_program(options.p4c, program.resolve(), output))
    print("\n" + table(results))
    for result in results:
        for line in result.wrong:
            print(f"{result.program}: {line}")
    return 1 if any(result.wrong for result in results) else 0


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="turntable_tofino", description=(__doc__ or "").split("\n\n")[0]
    )
    parser.add_argument("--p4c", default="p4c", help="the compiler; otherwise p4c of PATH")
    parser.add_argument("--output", type=Path, default=REPOSITORY / "build" / "tofino")
    parser.add_argument("programs", type=Path, nargs="*")
    options = parser.parse_args(arguments)
    found = shutil.which(options.p4c)
    if found is None:
        parser.error(
            f"no Tofino compiler: '{options.p4c}' is not to be found; expected P4C=/path/to/p4c of "
            "a p4c built with its Tofino back end, or p4c on PATH (docs/p4soft.md)"
        )
    options.p4c = Path(found).resolve()
    programs = REPOSITORY / "p4"
    options.programs = options.programs or [
        path for path in sorted(programs.glob("*/*.p4")) if path.stem == path.parent.name
    ]
    return options


if __name__ == "__main__":
    sys.exit(main())

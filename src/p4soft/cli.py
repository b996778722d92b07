"""The command line: `p4soft translate PROGRAM.p4 --output DIR [-I DIR] [-D NAME[=VALUE]]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from p4soft.check.action_profiles import align_actions
from p4soft.check.aliases import find_aliases
from p4soft.check.annotations import check_annotations
from p4soft.check.byte_counts import adjust_byte_counts
from p4soft.check.control_names import check_control_names
from p4soft.check.layouts import check_flexible_headers
from p4soft.check.lookups import check_lookups
from p4soft.check.members import check_members
from p4soft.check.overflows import overflows
from p4soft.check.port_metadata import find_port_metadata
from p4soft.check.program import check
from p4soft.check.registers import check_registers
from p4soft.check.validity import check_validity
from p4soft.dynamic_hashes import find_dynamic_hashes
from p4soft.elaborate import elaborate
from p4soft.emit.program import Translation, emit_program
from p4soft.errors import P4Error, P4Warning, Position
from p4soft.files import write_if_changed
from p4soft.frontend.program_parser import parse
from p4soft.options import OptionParser
from p4soft.run.directories import make
from p4soft.run.errors import RunError

INCLUDE = Path(__file__).parent / "include"
# So that shared P4 code can tell this translator from bf-p4c, if it must.
PREDEFINED = {"__P4SOFT__": "1"}
# A tree deeper than this is no program a person wrote; Python's default is reached by 200 nested
# parentheses.
RECURSION_LIMIT = 20_000


def translate(
    path: Path,
    include_directories: list[Path],
    defines: dict[str, str],
    warn: Callable[[P4Warning], None] | None = None,
    *,
    confined: bool = False,
) -> Translation:
    """What a program becomes; warnings only if there is a function for them. A confined one
    includes nothing but the files that p4soft brings.

    Raises P4Error, or OSError if a file cannot be read.
    """
    _check_file_name(path)
    shipped = frozenset(each.name for each in INCLUDE.iterdir() if each.suffix == ".p4")
    program = parse(
        path,
        [INCLUDE] if confined else [*include_directories, INCLUDE],
        {**PREDEFINED, **defines},
        warn,
        shipped if confined else None,
    )
    check_annotations(program)
    scope = check(program)
    warnings = [*overflows(program)]
    pipes = elaborate(program, scope)
    for pipeline in pipes.pipelines:
        check_control_names(pipeline)
        find_port_metadata(program, pipeline)
        find_aliases(program, pipeline)
        align_actions(pipeline)
        check_lookups(pipeline)
        check_registers(pipeline)
        warnings += check_members(pipeline)
        check_flexible_headers(pipeline)
        adjust_byte_counts(pipeline, program)
        find_dynamic_hashes(pipeline)
    if warn is not None:
        for pipeline in pipes.pipelines:
            warnings += check_validity(pipeline)
        for warning in dict.fromkeys(warnings):  # pipelines may share blocks
            warn(warning)
    return emit_program(path.stem, program, scope, pipes)


def _check_file_name(path: Path) -> None:
    """It stands in the C++, in a comment and a string."""
    if not path.stem.isprintable() or '"' in path.stem or "\\" in path.stem:
        raise P4Error(
            Position(ascii(str(path)), 1, 1),
            "the name of a program has no quotes, backslashes or control characters: rename it",
        )


def _define(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not name.isidentifier():
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME or NAME=VALUE")
    return name, value or "1"


def _program(text: str) -> Path:
    path = Path(text)
    if path.is_dir():
        within = sorted(each.name for each in path.glob("*.p4"))
        example = path / (within[0] if within else "PROGRAM.p4")
        raise argparse.ArgumentTypeError(
            f"{path} is a directory; expected a program's top file, for instance {example}"
        )
    if not path.exists():
        raise argparse.ArgumentTypeError(
            f"there is no file {path}; expected a program's top file: is its path right, as seen "
            f"from {Path.cwd()}?"
        )
    return path


def _include_directory(text: str) -> Path:
    path = Path(text)
    if not path.is_dir():
        raise argparse.ArgumentTypeError(
            f"there is no directory {path}; expected one with P4 files that the program includes"
        )
    return path


def _print_warning(warning: P4Warning) -> None:
    print(warning, file=sys.stderr)


def add_program_arguments(parser: argparse.ArgumentParser) -> None:
    """The program and what `translated` needs to know of it."""
    parser.add_argument(
        "program",
        type=_program,
        metavar="PROGRAM.p4",
        help="the top file, as p4/nocache/nocache.p4",
    )
    parser.add_argument(
        "-I", dest="include", type=_include_directory, action="append", default=[], metavar="DIR"
    )
    parser.add_argument(
        "-D", dest="define", type=_define, action="append", default=[], metavar="NAME=VALUE"
    )


def translated(options: argparse.Namespace, *, confined: bool = False) -> Translation:
    """The translation that the command line asks for; warnings are printed.

    Raises P4Error, or OSError if a file cannot be read.
    """
    sys.setrecursionlimit(RECURSION_LIMIT)
    try:
        return translate(
            options.program,
            options.include,
            dict(options.define),
            warn=_print_warning,
            confined=confined,
        )
    except RecursionError:
        top = Position(str(options.program), 1, 1)
        raise P4Error(top, "the program is nested too deeply") from None


def text_of(error: OSError) -> str:
    return str(error) if error.filename is None else f"{error.filename}: {error.strerror}"


def main(arguments: list[str] | None = None) -> int:
    """Exit status: 0 translated, 1 wrong or unsupported program, 2 usage or unreadable file."""
    parser = OptionParser(prog="p4soft translate", description="Translates P4_16 for TNA to C++.")
    add_program_arguments(parser)
    parser.add_argument(
        "--output",
        type=Path,
        required=True,
        metavar="DIR",
        help="directory for NAME.cpp, NAME.bfrt.json and NAME.p4info.txtpb",
    )
    options = parser.parse_args(arguments)
    try:
        made = translated(options)
        make("--output", options.output)
        name = options.program.stem
        write_if_changed(options.output / f"{name}.cpp", made.code)
        write_if_changed(options.output / f"{name}.bfrt.json", made.schema)
        write_if_changed(options.output / f"{name}.p4info.txtpb", made.p4info)
    except P4Error as error:
        print(error, file=sys.stderr)
        return 1
    except RunError as error:
        print(f"p4soft: {error}", file=sys.stderr)
        return error.status
    except OSError as error:
        print(f"p4soft: {text_of(error)}", file=sys.stderr)
        return 2
    return 0

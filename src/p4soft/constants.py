"""Enums and constants of a P4 file for the other side of the control plane, so that nobody copies
numbers by hand: `read` gives them to Python, and

    p4soft constants P4/NAME.p4 --namespace N --output DIR

writes DIR/NAME.h for C++. The file includes those that declare them; it need not be a program.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from p4soft.check.overflows import overflows
from p4soft.check.program import check
from p4soft.check.symbols import TypeSymbol, VariableSymbol
from p4soft.check.types import Enum
from p4soft.errors import P4Error
from p4soft.files import write_if_changed
from p4soft.frontend.program_parser import parse
from p4soft.options import OptionParser


@dataclass(frozen=True)
class Constants:
    """Of one P4 file and what it includes."""

    enums: dict[str, dict[str, int]]
    numbers: dict[str, int]


def read(path: Path) -> Constants:
    """Raises P4Error, or OSError if a file cannot be read."""
    program = parse(path, [], {})
    scope = check(program)
    for cut in overflows(program):  # a number that both sides share is the one that is written
        raise P4Error(cut.position, cut.message)
    symbols = [scope.local(name) for name in scope.names()]
    return Constants(
        enums={s.name: s.type.members for s in symbols
               if isinstance(s, TypeSymbol) and isinstance(s.type, Enum)},
        numbers={s.name: s.value for s in symbols
                 if isinstance(s, VariableSymbol) and type(s.value) is int},
    )  # fmt: skip


def cpp_header(source: str, namespace: str, constants: Constants) -> str:
    """`enum class Outcome { kGetHit = 3 }` for outcome_t's GET_HIT, `kSlots` for SLOTS.

    Raises ValueError for a number that has no room in 64 bits.
    """
    lines = [
        f"// Generated from {source} by p4soft.constants.",
        "#pragma once",
        "",
        "#include <cstdint>",
        "",
        f"namespace {namespace} {{",
    ]
    for name, members in constants.enums.items():
        lines += ["", f"enum class {_camel(name.removesuffix('_t'))} : std::uint32_t {{"]
        lines += [f"  k{_camel(member)} = {value}," for member, value in members.items()]
        lines.append("};")
    lines.append("")
    for name, value in constants.numbers.items():
        lines.append(f"inline constexpr {_cpp_type(name, value)} k{_camel(name)} = {value};")
    return "\n".join([*lines, "", f"}}  // namespace {namespace}", ""])


def _cpp_type(name: str, value: int) -> str:
    for type_, bits in (("std::uint32_t", 32), ("std::uint64_t", 64)):
        if 0 <= value < 1 << bits:
            return type_
    if -(1 << 31) <= value < 0:
        return "std::int32_t"
    raise ValueError(f"constant {name} is {value}; C++ gets numbers from -2^31 to 2^64 - 1")


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def main(arguments: list[str] | None = None) -> int:
    """Exit status: 0 written, 1 wrong or unsupported P4, 2 usage or unreadable file."""
    parser = OptionParser(
        prog="p4soft constants",
        description="Makes a C++ header of the enums and constants of a P4 file.",
    )
    parser.add_argument(
        "file", type=Path, metavar="FILE.p4", help="for example p4/shared/control_plane.p4"
    )
    parser.add_argument("--namespace", required=True, help="of the C++ names")
    parser.add_argument(
        "--output", type=Path, required=True, metavar="DIR", help="directory for NAME.h"
    )
    options = parser.parse_args(arguments)
    try:
        text = cpp_header(options.file.name, options.namespace, read(options.file))
        options.output.mkdir(parents=True, exist_ok=True)
        write_if_changed(options.output / f"{options.file.stem}.h", text)
    except P4Error as error:
        print(error, file=sys.stderr)
        return 1
    except ValueError as error:
        print(f"p4soft constants: {options.file}: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"p4soft constants: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    return 0

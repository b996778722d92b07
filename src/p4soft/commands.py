"""The command `p4soft`: its subcommands, each with a module of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable

from p4soft import cli, constants
from p4soft.run import command as run
from p4soft.run import compile_command

COMMANDS: dict[str, tuple[Callable[[list[str]], int], str]] = {
    "run": (run.main, "a TNA program as a switch on network interfaces, with its control plane"),
    "compile": (compile_command.main, "a TNA program to a library that softswitch loads"),
    "translate": (cli.main, "a TNA program to C++, its schema and P4Info"),
    "constants": (constants.main, "enums and constants of a P4 file to a C++ header"),
}


def main(arguments: list[str] | None = None) -> int:
    """Exit status: the subcommand's; 2 without one.

    `p4soft FILE …` is `p4soft translate FILE …`.
    """
    words = sys.argv[1:] if arguments is None else arguments
    if not words or words[0] in ("-h", "--help"):
        print(_overview(), file=sys.stdout if words else sys.stderr)
        return 0 if words else 2
    if words[0] in COMMANDS:
        command, _ = COMMANDS[words[0]]
        return command(words[1:])
    return cli.main(words)


def _overview() -> str:
    lines = ["usage: p4soft COMMAND ...", "", "P4_16 for TNA in software.", ""]
    lines += [f"  p4soft {name:<10} {purpose}" for name, (_, purpose) in COMMANDS.items()]
    return "\n".join([*lines, "", "p4soft COMMAND --help says more."])

"""The command `p4soft`: its subcommands, each with a module of its own."""

from __future__ import annotations

import difflib
import importlib
import signal
import sys
from pathlib import Path

COMMANDS = {
    "run": (
        "p4soft.run.command",
        "a TNA program as a switch on network interfaces, with its control plane",
    ),
    "compile": ("p4soft.run.compile_command", "a TNA program to a library that softswitch loads"),
    "translate": ("p4soft.cli", "a TNA program to C++, its schema and P4Info"),
    "constants": ("p4soft.constants", "enums and constants of a P4 file to a C++ header"),
}
_WRONG_USAGE = 2


def main(arguments: list[str] | None = None) -> int:
    """Exit status: the subcommand's; 2 without one, or for an unknown one; 130 after Ctrl-C that
    the subcommand did not answer itself.

    `p4soft FILE …` is `p4soft translate FILE …`.
    """
    words = sys.argv[1:] if arguments is None else arguments
    if not words or words[0] in ("-h", "--help"):
        print(_overview(), file=sys.stdout if words else sys.stderr)
        return 0 if words else _WRONG_USAGE
    if _is_unknown(words[0]):
        print(f"p4soft: {_unknown(words[0])}", file=sys.stderr)
        return _WRONG_USAGE
    named = words[0] in COMMANDS
    module, _ = COMMANDS[words[0] if named else "translate"]
    try:
        # Here, as Ctrl-C may come while they are imported.
        status: int = importlib.import_module(module).main(words[1:] if named else words)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return status


def _is_unknown(word: str) -> bool:
    """Neither a command nor an option, and no path of a program, even of one that is missing."""
    is_path = "." in word or "/" in word or Path(word).exists()
    return not (word in COMMANDS or word.startswith("-") or is_path)


def _unknown(word: str) -> str:
    near = difflib.get_close_matches(word, COMMANDS, n=1)
    meant = f"; did you mean p4soft {near[0]}?" if near else ""
    return f"there is no command {word}; expected one of {', '.join(COMMANDS)}{meant}"


def _overview() -> str:
    lines = ["usage: p4soft COMMAND ...", "", "P4_16 for TNA in software.", ""]
    lines += [f"  p4soft {name:<10} {purpose}" for name, (_, purpose) in COMMANDS.items()]
    return "\n".join([*lines, "", "p4soft COMMAND --help says more."])

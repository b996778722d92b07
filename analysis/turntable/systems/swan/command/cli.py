"""The command line of `swan`."""

from __future__ import annotations

import argparse
import sqlite3
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from turntable.systems.swan.command import again, begin, show
from turntable_core.errors import TurntableError

_PROFILE = "sensitivity-profile"
_EVERY: dict[str, Any] = {
    "action": "store_true",
    "help": "count iterations that break a rule of the verdict, too",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """0: done; 1: not all could be stored, or what ran again was another configuration; of a
    playbook that failed, its own; 2: refused.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if words[:1] == [_PROFILE]:  # its flags are Go's
            return begin.run(words[1:])
        options = _parser().parse_args(words)
        return options.run_command(options)
    except TurntableError as error:
        print(f"swan: {error}", file=sys.stderr)
        return 2
    except sqlite3.Error as error:
        print(
            f"swan: the store of experiments cannot be used: {error}; expected it to be free, "
            "and its directory to be writable. Try again",
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # what reads our output has seen enough
        sys.stderr.close()
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="swan",
        description="Sensitivity profiles of memcached against best-effort neighbours, by UUID. "
        "docs/swan-store.md has flags and tables.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser(
        _PROFILE, help="measure one; its UUID comes first. -help lists the flags", add_help=False
    )

    def add(
        name: str, run: Callable[[argparse.Namespace], int], does: str
    ) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=does, description=does)
        command.add_argument("--results", metavar="DIR", help="default: results of the checkout")
        command.set_defaults(run_command=run)
        return command

    add("list", show.list_, "experiments, the newest last")
    command = add("show", show.show, "tables of an experiment")
    command.add_argument("uuid", metavar="UUID", help="or its first digits")
    command.add_argument("--absolute", action="store_true", help="latency in µs, not %% of the SLO")
    command.add_argument("--all", **_EVERY)
    command.add_argument("--older-rule", action="store_true", help="red above 150 %%, no FAIL")
    _add_others(add)
    return parser


def _add_others(add: Callable[..., argparse.ArgumentParser]) -> None:
    command = add("compare", show.compare_, "two experiments, field by field")
    command.add_argument("first", metavar="UUID")
    command.add_argument("second", metavar="UUID")
    command.add_argument("--all", **_EVERY)
    command.add_argument("--figure", metavar="FILE", type=Path, help="draw the ratios: .svg, .png")
    command = add("export", show.export_, "a row per iteration")
    command.add_argument("uuid", metavar="UUID")
    form = command.add_mutually_exclusive_group(required=True)
    form.add_argument("--csv", metavar="FILE", type=Path)
    form.add_argument("--parquet", metavar="FILE", type=Path)
    command = add("rerun", again.run, "measure it again exactly, and say whether it was the same")
    command.add_argument("uuid", metavar="UUID")
    command.add_argument(
        "--inventory", metavar="DIR", action="append",
        help="default: that it was measured with; may be repeated",
    )  # fmt: skip
    command.add_argument("--run", metavar="NAME", help="of the new run")
    command = add("store", show.store, "store runs; without one all that have changed")
    command.add_argument("runs", metavar="RUN", type=Path, nargs="*", help="their directories")

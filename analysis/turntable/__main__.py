"""python -m turntable summarize|report|notebook RUN, compare RUN RUN, overview NAME, import DIR

RUN: the name of a run in results/, <experiment>/<name>, or a directory.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from turntable.analyze import compare_and_draw, rebuild
from turntable.find_run import find_run, named_run
from turntable.imported import import_directory
from turntable.summarize import summarize_directory
from turntable_core.errors import TurntableError

RESULTS = Path(__file__).resolve().parents[2] / "results"
_RUN = "name of a run in results/, <experiment>/<name>, or a directory"


def main() -> int:
    arguments = _parser().parse_args()
    try:
        if arguments.command == "compare":
            runs = (named_run(RESULTS, run) for run in (arguments.first, arguments.second))
            print(compare_and_draw(*runs))
            return 0
        if arguments.command == "overview":
            print(_overviews(arguments.name))
            return 0
        if arguments.command == "import":
            runs = import_directory(RESULTS, arguments.directory.absolute(), arguments.run)
            print("\n\n".join(map(rebuild, runs)))
            return 0
        run = named_run(RESULTS, arguments.run) if arguments.run else find_run(RESULTS)
        if arguments.command == "report":
            print(rebuild(run))
            return 0
        if arguments.command == "notebook":
            print(rebuild(run, notebook=True))
            return 0
        summary = summarize_directory(run)
    except TurntableError as error:
        print(f"turntable: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"turntable: {error.filename2 or error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    print(summary.table)
    return 0 if summary.valid else 1


def _overviews(name: str | None) -> str:
    from turntable.overview import newest_series, series_named, write_overview  # noqa: PLC0415

    found = series_named(RESULTS, name) if name else [newest_series(RESULTS)]
    return "\n\n".join(write_overview(series).text for series in found)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="turntable", description="Analysis of runs, from their raw files alone."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, does in (
        ("summarize", "write the tables and print them; 0 when every verdict is valid"),
        ("report", "the same and report.html; 0 when they are written"),
        ("notebook", "the same and the executed notebook; 0 when they are written"),
    ):
        command = commands.add_parser(name, help=does)
        command.add_argument("run", type=Path, nargs="?", help=f"{_RUN}; default: the newest")
    command = commands.add_parser("compare", help="what differs between two runs, and by how much")
    for name in ("first", "second"):
        command.add_argument(name, type=Path, help=_RUN)
    command = commands.add_parser("import", help="runs made of another program's statistics files")
    command.add_argument("directory", type=Path)
    command.add_argument("--run", help="their name; default: the time, -imported")
    command = commands.add_parser("overview", help="the report over all experiments of one name")
    command.add_argument("name", nargs="?", help="that their runs have; default: the newest series")
    return parser


if __name__ == "__main__":
    sys.exit(main())

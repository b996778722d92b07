"""python -m turntable summarize|report results/<experiment>/<run>"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from turntable.analyze import rebuild
from turntable.summarize import summarize_directory
from turntable_core.errors import TurntableError


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="turntable", description="Analysis of runs, from their raw files alone."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    summarize = commands.add_parser(
        "summarize", help="write summary.csv and print the table; 0 when every verdict is valid"
    )
    report = commands.add_parser(
        "report", help="write summary.csv and report.html; 0 when they are written"
    )
    for command in (summarize, report):
        command.add_argument("run", type=Path, help="results/<experiment>/<run>")
    arguments = parser.parse_args()
    try:
        if arguments.command == "report":
            print(rebuild(arguments.run))
            return 0
        summary = summarize_directory(arguments.run)
    except TurntableError as error:
        print(f"turntable: {error}", file=sys.stderr)
        return 2
    print(summary.table)
    return 0 if summary.valid else 1


if __name__ == "__main__":
    sys.exit(main())

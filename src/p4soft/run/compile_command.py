"""`p4soft compile PROGRAM.p4 --output DIR`: a library, with its schema and its P4Info."""

from __future__ import annotations

import argparse
import shutil
import sys
import traceback
from pathlib import Path

from p4soft import cli
from p4soft.errors import P4Error
from p4soft.options import OptionParser
from p4soft.run import cache, compiler, installation
from p4soft.run.confinement import MEMORY_BYTES, confine
from p4soft.run.directories import make
from p4soft.run.errors import RunError
from p4soft.run.processes import StopRequested, stop_on_signals

_WRONG_USAGE, _FAILED = 2, 3


def main(arguments: list[str] | None = None) -> int:
    """Exit status: 0 compiled, 1 wrong or unsupported program, 2 usage or unreadable file, 3 the
    program is right, and what was made of it could not be compiled, or p4soft itself failed;
    128 + N ended by signal N.
    """
    options = _parse(sys.argv[1:] if arguments is None else arguments)
    if options.confined:
        confine()
    stop_on_signals()
    try:
        _compile(options)
    except StopRequested as request:
        return request.status
    except P4Error as error:
        print(error, file=sys.stderr)
        return 1
    except RunError as error:
        print(f"p4soft: {error}", file=sys.stderr)
        return error.status if error.status == _WRONG_USAGE else _FAILED
    except MemoryError:
        limit = f" of {MEMORY_BYTES >> 30} GiB (--confined)" if options.confined else ""
        print(f"p4soft: the program takes more memory than there is{limit}", file=sys.stderr)
        return _FAILED
    except OSError as error:
        print(f"p4soft: {cli.text_of(error)}", file=sys.stderr)
        return 2
    except Exception:  # what Python's own status, 1, would call a wrong program
        traceback.print_exc()
        return _FAILED
    return 0


def _parse(words: list[str]) -> argparse.Namespace:
    parser = OptionParser(
        prog="p4soft compile",
        description="Translates and compiles a TNA program.",
        allow_abbrev=False,
    )
    cli.add_program_arguments(parser)
    add = parser.add_argument
    add("--output", type=Path, required=True, metavar="DIR",
        help="directory for NAME.so, NAME.bfrt.json and NAME.p4info.txtpb")  # fmt: skip
    add("--compiler", metavar="PROGRAM", help="C++ compiler; default: what CXX says, or c++")
    add("--cache-dir", type=Path, default=cache.default_directory(), metavar="DIR",
        help="compiled programs (default: %(default)s)")  # fmt: skip
    add("--confined", action="store_true",
        help="a stranger's program: it includes only what p4soft brings, and is limited in memory, "
        "processor time and size of files")  # fmt: skip
    return parser.parse_args(words)


def _compile(options: argparse.Namespace) -> None:
    chosen = compiler.find(options.compiler)
    found = installation.find()
    name = options.program.stem
    made = cli.translated(options, confined=options.confined)
    make("--output", options.output)
    program = cache.compiled(name, made, chosen, found, options.cache_dir, traced=False)
    for file in (program.library, program.schema, program.p4info):
        shutil.copyfile(file, options.output / file.name)

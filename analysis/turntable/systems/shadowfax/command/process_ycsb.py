"""process_ycsb: keys of YCSB's output -> a file of keys (docs/shadowfax.md).

    process_ycsb --from workload.txt --dest keys.bin [--prefix "usertable user"]

Of every line that has the prefix, the number behind it becomes a key: `INSERT usertable
user6284781860667377211 [ field0=… ]`. Other lines say nothing of a key, and are left out.
"""

from __future__ import annotations

import argparse
import os
import re
import struct
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

PREFIX = "usertable user"
_MOST = 2**64 - 1
_MOST_DIGITS = len(str(_MOST))


class LineError(Exception):
    """A line whose prefix has no key behind it."""


def keys_of(lines: Iterable[bytes], prefix: bytes) -> Iterator[int]:
    """Raises LineError with the line's number, from 1 on."""
    for number, line in enumerate(lines, start=1):
        _, found, behind = line.partition(prefix)
        if not found:
            continue
        digits = re.match(rb"[0-9]*", behind)[0]
        if not 0 < len(digits) <= _MOST_DIGITS or int(digits) > _MOST:
            shown = behind[:40].decode(errors="replace").rstrip()
            what = f"{shown!r} behind the prefix; expected a key, 0 to {_MOST}"
            raise LineError(f"line {number}: {what}")
        yield int(digits)


def write_keys(keys: Iterable[int], file: BinaryIO) -> int:
    """Returns how many."""
    count = 0
    for key in keys:
        file.write(struct.pack("<Q", key))
        count += 1
    return count


def convert(source: Path, dest: Path, prefix: str) -> int:
    """dest appears whole or not at all. Returns the number of keys; raises LineError, OSError."""
    with (
        source.open("rb") as lines,
        tempfile.NamedTemporaryFile(dir=dest.parent, prefix=f".{dest.name}.", delete=False) as made,
    ):
        try:
            count = write_keys(keys_of(lines, prefix.encode()), made)
            if not count:
                raise LineError(
                    f"no line has {prefix!r}; expected YCSB's output, or another --prefix"
                )
            made.flush()
            os.fchmod(made.fileno(), 0o644)
            Path(made.name).replace(dest)
        except BaseException:
            Path(made.name).unlink(missing_ok=True)
            raise
    return count


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="process_ycsb",
        description="Keys of YCSB's output, as a file that hlload and Shadowfax's experiments read",
    )
    parser.add_argument("--from", dest="source", type=Path, metavar="FILE", help="YCSB's output")
    parser.add_argument("--dest", type=Path, metavar="FILE", help="of 8 bytes for each key")
    parser.add_argument(
        "--prefix", default=PREFIX, help=f"what precedes a key in its line (default: {PREFIX!r})"
    )
    parser.add_argument("paths", nargs="*", type=Path, metavar="FROM DEST", help="the older form")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    given = parser.parse_args(arguments)
    named = [path for path in (given.source, given.dest) if path is not None]
    if len(named) + len(given.paths) != 2 or len(named) == 1:
        parser.error("expected --from FILE --dest FILE, or both files without a name")
    source, dest = named or given.paths
    if not given.prefix:
        parser.error("--prefix: expected a text")
    try:
        count = convert(source, dest, given.prefix)
    except (LineError, OSError) as error:
        where = f"{source}: " if isinstance(error, LineError) else ""
        print(f"process_ycsb: {where}{error}", file=sys.stderr)
        return 1
    print(f"{count} keys in {dest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Forbids words of systems in what every system shares: a new one must fit without an edit of it.

A word that a system brings belongs into the system's own package, task files or page.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

# Everything in them is shared, except for what is excepted by path or by form.
SHARED = (
    "core",
    "plugins",
    "playbooks/*.yml",
    "playbooks/tasks",
    "analysis/turntable",
)
OF_SYSTEMS = ("analysis/turntable/systems/",)

WORDS = (
    # systems and methods
    *("farreach", "netcache", "nocache", "kvcache"),
    *("netclone", "noclone", "laedge", "homa", "shadowfax", "sofaster", "swan", "memcached"),
    # programs
    *("kvserver", "kvclient", "cache.?controller", "switch.?agent", "workload"),
    # what only some of them have
    *("rotation", "rotate", "partition", "bottleneck", "write.?back", "write.?through"),
    *("snapshot", "evict", "hot.?key", "cached.?key", "rocksdb", "ycsb", "migration", "aggressor"),
)
# Letters around a word make another one (swans, but also a name such as WorkloadModel, are meant).
FORBIDDEN = re.compile(rf"(?<![a-z])({'|'.join(WORDS)})|(?-i:(?<=[a-z])(Workload|Partition))", re.I)
# Of Python: text.partition(":"), text.rpartition("@"). Of matplotlib: text.set_rotation(90).
EXCEPTED = re.compile(r"\.r?partition\(|\.set_rotation\(")


def main() -> int:
    problems = [problem for path in shared_files() for problem in check(path)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def shared_files() -> list[Path]:
    pathspecs = [f":(glob){path}" if "*" in path else path for path in SHARED]
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *pathspecs]
    names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    shared = (Path(name) for name in names if not name.startswith(OF_SYSTEMS))
    return [path for path in shared if path.is_file()]


def check(path: Path) -> Iterator[str]:
    """One message per word."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        for found in FORBIDDEN.finditer(EXCEPTED.sub(" ", line)):
            yield (
                f"{path}:{number}: {found[0]!r} is a word of some systems, and this is what all "
                "share; expected it in the system's own package (docs/add-a-system.md)"
            )


if __name__ == "__main__":
    sys.exit(main())

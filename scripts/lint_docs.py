"""Lines of documentation have at most 140 characters, so that changes of them can be read.

Rows of tables cannot be split and are exempt, and so is what has no blank to split it at.
Arguments: these files only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

MOST = 140


def main() -> int:
    files = [*Path().glob("*.md"), *Path("docs").glob("*.md")]
    if sys.argv[1:]:
        files = [path for path in files if str(path) in sys.argv[1:]]
    problems = [problem for path in sorted(files) for problem in check(path)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def check(path: Path) -> Iterator[str]:
    """One message per line that is too long."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        text = line.strip()
        if len(line) > MOST and not text.startswith("|") and " " in text:
            yield f"{path}:{number}: {len(line)} characters; expected at most {MOST}"


if __name__ == "__main__":
    sys.exit(main())

"""Lists of processors, such as 0+2-3. On the command line commas are between levels of a factor, so
that lists have + there.
"""

from __future__ import annotations

import re

_PART = re.compile(r"([0-9]{1,4})(?:-([0-9]{1,4}))?")


def listed(text: str) -> list[int]:
    """In ascending order; empty for an empty text. Raises ValueError for what is no such list."""
    found: list[int] = []
    for part in text.split("+") if text else ():
        match = _PART.fullmatch(part)
        if match is None:
            raise ValueError(text)
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or (found and first <= found[-1]):
            raise ValueError(text)
        found += range(first, last + 1)
    return found

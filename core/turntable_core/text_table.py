"""Columns for a terminal."""

from __future__ import annotations

from collections.abc import Sequence


def columns(
    rows: Sequence[Sequence[object]], right: Sequence[int] = (), gap: str = "  "
) -> list[str]:
    """A line per row, columns as wide as their widest text.

    right: indices of the columns that are aligned to the right.
    """
    texts = [["" if cell is None else str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return [
        gap.join(
            text.rjust(width) if index in right else text.ljust(width)
            for index, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in texts
    ]


def duration(seconds: float) -> str:
    """m:ss, or h:mm:ss."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def size(count: float) -> str:
    """Bytes in the unit that leaves one to three digits."""
    for unit in ("B", "KB", "MB"):
        if count < 999.5:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"

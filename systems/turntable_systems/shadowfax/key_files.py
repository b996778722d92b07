"""Files of keys, as the original's loader reads them: 64-bit little-endian numbers and no more."""

from __future__ import annotations

from pathlib import Path

from turntable_core.testbed import Testbed

KEY_BYTES = 8


def expected(
    path: str, testbed: Testbed, content: str, size_bytes: int | None = None
) -> str | None:
    """What there should be at a path on the client hosts, in words. None: it is there, none is
    asked for, or the hosts are other machines, whose nodes look for it.

    size_bytes: None: any number of whole keys.
    """
    if not path:
        return None
    if not Path(path).is_absolute():
        return "an absolute path on the client hosts, or nothing"
    if not testbed.emulated:
        return None
    if not Path(path).is_file():
        return "a file: there is none on this machine, where all hosts are"
    size = Path(path).stat().st_size
    right = size == size_bytes if size_bytes is not None else size > 0 and size % KEY_BYTES == 0
    return None if right else f"a file of {content}; this one has {size} bytes"

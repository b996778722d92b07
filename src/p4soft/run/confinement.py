"""What the translation of a stranger's program may take of the machine, as limits of this process
and of each of its children. How long it may take is for its caller to say.
"""

from __future__ import annotations

import resource

MEMORY_BYTES = 3 << 30
CPU_SECONDS = 300
FILE_BYTES = 256 << 20

_LIMITS = {
    resource.RLIMIT_AS: MEMORY_BYTES,
    resource.RLIMIT_CPU: CPU_SECONDS,
    resource.RLIMIT_FSIZE: FILE_BYTES,
    resource.RLIMIT_CORE: 0,
}


def confine() -> None:
    """From now on; a stricter limit that there is already stays."""
    for kind, most in _LIMITS.items():
        _, hard = resource.getrlimit(kind)
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (limit, limit))

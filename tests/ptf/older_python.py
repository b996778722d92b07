"""What examples expect of Python 3.10 and is gone since: random.sample of a set. It is made the
tests' sitecustomize, which Python imports before anything of theirs.
"""

from __future__ import annotations

import random
from typing import Any

_sample = random.sample


def sample(population: Any, k: int, **named: Any) -> list[Any]:
    """As Python 3.10's; of a set, as a sequence in its order."""
    is_set = isinstance(population, (set, frozenset))
    return _sample(sorted(population) if is_set else population, k, **named)


random.sample = sample

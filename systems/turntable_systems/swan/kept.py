"""Keys of what nodes find once in a run, and keep over their own end (src/node/kept.h)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from turntable_core.context import Context


def key(context: Context, of: Mapping[str, Any]) -> str:
    """The same for all of a run that agree in `of`."""
    owner = context.owner
    run = [owner.experiment, owner.run, context.created_at] if owner else []
    return hashlib.sha256(json.dumps([*run, of], sort_keys=True).encode()).hexdigest()

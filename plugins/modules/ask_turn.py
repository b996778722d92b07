#!/usr/bin/python
"""Documentation of plugins/action/ask_turn.py, which does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: ask_turn
author:
  - Turntable (@turntable)
short_description: Whether a turn is still needed
description:
  - The rounds before it may know all results precisely enough, or have found that the testbed
    cannot do it. Such a turn and the cell's rounds after it are noted in the run's directory, where
    they are not missing.
extends_documentation_fragment: at
options:
  only:
    description: What this play measures again, as plan_run returned; that is needed.
    type: str
"""

EXAMPLES = r"""
- ask_turn:
    at: {run: results/example_throughput/a, cell: c0, round: 3}
"""

RETURN = r"""
needed:
  description: Whether to measure it.
  returned: always
  type: bool
"""

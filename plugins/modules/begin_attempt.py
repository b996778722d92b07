#!/usr/bin/python
"""Documentation of plugins/action/begin_attempt.py, which does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: begin_attempt
author:
  - Turntable (@turntable)
short_description: Opens an attempt at an iteration
description:
  - Numbers it and makes the directory of its raw files.
extends_documentation_fragment: at
"""

EXAMPLES = r"""
- begin_attempt:
    at: {run: results/example_throughput/a, cell: c0, round: 0, iteration: 3}
  register: turntable_attempt
"""

RETURN = r"""
number:
  description: Of the attempt; for record_attempt.
  returned: always
  type: int
directory:
  description: For its raw files.
  returned: always
  type: str
began_at_ns:
  description: CLOCK_REALTIME; for record_attempt.
  returned: always
  type: int
"""

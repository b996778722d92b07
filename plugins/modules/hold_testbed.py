#!/usr/bin/python
"""Documentation of plugins/action/hold_testbed.py, which does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: hold_testbed
author:
  - Turntable (@turntable)
short_description: Takes the testbed again for a run that has it
description:
  - Hosts that lost their supervisor get one again. Fails when another run has taken the testbed
    meanwhile.
options:
  at:
    description: Where in the run.
    type: dict
    required: true
    suboptions:
      run:
        description: The run's directory.
        type: path
        required: true
      cell:
        description: Its id; without it the run as a whole.
        type: str
      round:
        description: From 0.
        type: int
      iteration:
        description: From 0.
        type: int
"""

EXAMPLES = r"""
- hold_testbed:
    at: {run: results/example_throughput/a}
"""

RETURN = r"""
{}
"""

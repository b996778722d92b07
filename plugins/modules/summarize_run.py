#!/usr/bin/python
"""Documentation of plugins/action/summarize_run.py, which does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: summarize_run
author:
  - Turntable (@turntable)
short_description: Judges and aggregates a run from its raw files
description:
  - Writes summary.csv, the terminal's table and report.html. Fails when a verdict is invalid,
    once summary.csv is written, with the reasons.
options:
  run:
    description: The run's directory.
    type: path
    required: true
  fail_on_invalid:
    description: Whether an invalid verdict is an error.
    type: bool
    default: true
"""

EXAMPLES = r"""
- summarize_run:
    run: results/example_throughput/a
"""

RETURN = r"""
report:
  description: The table.
  returned: always
  type: str
"""

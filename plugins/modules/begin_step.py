#!/usr/bin/python
"""Documentation of plugins/action/begin_step.py, which does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: begin_step
author:
  - Turntable (@turntable)
short_description: Says which experiment of a series begins
description:
  - A line for the reader of a series.
options:
  label:
    description: What the line says.
    type: str
    required: true
"""

EXAMPLES = r"""
- begin_step:
    label: Throughput
"""

RETURN = r"""
report:
  description: The line.
  returned: always
  type: str
"""

#!/usr/bin/python
"""Documentation of plugins/action/keep_files.py, which does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: keep_files
author:
  - Turntable (@turntable)
short_description: Copies files that nodes have left into the run
description:
  - From the run directories of a group's hosts.
extends_documentation_fragment: at
options:
  role:
    description: A group of the inventory below C(endpoints).
    type: str
    required: true
  hosts:
    description: The first so many of it; without it all.
    type: int
  files:
    description: Their names; C(*) is a wildcard.
    type: str
    required: true
  into:
    description: Directory below the run's.
    type: str
    required: true
"""

EXAMPLES = r"""
- keep_files:
    role: clients
    files: latencies-*.i64
    into: latencies
    at: {run: results/example_throughput/a, cell: c0, round: 0, iteration: 0}
"""

RETURN = r"""
{}
"""

#!/usr/bin/python
"""Documentation of plugins/action/compare_runs.py, which does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: compare_runs
author:
  - Turntable (@turntable)
short_description: What differs between two runs
description:
  - Settings that differ, and by how much their cells do, as a text and as a page in the first
    run's directory. Needs no testbed; in check mode the page is not written.
options:
  results:
    description: Directory of results.
    type: path
    required: true
  run:
    description: Name of a run, or its directory.
    type: str
    required: true
  compare:
    description: Name of the other run, or its directory.
    type: str
    required: true
"""

EXAMPLES = r"""
- compare_runs:
    results: results
    run: monday
    compare: tuesday
"""

RETURN = r"""
report:
  description: The text.
  returned: always
  type: str
"""

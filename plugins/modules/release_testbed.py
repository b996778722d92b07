#!/usr/bin/python
"""Documentation of plugins/action/release_testbed.py, which does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: release_testbed
author:
  - Turntable (@turntable)
short_description: Ends the nodes of a run and gives the testbed back
description:
  - 'Never fails: a host that cannot be reached ends its nodes with its lease, and one that another
    run has taken meanwhile is left alone.'
extends_documentation_fragment: at
"""

EXAMPLES = r"""
- release_testbed:
    at: {run: results/example_throughput/a}
"""

RETURN = r"""
{}
"""

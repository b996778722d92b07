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
extends_documentation_fragment: at
"""

EXAMPLES = r"""
- hold_testbed:
    at: {run: results/example_throughput/a}
"""

RETURN = r"""
{}
"""

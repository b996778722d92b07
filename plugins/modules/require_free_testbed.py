#!/usr/bin/python
"""Documentation of plugins/action/require_free_testbed.py, which does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: require_free_testbed
author:
  - Turntable (@turntable)
short_description: Leaves a testbed to the run that has it
description:
  - For playbooks that change one. Waits for a lease that runs out because its playbook was killed,
    and fails with the owner's name when it is renewed. Secrets that killed playbooks left in
    the results are removed.
options:
  force:
    description: End that run; it cannot come back.
    type: bool
    default: false
  results:
    description: Directory of results.
    type: path
    required: true
"""

EXAMPLES = r"""
- require_free_testbed:
    results: results
"""

RETURN = r"""
{}
"""

#!/usr/bin/python
"""Documentation of plugins/action/diagnose_testbed.py, which does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: diagnose_testbed
author:
  - Turntable (@turntable)
short_description: Explains the state of a testbed
description:
  - Changes nothing. Fails when a run could not start now. Hosts that cannot be reached and an
    inventory that does not hold together are findings, too.
options:
  build:
    description: Directory of the build.
    type: path
    required: true
  results:
    description: Directory of results.
    type: path
    required: true
"""

EXAMPLES = r"""
- diagnose_testbed:
    build: build
    results: results
"""

RETURN = r"""
report:
  description: What was found.
  returned: always
  type: str
"""

#!/usr/bin/python
"""Documentation of plugins/action/collect_logs.py, which does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: collect_logs
author:
  - Turntable (@turntable)
short_description: Keeps what hosts can tell about a failure
description:
  - Writes logs.tar.gz of the run, or of an attempt. Never fails because of the logs.
extends_documentation_fragment: at
options:
  attempt:
    description: Number of the attempt that failed; without it the run itself.
    type: int
  failure:
    description: C(ansible_failed_result).
    type: dict
    required: true
  end_run:
    description: Fail with the failure's own class once the logs are kept, and say how to go on.
    type: bool
    default: false
"""

EXAMPLES = r"""
- collect_logs:
    at: {run: results/example_throughput/a}
    failure: "{{ ansible_failed_result }}"
    end_run: true
"""

RETURN = r"""
{}
"""

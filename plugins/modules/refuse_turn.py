#!/usr/bin/python
"""Documentation of plugins/action/refuse_turn.py, which does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: refuse_turn
author:
  - Turntable (@turntable)
short_description: Ends a turn that could not be configured
description:
  - After a failure of the class C(unsupported), every iteration that this play is to measure of the
    turn, and has not, is recorded as refused, with the failure's message.
  - Any other failure is this task's own.
extends_documentation_fragment:
  - at
  - play
options:
  failure:
    description: The result of the task that failed.
    type: dict
    required: true
"""

EXAMPLES = r"""
- refuse_turn:
    failure: "{{ ansible_failed_result }}"
    at: {run: results/example_throughput/a, cell: c0, round: 3}
  register: turntable_asked
"""

RETURN = r"""
needed:
  description: Whether to measure the turn, as ask_turn returns it; never.
  returned: when refused
  type: bool
afresh:
  description: Nodes are to be started afresh, for something is measured after the turn.
  returned: when refused
  type: bool
progress:
  description: For the callback.
  returned: when an iteration was left to be refused
  type: dict
told_before:
  description: For the callback, the failure has been shown.
  returned: when it is no refusal
  type: bool
"""

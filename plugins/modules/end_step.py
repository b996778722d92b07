#!/usr/bin/python
"""Documentation of plugins/action/end_step.py, which does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: end_step
author:
  - Turntable (@turntable)
short_description: Notes that an experiment of a series has ended
description:
  - Well or not.
options:
  series:
    description: The series' directory.
    type: path
    required: true
  experiment:
    description: SYSTEM/NAME.
    type: str
    required: true
  failure:
    description: C(ansible_failed_result); left out where it ended in order.
    type: dict
"""

EXAMPLES = r"""
- end_step:
    series: "{{ turntable_series.series.directory }}"
    experiment: example/throughput
"""

RETURN = r"""
{}
"""

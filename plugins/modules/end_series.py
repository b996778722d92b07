#!/usr/bin/python
"""Documentation of plugins/action/end_series.py, which does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: end_series
author:
  - Turntable (@turntable)
short_description: Ends a series of experiments
description:
  - Writes the report over all of its experiments and lists those that failed or are invalid.
    Fails when there are any; with C(-e fail_on_invalid=false) only when one has failed.
options:
  series:
    description: The series' directory.
    type: path
    required: true
"""

EXAMPLES = r"""
- end_series:
    series: "{{ turntable_series.series.directory }}"
"""

RETURN = r"""
series:
  description: The series and the command that continues it.
  returned: always
  type: dict
report:
  description: The list.
  returned: always
  type: str
"""

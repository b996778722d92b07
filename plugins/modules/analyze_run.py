#!/usr/bin/python
"""Documentation of plugins/action/analyze_run.py, which does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: analyze_run
author:
  - Turntable (@turntable)
short_description: Makes a run's summary and report again
description:
  - 'Writes summary.csv, cells.csv and report.html of a run again, from its files alone. Needs
    no testbed and does not judge: an invalid run gets its report too.'
options:
  results:
    description: Directory of results.
    type: path
    required: true
  run_dir:
    description: The run's directory, instead of its name.
    type: path
  import:
    description: Directory of statistics files in the published format, of which runs are made
      first.
    type: path
  experiment:
    description: SYSTEM/NAME; without it the newest run of any.
    type: str
  run:
    description: Name of the run; without it the newest. With I(import) the name of the runs that
      are made.
    type: str
  notebook:
    description: Execute the experiment's notebook, too.
    type: bool
    default: false
"""

EXAMPLES = r"""
- analyze_run:
    results: results
    experiment: example/throughput
"""

RETURN = r"""
report:
  description: The table of results.
  returned: always
  type: str
"""

#!/usr/bin/python
"""Documentation of plugins/action/plan_run.py, which does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: plan_run
author:
  - Turntable (@turntable)
short_description: Plans a run, or continues one, and takes the testbed
description:
  - Experiment, profile and extra variables make cells, rounds and iterations, less those that
    the journal has. Writes manifest.json and plan.json of the run.
  - In check mode it reports plan and estimate, writes nothing and does not ask the testbed.
options:
  experiments:
    description: Directory of experiments, if it is not the repository's.
    type: path
  repository:
    description: The checkout.
    type: path
    required: true
  build:
    description: Directory of the build.
    type: path
    required: true
  results:
    description: Directory of results.
    type: path
    required: true
  experiment:
    description: SYSTEM/NAME.
    type: str
    required: true
  run:
    description: Name of the run, where no extra variable gives one.
    type: str
  share_rounds:
    description: Whether runs of a series share what they have in common, where no extra variable
      says so.
    type: bool
  planned:
    description: File of a series that has planned the run already.
    type: path
"""

EXAMPLES = r"""
- plan_run:
    experiment: example/throughput
    repository: .
    build: build
    results: results
  register: turntable_plan
"""

RETURN = r"""
run:
  description: Directory, name and options.
  returned: not in check mode
  type: dict
system:
  description: Its name and the directory of its task files.
  returned: not in check mode
  type: dict
turns:
  description: Rounds of cells with the iterations to be measured.
  returned: not in check mode
  type: list
"""

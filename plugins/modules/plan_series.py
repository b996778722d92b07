#!/usr/bin/python
"""Documentation of plugins/action/plan_series.py, which does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: plan_series
author:
  - Turntable (@turntable)
short_description: Plans experiments that are run one after another
description:
  - Says what all of them will take. Refuses whatever is wrong with one of them before any is
    begun, and hosts that do not answer.
  - In check mode it reports only, and does not ask the testbed.
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
  series:
    description: SYSTEM/NAME of the series.
    type: str
    required: true
  title:
    description: For its report.
    type: str
    required: true
  steps:
    description: 'SYSTEM/EXPERIMENT, or C(experiment), C(title) and C(tasks): a step with tasks
      of its own is no run and is not planned.'
    type: list
    elements: raw
    required: true
  playbook:
    description: For the command that continues the series.
    type: str
    required: true
"""

EXAMPLES = r"""
- plan_series:
    series: example/all
    title: All experiments
    steps: [example/throughput, example/latency]
    playbook: playbooks/example/all.yml
    repository: .
    build: build
    results: results
"""

RETURN = r"""
series:
  description: Directory, name and the file of plans.
  returned: not in check mode
  type: dict
steps:
  description: What to run.
  returned: not in check mode
  type: list
"""

#!/usr/bin/python
"""Documentation of plugins/action/switch_resources.py, which does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: switch_resources
author:
  - Turntable (@turntable)
short_description: What a system's programs take of a switch
description:
  - summary.csv and report.html of a run without traffic.
options:
  system:
    description: Its name.
    type: str
    required: true
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
  profile:
    description: For the run's name.
    type: str
    default: embedded
  run:
    description: The run's name.
    type: str
  p4c:
    description: A Tofino compiler that compiles the programs first, into the build's C(tofino);
      without it, what C(make tofino) has left there is read.
    type: str
"""

EXAMPLES = r"""
- switch_resources:
    system: example
    repository: .
    build: build
    results: results
"""

RETURN = r"""
report:
  description: The table.
  returned: always
  type: str
"""

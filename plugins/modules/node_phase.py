#!/usr/bin/python
"""Documentation of plugins/action/node_phase.py, which does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: node_phase
author:
  - Turntable (@turntable)
short_description: One phase of a run on all hosts at once
description:
  - Requests go through each host's own connection. Phases of an iteration that follow each other
    are one task, node_phases.
extends_documentation_fragment: at
options:
  components:
    description: Of the system, or of turntable_core/components.
    type: list
    elements: str
    required: true
  verb:
    description: A function of each of them.
    type: str
    required: true
  deadline:
    description: One of the experiment's deadlines.
    type: str
    default: command
  save_to:
    description: Directory for a file per host with its nodes' answers, HOST.VERB.json.
    type: path
"""

EXAMPLES = r"""
- node_phase:
    components: [server, client]
    verb: start
    deadline: start_nodes
    at: {run: results/example_throughput/a, cell: c0, round: 0}
"""

RETURN = r"""
{}
"""

#!/usr/bin/python
"""Documentation of plugins/action/node_phases.py, which does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: node_phases
author:
  - Turntable (@turntable)
short_description: Phases of one iteration, one after the other
description:
  - Each on all hosts at once, in one task, since a task of Ansible takes as long as a phase.
    A phase that fails ends the task.
  - 'The verb C(begin) needs the common start instant: it is the system''s lead from now, more
    for a later attempt.'
extends_documentation_fragment: at
options:
  phases:
    description: What to do.
    type: list
    elements: dict
    required: true
    suboptions:
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
        description: One of the experiment's deadlines, or C(measure).
        type: str
        default: command
      name:
        description: For a reader who waits, and in failures.
        type: str
        required: true
      save:
        description: A file per host with its nodes' answers in I(save_to), HOST.json of the verb
          collect and HOST.VERB.json of others.
        type: bool
        default: false
      needed:
        description: Else nothing is done.
        type: bool
        default: true
  save_to:
    description: Directory of the attempt's raw files.
    type: path
    required: true
  attempt:
    description: Its number.
    type: int
    required: true
"""

EXAMPLES = r"""
- node_phases:
    phases:
      - {name: Prepare clients, components: [client], verb: prepare, deadline: prepare}
      - {name: Begin at one instant, components: [client, supervisor], verb: begin, save: true}
    save_to: "{{ turntable_attempt.directory }}"
    attempt: "{{ turntable_attempt.number }}"
    at: "{{ turntable_here }}"
  register: turntable_measured
"""

RETURN = r"""
start_at_ns:
  description: The common start (CLOCK_REALTIME).
  returned: with a phase of the verb begin
  type: int
"""

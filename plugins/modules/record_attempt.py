#!/usr/bin/python
"""Documentation of plugins/action/record_attempt.py, which does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: record_attempt
author:
  - Turntable (@turntable)
short_description: Closes an attempt at an iteration
description:
  - A line in the journal and, if it succeeded, iteration.json beside its files. Fails when too
    many attempts in a row have failed.
  - A failure of the class C(unsupported) is recorded as refused. It is not tried again, and is no
    failure in a row.
  - The overhead of an attempt is its wall time less warm-up and measuring; wall time runs from
    the end of the attempt before it in the same turn.
extends_documentation_fragment:
  - at
  - play
options:
  number:
    description: As begin_attempt returned.
    type: int
    required: true
  began_at_ns:
    description: As begin_attempt returned.
    type: int
    required: true
  status:
    description: Of the attempt.
    type: str
    required: true
    choices:
      - ok
      - failed
  start_at_ns:
    description: The hosts' common start, of one that is ok.
    type: int
  failure_class:
    description: Of one that failed.
    type: str
  message:
    description: Of one that failed.
    type: str
  max_attempts:
    description: Per iteration and play.
    type: int
    default: 1
"""

EXAMPLES = r"""
- record_attempt:
    number: "{{ turntable_attempt.number }}"
    began_at_ns: "{{ turntable_attempt.began_at_ns }}"
    start_at_ns: "{{ turntable_measured.start_at_ns }}"
    status: ok
    at: "{{ turntable_here }}"
"""

RETURN = r"""
progress:
  description: For the callback.
  returned: always
  type: dict
again:
  description: The iteration is to be measured again.
  returned: always
  type: bool
refused:
  description: The testbed cannot do it.
  returned: always
  type: bool
afresh:
  description: Nodes are to be started afresh before anything else is measured.
  returned: always
  type: bool
heal:
  description: Links are to be healed.
  returned: always
  type: bool
"""

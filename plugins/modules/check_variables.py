#!/usr/bin/python
"""Documentation of plugins/action/check_variables.py, which does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: check_variables
author:
  - Turntable (@turntable)
short_description: Refuses extra variables that a playbook does not take
description:
  - Variables of the testbed (inventories/schema) and of Ansible are taken by every playbook.
    Those of an experiment are checked by plan_run.
options:
  known:
    description: Names that the playbook takes beside them.
    type: list
    elements: str
    required: true
"""

EXAMPLES = r"""
- check_variables:
    known: [force, purge]
"""

RETURN = r"""
{}
"""

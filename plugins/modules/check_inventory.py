#!/usr/bin/python
"""Documentation of plugins/action/check_inventory.py, which does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: check_inventory
author:
  - Turntable (@turntable)
short_description: Checks the inventory against inventories/schema
description:
  - 'Fails with a line for each mistake: host, key, value, what was expected, file and line. Touches
    no host and runs no module.'
"""

EXAMPLES = r"""
- check_inventory:
"""

RETURN = r"""
{}
"""

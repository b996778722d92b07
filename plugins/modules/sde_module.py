#!/usr/bin/python
"""Documentation of plugins/action/sde_module.py, which does the work: no module is sent to the
switch.
"""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: sde_module
short_description: The SDE's kernel module is loaded
description:
  - Loads it with insmod unless it is loaded; it lies in the SDE, where modprobe does not look.
options:
  install:
    description:
      - Where the SDE is installed.
    type: path
    required: true
  module:
    description:
      - bf_kdrv for data-plane access alone, bf_kpkt with a network interface for the CPU port.
    type: str
    default: bf_kdrv
    choices:
      - bf_kdrv
      - bf_kpkt
  environment:
    description:
      - Variables of programs that are called.
    type: dict
    default: {}
author:
  - Turntable (@turntable)
attributes:
  check_mode:
    description: Says what it would change.
    support: full
"""

EXAMPLES = r"""
- sde_module:
    install: /opt/bf-sde/install
"""

RETURN = r"""
{}
"""

#!/usr/bin/python
"""Documentation of plugins/action/switch_ports.py, which does the work: no module is sent to the
switch.
"""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: switch_ports
short_description: Ports of the switch are as the wiring table has them, on its command line
description:
  - Reads the port table, types what makes the difference, reads it again and waits for the links.
  - Exit statuses of bfshell say nothing; each command's output is looked at, and the table
    afterwards.
  - Speaks with the command line of bf_switchd on the switch itself. The way over BF Runtime ($PORT)
    is module bfrt_ports.
options:
  ports:
    description:
      - name (9/0), speed, fec (none, fc, rs), autoneg (default, enabled,
        disabled), loopback, enabled,
        dev_port,
        peer.
    type: list
    required: true
    elements: dict
  cli_port:
    description:
      - Of the command line.
    type: int
    default: 9999
  command_deadline_s:
    description:
      - For the answer to one command.
    type: float
    default: 30
  up_deadline_s:
    description:
      - For links to come up.
    type: float
    default: 30
author:
  - Turntable (@turntable)
attributes:
  check_mode:
    description: Says what it would change.
    support: full
"""

EXAMPLES = r"""
- switch_ports:
    ports: [{name: 9/0, speed: 100G, fec: rs}]
"""

RETURN = r"""
commands:
  description:
    - That were typed, or would be.
  type: list
  returned: always
ports:
  description:
    - The table by port, as the switch shows it.
  type: dict
  returned: always
"""

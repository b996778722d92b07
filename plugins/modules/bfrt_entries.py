#!/usr/bin/python
"""Documentation of plugins/action/bfrt_entries.py, which does the work: no module is sent to the
switch.
"""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: bfrt_entries
short_description: Entries of the switch's tables are there, over BF Runtime
description:
  - Binds the program; reads each entry by its key, inserts or modifies it where it is missing or
    another, and reads again. Entries that are not named are left alone.
  - Runs on the controller, and reaches the switch as module bfrt_ports does.
options:
  multicast:
    description:
      - group, nodes (id, rid, ports). Ports are places on the front panel, or numbers of the chip.
    type: list
    default: []
    elements: dict
  mirrors:
    description:
      - session, port, direction (BOTH, INGRESS, EGRESS), max_length.
    type: list
    default: []
    elements: dict
  entries:
    description:
      - table, key, action, data, with names as in bfrt.json or a suffix of them. Without a key the
        default entry.
    type: list
    default: []
    elements: dict
  program:
    description:
      - That the switch has to run. Empty for whichever it runs.
    type: str
    default: ""
  descriptors:
    description:
      - Of BF Runtime's messages, lib/bfrt/bfruntime.desc of the build directory.
    type: path
    required: true
  address:
    description:
      - HOST:PORT that the controller reaches by itself. Empty for the loopback of the switch.
    type: str
    default: ""
  port:
    description:
      - On the loopback of the switch.
    type: int
    default: 50052
  client_id:
    description:
      - Of this client; each client of a switch needs its own.
    type: int
    default: 20
  call_deadline_s:
    description:
      - For one call, and until another owner lets go of the program.
    type: float
    default: 30
author:
  - Turntable (@turntable)
attributes:
  check_mode:
    description: Says what it would change. It becomes the program's owner while it reads.
    support: full
  diff_mode:
    description: Updates that are written, or would be.
    support: full
"""

EXAMPLES = r"""
- bfrt_entries:
    multicast: [{group: 1, nodes: [{id: 1, rid: 1, ports: [9/0, 11/0]}]}]
    mirrors: [{session: 5, port: 10/0, direction: INGRESS, max_length: 128}]
    descriptors: "{{ turntable_build_dir }}/lib/bfrt/bfruntime.desc"
"""

RETURN = r"""
updates:
  description:
    - That were written, or would be.
  type: list
  returned: always
"""

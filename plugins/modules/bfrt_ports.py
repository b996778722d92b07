#!/usr/bin/python
"""Documentation of plugins/action/bfrt_ports.py, which does the work: no module is sent to the
switch.
"""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: bfrt_ports
short_description: Ports of the switch are as the wiring table has them, over BF Runtime
description:
  - Reads table $PORT, writes what differs, reads again and waits for $PORT_UP; queues and rates of
    tf1.tm likewise.
  - Each port's dev_port is asked of the board ($PORT_STR_INFO) before anything is written.
  - Runs on the controller. BF Runtime has no authentication; the switch's loopback is reached
    through the connection of the host (ssh, netns or local), so that nothing has to listen on a
    network.
options:
  ports:
    description:
      - name (9/0), speed, fec (none, fc, rs), autoneg (default, enabled, disabled), loopback,
        enabled, dev_port, peer.
    type: list
    required: true
    elements: dict
  queues:
    description:
      - port (9/0), queue (without it the whole port), priority (0 to 7, the highest is served
        first), max_rate_kbps (0 for no limit), max_burst_bytes. What is left out stays as it is.
    type: list
    default: []
    elements: dict
  program:
    description:
      - That the switch has to run. Empty for whichever it runs.
    type: str
    default: ""
  pipes:
    description:
      - That the chip has to have; 0 is not compared.
    type: int
    default: 0
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
  up_deadline_s:
    description:
      - For links to come up.
    type: float
    default: 30
author:
  - Turntable (@turntable)
attributes:
  check_mode:
    description: Says what it would change. It becomes the program's owner while it reads.
    support: full
  diff_mode:
    description: Wanted ports before and after, and updates of queues.
    support: full
"""

EXAMPLES = r"""
- bfrt_ports:
    ports: [{name: 9/0, speed: 100G, fec: rs}]
    queues: [{port: 9/0, queue: 7, max_rate_kbps: 1000000}]
    descriptors: "{{ turntable_build_dir }}/lib/bfrt/bfruntime.desc"
"""

RETURN = r"""
updates:
  description:
    - That were written, or would be.
  type: list
  returned: always
ports:
  description:
    - Fields of $PORT by the name of the port.
  type: dict
  returned: if a bf_switchd runs
"""

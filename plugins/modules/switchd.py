#!/usr/bin/python
"""Documentation of plugins/action/switchd.py, which does the work: no module is sent to the
switch.
"""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: switchd
short_description: bf_switchd runs and is ready, or does not run
description:
  - Starts it in a session of its own or as a systemd unit and asks its status port until it says
    ready.
  - Ends it by SIGTERM to its own process, found by session, id and time of start, and verifies that
    its ports are closed.
  - A bf_switchd that was not started here is named and left alone.
options:
  state:
    description:
      - started or stopped.
    type: str
    default: started
    choices:
      - started
      - stopped
  argv:
    description:
      - Command with all arguments; for state=started.
    type: list
    elements: str
  conf:
    description:
      - The program's conf; a running bf_switchd with other content of it is started anew.
    type: path
  environment:
    description:
      - All variables of the process.
    type: dict
    default: {}
  directory:
    description:
      - For log and record.
    type: path
    required: true
  unit:
    description:
      - path, name and text of a systemd unit; without it a process is started.
    type: dict
  ports:
    description:
      - status, and others that are open once it is ready, by name.
    type: dict
    required: true
  deadlines:
    description:
      - Seconds for ready (300), open (5), stop (20).
    type: dict
    default: {}
  take_over:
    description:
      - End a bf_switchd that somebody else has started.
    type: bool
    default: false
author:
  - Turntable (@turntable)
attributes:
  check_mode:
    description: Says what it would change.
    support: full
"""

EXAMPLES = r"""
- switchd:
    state: stopped
    directory: /run/turntable/switchd
    ports: {status: 7777}
"""

RETURN = r"""
pid:
  description:
    - Of bf_switchd.
  type: int
  returned: with state=started
killed:
  description:
    - Whether it took SIGKILL.
  type: bool
  returned: with state=stopped
"""

#!/usr/bin/python
"""Documentation of plugins/action/sde_survey.py, which does the work: no module is sent to the
switch.
"""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: sde_survey
short_description: What there is on a switch with an SDE
description:
  - 'Looks, changes nothing: the SDE''s version and programs, kernel modules, huge pages, other
    bf_switchd
    processes and who has which port.'
  - Needs Python 3.6 or later on the switch, not what Ansible's modules need.
options:
  sde:
    description:
      - Root of the SDE's tree.
    type: path
    required: true
  install:
    description:
      - Where it is installed (SDE_INSTALL).
    type: path
    required: true
  environment:
    description:
      - Variables of programs that are called; no profile file is read.
    type: dict
    default: {}
  sysfs:
    description:
      - Where the kernel driver shows its devices.
    type: path
    default: /sys/class/bf
  huge_pages_file:
    description:
      - Where the kernel says how many huge pages there are.
    type: path
    default: /proc/sys/vm/nr_hugepages
  directory:
    description:
      - Of role switchd's record, by which its own bf_switchd is known.
    type: path
    default: /nonexistent
  ports:
    description:
      - TCP ports that are tried.
    type: list
    default: []
    elements: int
author:
  - Turntable (@turntable)
attributes:
  check_mode:
    description: Says what it would change.
    support: full
"""

EXAMPLES = r"""
- sde_survey:
    sde: /opt/bf-sde
    install: /opt/bf-sde/install
"""

RETURN = r"""
survey:
  description:
    - What was found.
  type: dict
  returned: always
"""

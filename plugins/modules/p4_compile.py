#!/usr/bin/python
"""Documentation of plugins/action/p4_compile.py, which does the work: no module is sent to the
switch.
"""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: p4_compile
short_description: A P4 program is compiled by the SDE's compiler
description:
  - Calls the compiler itself, into a directory named by the hash of sources, flags and compiler
    version.
    A directory that is there already is a compilation that succeeded.
  - It succeeded if the exit status is 0, the manifest says so and tofino.bin is not empty.
options:
  name:
    description:
      - Of the program, as its clients know it.
    type: str
    required: true
  source:
    description:
      - Its top file on the controller, p4/NAME/NAME.p4; its directory and p4/shared are sent along.
    type: path
    required: true
  flags:
    description:
      - Of the compiler.
    type: list
    default: []
    elements: str
  compiler:
    description:
      - Path on the switch.
    type: path
    required: true
  version:
    description:
      - 'Of the compiler: part of the hash.'
    type: str
    default: ''
  root:
    description:
      - Directory on the switch for the outputs.
    type: path
    required: true
  environment:
    description:
      - Variables of the compiler.
    type: dict
    default: {}
  deadline_s:
    description:
      - How long it may take.
    type: int
    default: 3600
  reports:
    description:
      - Directory of the controller that gets the compiler's reports; without it they stay on the
        switch.
    type: path
author:
  - Turntable (@turntable)
attributes:
  check_mode:
    description: Says what it would change.
    support: full
"""

EXAMPLES = r"""
- p4_compile:
    name: simple
    source: p4/simple/simple.p4
    compiler: /opt/bf-sde/install/bin/bf-p4c
    root: /var/lib/turntable/p4
"""

RETURN = r"""
directory:
  description:
    - Of the compilation, on the switch.
  type: str
  returned: always
conf:
  description:
    - Of the program, for bf_switchd.
  type: str
  returned: unless in check mode with a change
fetched:
  description:
    - Reports that were copied to the controller.
  type: list
  returned: always
"""

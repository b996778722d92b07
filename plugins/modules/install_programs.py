#!/usr/bin/python
"""Documentation of plugins/action/install_programs.py, which does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: install_programs
author:
  - Turntable (@turntable)
short_description: Gives a host the programs of the build that it lacks
description:
  - Files with the digest of the build stay as they are, so a host that shares the controller's
    file system is left alone. A host that lacks nothing costs two commands.
  - Fails if a program cannot be loaded on the host, and names the package that it needs.
options:
  source:
    description: Directory of programs on the controller.
    type: path
    required: true
  destination:
    description: Directory on the host.
    type: path
    required: true
  names:
    description: Programs.
    type: list
    elements: str
    required: true
  record:
    description: 'C(path) on the host, C(testbed) and C(changed_settings): what was there before
      is written to it first (module host_settings). An empty path is no record.'
    type: dict
"""

EXAMPLES = r"""
- install_programs:
    source: build/bin
    destination: /opt/turntable/bin
    names: [supervisor, nodectl]
"""

RETURN = r"""
{}
"""

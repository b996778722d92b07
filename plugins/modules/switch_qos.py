#!/usr/bin/python
"""Documentation of plugins/action/switch_qos.py, which does the work: no module is sent to the
switch.
"""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: switch_qos
short_description: Queues of a vendor's switch are as they should be, on its command line
description:
  - Logs in over SSH, asks for every setting's value, sends the lines that make the difference, one
    after the other, and asks again.
  - A line that the switch refuses ends it; what was set before it is taken back. Other settings of
    the switch are left alone.
  - Runs on the controller. The switch's host key has to be in known_hosts, also the first time.
  - Role switch_qos makes dialogue and settings from the templates of a vendor.
options:
  address:
    description:
      - Of the switch, a name or an IP address.
    type: str
    required: true
  port:
    description:
      - Of its SSH server.
    type: int
    default: 22
  user:
    description:
      - An account that may configure the switch.
    type: str
    required: true
  password:
    description:
      - Its password. Without it and private_key_file, keys of the agent are tried.
    type: str
  private_key_file:
    description:
      - Its private key, on the controller.
    type: path
  known_hosts:
    description:
      - A file with the switch's host key, as ssh(1) has them.
    type: path
    required: true
  dialogue:
    description:
      - How the vendor's command line talks, templates/switch_qos/VENDOR/dialogue.yml.
    type: dict
    required: true
  settings:
    description:
      - show, value, wanted, view, line and restore of each setting, as
        templates/switch_qos/VENDOR/settings.yml.j2 has them.
    type: list
    required: true
    elements: dict
  deadline_s:
    description:
      - Seconds for the answer to one line, and for each step of the login.
    type: float
    default: 20
  save:
    description:
      - Keep the switch's whole running configuration over its restart.
    type: bool
    default: false
author:
  - Turntable (@turntable)
attributes:
  check_mode:
    description: Asks the switch, and says what it would send.
    support: full
  diff_mode:
    description: Lines of the settings that differ, before and after.
    support: full
"""

EXAMPLES = r"""
- switch_qos:
    address: 192.0.2.2
    user: admin
    password: "{{ vault_switch_password }}"
    known_hosts: ~/.ssh/known_hosts
    dialogue: "{{ lookup('ansible.builtin.file', 'dialogue.yml') | from_yaml }}"
    settings: "{{ lookup('ansible.builtin.template', 'settings.yml.j2') | from_yaml }}"
"""

RETURN = r"""
lines:
  description:
    - That were sent to change the switch, or would be.
  type: list
  returned: success
"""

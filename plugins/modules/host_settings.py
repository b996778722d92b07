#!/usr/bin/python
"""Settings of a host and the way back from them; all work is in module_utils/turntable_host."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: host_settings
short_description: Settings of a host, with a record of what was there before
description:
  - Reads each setting and writes it only if it differs from what is wanted.
  - Before a setting is changed for the first time, its previous value is written to O(record), on
    the disk. O(state=absent) puts everything back from there and removes the record, also when the
    module was interrupted between the two.
  - A setting that somebody has changed since is not overwritten unless O(changed_settings) says so.
  - Settings that the kernel forgets at a boot are forgotten in the record as well. Run the playbook
    again after a boot.
  - What is not given is not touched.
options:
  state:
    description: V(present) sets what is given; V(absent) puts back what the record says.
    type: str
    choices: [present, absent]
    default: present
  record:
    description: File on the host. Without it nothing is recorded, and nothing can be put back.
    type: path
  testbed:
    description: The testbed's id; a record of another testbed is refused.
    type: str
    required: true
  changed_settings:
    description:
      - What happens to settings that somebody has changed since they were set. V(refuse) fails and
        names them, V(overwrite) sets them nevertheless, V(keep) leaves them and says so.
    type: str
    choices: [refuse, overwrite, keep]
    default: refuse
  purge:
    description: Whether O(state=absent) removes directories with what is in them.
    type: bool
    default: false
  packages:
    description: Debian packages that are installed; what they depend on is recorded with them.
    type: list
    elements: str
  masked_services:
    description: Units of systemd that do not start, such as V(redis-server.service).
    type: list
    elements: str
  stopped_services:
    description: Services of systemd that do not run now.
    type: list
    elements: str
  sysctls:
    description: Kernel parameters with their values, as sysctl(8) names them.
    type: dict
  limits:
    description: Limits of new logins, such as V(nofile), in a file of their own.
    type: dict
  huge_pages:
    description: Size in KiB and how many pages of it are reserved.
    type: dict
  transparent_huge_pages:
    description: Who gets transparent huge pages.
    type: str
    choices: [always, madvise, never]
  cpu_governor:
    description: Frequency governor of all processors.
    type: str
  nic:
    description: The NIC on the data network.
    type: dict
    suboptions:
      name:
        description: Its name.
        type: str
        required: true
      mac:
        description: The MAC address that it has; another one is an error.
        type: str
      mtu:
        description: Largest IP packet, bytes.
        type: int
      address:
        description: An IPv4 address with its prefix length, beside others; the NIC is up then.
        type: str
      neighbours:
        description: IPv4 addresses with the MAC addresses behind them, as permanent entries.
        type: dict
      features:
        description: As C(ethtool -K) takes them.
        type: dict
      coalescing:
        description: As C(ethtool -C) takes them.
        type: dict
      pause:
        description: As C(ethtool -A) takes them.
        type: dict
      channels:
        description: As C(ethtool -L) takes them.
        type: dict
      interrupt_cpus:
        description: Processors that serve its interrupts in turn, each interrupt on one alone.
        type: str
  directories:
    description: Directories that exist, with their modes.
    type: dict
  scratch_directories:
    description: The same for directories whose contents go with them, such as sockets and logs.
    type: dict
  copied_files:
    description:
      - Files with the SHA-256 that they will have. They are recorded only, before somebody else
        copies them; a file that is replaced is kept beside the record.
    type: dict
requirements:
  - Python 3.9
  - ip of iproute2, ethtool for what is named after it, apt-get and dpkg-query for packages
  - root
attributes:
  check_mode:
    description: Reads everything, and says what would be written.
    support: full
  diff_mode:
    description: Every setting that differs, before and after.
    support: full
author:
  - Turntable (@turntable)
"""

EXAMPLES = r"""
- name: Set kernel parameters
  host_settings:
    record: /var/lib/turntable/host_settings.json
    testbed: rack1
    sysctls:
      net.core.rmem_max: 16777216

- name: Put everything back
  host_settings:
    record: /var/lib/turntable/host_settings.json
    testbed: rack1
    state: absent
"""

RETURN = r"""
settings:
  description: Names of the settings that were changed, or would be in check mode.
  returned: always
  type: list
  elements: str
"""

import os
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.turntable_host.converge import POLICIES, Outcome, converge
from ansible.module_utils.turntable_host.errors import HostError
from ansible.module_utils.turntable_host.record import opened
from ansible.module_utils.turntable_host.restore import restore
from ansible.module_utils.turntable_host.wanted import check_nic, wanted_settings

NIC = {
    "name": {"type": "str", "required": True},
    "mac": {"type": "str"},
    "mtu": {"type": "int"},
    "address": {"type": "str"},
    **{key: {"type": "dict"} for key in ("neighbours", "features", "coalescing", "pause")},
    "channels": {"type": "dict"},
    "interrupt_cpus": {"type": "str"},
}
SETTINGS = {
    **{
        key: {"type": "list", "elements": "str"}
        for key in ("packages", "masked_services", "stopped_services")
    },
    **{key: {"type": "dict"} for key in ("sysctls", "limits", "huge_pages")},
    "transparent_huge_pages": {"type": "str", "choices": ["always", "madvise", "never"]},
    "cpu_governor": {"type": "str"},
    "nic": {"type": "dict", "options": NIC},
    "directories": {"type": "dict"},
    "scratch_directories": {"type": "dict"},
    "copied_files": {"type": "dict"},
}


def act(module: AnsibleModule) -> Iterator[Outcome]:
    """What was done, one thing after the other."""
    given = {key: module.params[key] for key in SETTINGS if module.params[key] is not None}
    options = {"changed_since": module.params["changed_settings"], "check": module.check_mode}
    path = module.params["record"]
    with opened(Path(path), module.params["testbed"]) if path else nullcontext() as record:
        if module.params["state"] == "absent":
            if record:
                yield restore(record, purge=module.params["purge"], **options)
            return
        check_nic(given)
        for settings, by_others in wanted_settings(given, module.check_mode):
            yield converge(settings, record, by_others=by_others, **options)


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {"choices": ["present", "absent"], "default": "present"},
            "record": {"type": "path"},
            "testbed": {"type": "str", "required": True},
            "changed_settings": {"choices": list(POLICIES), "default": "refuse"},
            "purge": {"type": "bool", "default": False},
            **SETTINGS,
        },
        required_if=[("state", "absent", ["record"])],
        supports_check_mode=True,
    )
    if os.geteuid() != 0:
        module.fail_json(
            msg="settings of a host need root; expected ansible_user: root, or ansible_become: "
            "true with a sudo that asks no password"
        )
    outcomes: list[Outcome] = []
    failure = ""
    try:
        outcomes.extend(act(module))
    except HostError as error:
        failure = str(error)
    for note in (note for outcome in outcomes for note in outcome.notes):
        module.warn(note)
    left = [text for outcome in outcomes for text in outcome.left]
    if left:
        failure = what_is_left(left)
    if failure:
        module.fail_json(msg=failure, **report(outcomes))
    module.exit_json(**report(outcomes))


def report(outcomes: list[Outcome]) -> dict:
    changed = [difference for outcome in outcomes for difference in outcome.changed]
    diffs = [outcome.diff() for outcome in outcomes]
    return {
        "changed": bool(changed),
        "settings": [str(difference.setting) for difference in changed],
        "diff": {side: "".join(diff[side] for diff in diffs) for side in ("before", "after")},
    }


def what_is_left(left: list[str]) -> str:
    return "\n".join(
        (
            "not everything could be put back",
            *(f"  {text}" for text in left),
            "The record keeps these. Ask who needs them so. -e changed_settings=overwrite puts "
            "back what others have changed, -e changed_settings=keep leaves and forgets it",
        )
    )


if __name__ == "__main__":
    main()

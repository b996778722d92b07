#!/usr/bin/python
"""Whether a host's clock is kept; the work is in module_utils/turntable_host/clock.py."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: host_clock
short_description: A service keeps the host's clock, within a bound
description:
  - Asks chronyd, or ptp4l, how far the host's clock may be off. Changes nothing.
  - Of chronyd it is offset, root dispersion and half of the root delay; of ptp4l the offset of the
    NIC's clock, which phc2sys hands on to the system's.
options:
  bound_us:
    description: How far the clock may be off, microseconds.
    type: float
    required: true
  deadline_s:
    description: How long a service that has just been started may take, seconds.
    type: float
    default: 30
  required:
    description: Whether a host without such a service is an error; else it is skipped, and said.
    type: bool
    default: true
requirements:
  - chronyc of chrony, or pmc of linuxptp
attributes:
  check_mode:
    description: Does the same.
    support: full
author:
  - Turntable (@turntable)
"""

EXAMPLES = r"""
- name: Require a clock that is right to a millisecond
  host_clock:
    bound_us: 1000
"""

RETURN = r"""
service:
  description: Which service keeps the clock.
  returned: when there is one
  type: str
error_us:
  description: How far the clock may be off, microseconds.
  returned: when there is a service
  type: float
"""

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.turntable_host import clock
from ansible.module_utils.turntable_host.errors import HostError


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "bound_us": {"type": "float", "required": True},
            "deadline_s": {"type": "float", "default": 30.0},
            "required": {"type": "bool", "default": True},
        },
        supports_check_mode=True,
    )
    try:
        if not module.params["required"] and clock.look() is None:
            module.warn("no clock service on this emulated host: its clock is not checked")
            module.exit_json(changed=False)
        found = clock.require(module.params["bound_us"], module.params["deadline_s"])
    except HostError as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, service=found.service, error_us=found.error_us)


if __name__ == "__main__":
    main()

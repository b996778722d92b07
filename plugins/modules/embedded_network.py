#!/usr/bin/python
"""Converges the network of an embedded testbed; all work is in module_utils/turntable_testbed."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: embedded_network
short_description: Network namespaces of this machine as the hosts of a testbed
description:
  - Takes the whole topology and makes the kernel show it. That is a namespace per host and one for
    the controller, veth links from the hosts to the switch (without one, to a bridge that they
    share) and to the bridge of the control network, addresses, permanent neighbours, offloads and
    sysctls.
  - Nothing appears in the machine's own network namespace, not even for a moment.
  - Namespaces say whose they are (see module_utils/turntable_testbed/marker.py); those of others
    are never touched.
  - Interrupted runs are repaired by the next one.
options:
  state:
    description:
      - V(present) converges the network and the directories, after it has ended what supervisors
        that live no more had started.
      - V(stopped) ends the processes in it and keeps the network, sshds included.
      - V(absent) ends the processes and removes everything that carries the testbed's id.
    type: str
    choices: [present, stopped, absent]
    default: present
  testbed:
    description: The testbed's id.
    type: str
    required: true
  topology:
    description: See module_utils/turntable_testbed/topology.py; needed for O(state=present).
    type: dict
  directories:
    description:
      - Directories that exist beside the network, created with mode 0755; V(absent) removes them.
    type: list
    elements: path
    default: []
  sshd:
    description:
      - Gives each host an sshd on the control network; see module_utils/turntable_testbed/sshd.py.
    type: dict
    suboptions:
      authorized_key:
        description: File with the public key that may log in.
        type: path
        required: true
      servers:
        description: Per host the keys host, namespace, address, port, user and directory.
        type: list
        elements: dict
        required: true
  deadline_s:
    description: How long processes may take to end in order before they are killed.
    type: float
    default: 10.0
requirements:
  - pyroute2
  - root
attributes:
  check_mode:
    description: Says which steps it would take.
    support: full
  diff_mode:
    description: The state of the testbed's network before and after.
    support: full
author:
  - Turntable (@turntable)
"""

EXAMPLES = r"""
- name: Remove the testbed
  embedded_network:
    testbed: tt
    state: absent
    directories: [/run/turntable/tt]
"""

RETURN = r"""
steps:
  description: What was done (or would be, in check mode), one text per step.
  returned: always
  type: list
  elements: str
host_keys:
  description: Public keys of the hosts' sshds, by host.
  returned: with O(sshd), unless in check mode
  type: dict
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

try:
    from ansible.module_utils.turntable_testbed import (
        collisions,
        lock,
        namespaces,
        observe,
        processes,
        sshd,
    )
    from ansible.module_utils.turntable_testbed.apply import Kernel
    from ansible.module_utils.turntable_testbed.errors import TestbedError
    from ansible.module_utils.turntable_testbed.plan import Step, plan
    from ansible.module_utils.turntable_testbed.state import State, describe
    from ansible.module_utils.turntable_testbed.topology import Topology

    IMPORT_ERROR = None
except ImportError as error:  # pyroute2, outside the project's virtual environment
    IMPORT_ERROR = error

# A testbed comes up in a second; taking one down may wait for its processes to end.
LOCK_DEADLINE_S = 60.0


def converge(module: AnsibleModule) -> dict:
    """state=present."""
    topology = Topology.from_dict(module.params["topology"])
    collisions_found = collisions.find(topology)
    if collisions_found:
        raise TestbedError("\n".join(collisions_found))
    ended = end_processes(module, processes.find_abandoned)
    before = observe.observe(topology.testbed, list(topology.sysctls))
    desired = topology.desired()
    steps = plan(before, desired, topology.testbed)
    missing = [path for path in map(Path, module.params["directories"]) if not path.is_dir()]
    after = desired
    if not module.check_mode:
        take(steps)
        for path in missing:
            path.mkdir(mode=0o755, parents=True, exist_ok=True)
        after = observe.observe(topology.testbed, list(topology.sysctls))
        verify(after, desired, topology.testbed)
    texts = ended + [str(step) for step in steps] + [f"create directory {path}" for path in missing]
    servers = ssh_servers(module)
    if servers:
        key = Path(module.params["sshd"]["authorized_key"])
        texts += sshd.converge(servers, key, module.check_mode)
    result = report(texts, before, after)
    if servers and not module.check_mode:
        result["host_keys"] = {server.host: server.public_key() for server in servers}
    return result


def ssh_servers(module: AnsibleModule) -> list[sshd.Server]:
    parameters = module.params["sshd"] or {"servers": []}
    return [sshd.Server.from_dict(server) for server in parameters["servers"]]


def stop(module: AnsibleModule) -> dict:
    """state=stopped."""
    return report(end_processes(module, processes.find_nodes), {}, {})


def remove(module: AnsibleModule) -> dict:
    """state=absent."""
    testbed = module.params["testbed"]
    texts = end_processes(module, processes.find)
    before = observe.observe(testbed, [])
    stale = unbound_names(testbed)
    steps = [Step("remove_namespace", name) for name in before]
    existing = removable_directories(module.params["directories"], testbed)
    if not module.check_mode:
        take(steps)
        for name in stale:
            namespaces.path_of(name).unlink(missing_ok=True)
        for path in existing:
            shutil.rmtree(path)
    texts += [str(step) for step in steps]
    texts += [f"remove the name {name} of an interrupted creation" for name in stale]
    texts += [f"remove directory {path}" for path in existing]
    return report(texts, before, {})


def take(steps: list[Step]) -> None:
    with Kernel() as kernel:
        for step in steps:
            kernel.take(step)


def verify(after: State, desired: State, testbed: str) -> None:
    """What was built is read back: a step that the kernel accepted and ignored must not pass."""
    remaining = plan(after, desired, testbed)
    if remaining:
        raise TestbedError(
            f"testbed {testbed!r} is not as it should be after all steps were taken; "
            f"still missing: {'; '.join(map(str, remaining))}. "
            "Run playbooks/testbed_down.yml, then playbooks/testbed_up.yml"
        )


def end_processes(
    module: AnsibleModule, which: Callable[[str], list[processes.Process]]
) -> list[str]:
    testbed = module.params["testbed"]
    if module.check_mode:
        found = which(testbed)
    else:
        found = processes.end(testbed, module.params["deadline_s"], which)
    return [f"end {process}" for process in found]


def unbound_names(testbed: str) -> list[str]:
    """Names of this testbed without a namespace behind them."""
    if not namespaces.DIRECTORY.is_dir():
        return []
    return sorted(
        path.name
        for path in namespaces.DIRECTORY.iterdir()
        if path.name.startswith(f"{testbed}-") and namespaces.inode_of(path) is None
    )


def removable_directories(paths: list[str], testbed: str) -> list[Path]:
    """Those that exist; one not named after the testbed is an error: it may hold anything."""
    for path in map(Path, paths):
        if path.name != testbed:
            raise TestbedError(
                f"directory {path} is not removed: expected its last part to be the testbed's id "
                f"{testbed!r}. Correct turntable_run_root or turntable_state_root in the inventory"
            )
    return [path for path in map(Path, paths) if path.is_dir()]


def report(texts: list[str], before: State, after: State) -> dict:
    return {
        "changed": bool(texts),
        "steps": texts,
        "diff": {"before": describe(before), "after": describe(after)},
    }


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {"choices": ["present", "stopped", "absent"], "default": "present"},
            "testbed": {"type": "str", "required": True},
            "topology": {"type": "dict"},
            "directories": {"type": "list", "elements": "path", "default": []},
            "sshd": {
                "type": "dict",
                "options": {
                    "authorized_key": {"type": "path", "required": True, "no_log": False},
                    "servers": {"type": "list", "elements": "dict", "required": True},
                },
            },
            "deadline_s": {"type": "float", "default": 10.0},
        },
        required_if=[("state", "present", ["topology"])],
        supports_check_mode=True,
    )
    if IMPORT_ERROR is not None:
        module.fail_json(
            msg=f"{missing_required_lib('pyroute2')} "
            "Expected the project's virtual environment: run make setup."
        )
    if os.geteuid() != 0:
        module.fail_json(
            msg="network namespaces need root; expected to run as root: "
            "use sudo for ansible-playbook, or make."
        )
    action = {"present": converge, "stopped": stop, "absent": remove}[module.params["state"]]
    try:
        with lock.held(module.params["testbed"], LOCK_DEADLINE_S):
            result = action(module)
    except TestbedError as error:
        module.fail_json(msg=str(error))
    module.exit_json(**result)


if __name__ == "__main__":
    main()

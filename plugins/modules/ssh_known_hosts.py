#!/usr/bin/python
"""Collects and verifies the keys of hosts; the work is in module_utils/turntable_ssh."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: ssh_known_hosts
short_description: A known_hosts file with exactly one verified key per host
description:
  - A host whose key is given gets that key. Every other host is asked for it.
  - The fingerprint of a host that is not in the file yet is reported, to be compared by hand.
  - A host that shows another key than the file says is an error that changes nothing.
  - The file is replaced as a whole and holds the given hosts only.
options:
  path:
    description: The file.
    type: path
    required: true
  hosts:
    description: Whom the file is about.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Inventory name, for messages.
        type: str
        required: true
      address:
        description: Name or address that ssh connects to.
        type: str
        required: true
      port:
        description: Port of its sshd.
        type: int
        default: 22
      key:
        description: Its public key, as in C(/etc/ssh/ssh_host_ed25519_key.pub), if it is known.
        type: str
  accept_changed:
    description: Names of hosts whose key may have changed since.
    type: list
    elements: str
    default: []
  timeout_s:
    description: How long a host may take to answer.
    type: int
    default: 5
requirements:
  - ssh-keyscan of OpenSSH
attributes:
  check_mode:
    description: Asks the hosts, and says which keys it would write.
    support: full
author:
  - Turntable (@turntable)
"""

EXAMPLES = r"""
- name: Know the hosts of the rack
  ssh_known_hosts:
    path: ~/.ssh/turntable/known_hosts
    hosts:
      - {name: server0, address: 192.0.2.21}
"""

RETURN = r"""
keys:
  description:
    - Per host the C(fingerprint) of its key, and as C(source) whether it was V(given), V(known),
      V(new) or V(changed).
  returned: always
  type: list
  elements: dict
"""

import subprocess
import tempfile
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.turntable_ssh.known_hosts import (
    Host,
    HostKeyError,
    decide,
    fingerprint,
    parse,
    render,
    scan_batches,
)


def scan(hosts: list[Host], timeout_s: int) -> dict[str, str]:
    """Known-hosts name -> the ed25519 key that the host shows; silent hosts are left out."""
    found: dict[str, str] = {}
    for port, addresses in scan_batches(hosts):
        command = ["ssh-keyscan", "-T", str(timeout_s), "-t", "ed25519", "-p", str(port)]
        done = subprocess.run([*command, *addresses], capture_output=True, text=True, check=False)
        found |= parse(done.stdout)
    return found


def read(path: Path) -> dict[str, str]:
    try:
        return parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}


def replace(path: Path, text: str) -> None:
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
        file.write(text)
    Path(file.name).replace(path)


def main() -> None:
    host = {
        "name": {"type": "str", "required": True},
        "address": {"type": "str", "required": True},
        "port": {"type": "int", "default": 22},
        "key": {"type": "str", "no_log": False},
    }
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "required": True},
            "hosts": {"type": "list", "elements": "dict", "required": True, "options": host},
            "accept_changed": {"type": "list", "elements": "str", "default": []},
            "timeout_s": {"type": "int", "default": 5},
        },
        supports_check_mode=True,
    )
    path = Path(module.params["path"])
    hosts = [Host(**entry) for entry in module.params["hosts"]]
    known = read(path)
    shown = scan([host for host in hosts if not host.key], module.params["timeout_s"])
    try:
        decisions = decide(hosts, known, shown, set(module.params["accept_changed"]))
    except HostKeyError as error:
        module.fail_json(msg=str(error))
    text = render(decisions)
    changed = not path.exists() or path.read_text(encoding="utf-8") != text
    if changed and not module.check_mode:
        replace(path, text)
    keys = [
        {"host": it.host.name, "fingerprint": fingerprint(it.key), "source": it.source}
        for it in decisions
    ]
    module.exit_json(changed=changed, keys=keys)


if __name__ == "__main__":
    main()

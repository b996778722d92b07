"""The inventories of a directory, for messages that name one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ansible.errors import AnsibleError
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.vars.manager import VariableManager

from .inventory import TARGET, VENDOR

Groups = dict[str, list[str]]

# Of racks, which are somebody's own.
_RACKS = {"tofino", VENDOR}


def inventories_of(directory: Path) -> Iterator[tuple[str, Groups]]:
    """Name -> groups with their hosts. Left out are those that Ansible cannot read, and racks."""
    for file in sorted(directory.glob("*/hosts.yml")):
        loader = DataLoader()
        try:
            read = InventoryManager(loader=loader, sources=[str(file)], cache=False)
            switches = read.get_hosts("switches") if "switches" in read.groups else []
            variables = VariableManager(loader=loader, inventory=read)
            targets = {variables.get_vars(host=host).get(TARGET) for host in switches}
        except AnsibleError:
            continue
        if not _RACKS & targets:
            yield file.parent.name, read.get_groups_dict()

"""The inventories of a directory, for messages that name one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ansible.errors import AnsibleError
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader

Groups = dict[str, list[str]]


def inventories_of(directory: Path) -> Iterator[tuple[str, Groups]]:
    """Name -> groups with their hosts; one that Ansible cannot read is left out."""
    for file in sorted(directory.glob("*/hosts.yml")):
        try:
            read = InventoryManager(loader=DataLoader(), sources=[str(file)], cache=False)
        except AnsibleError:
            continue
        yield file.parent.name, read.get_groups_dict()

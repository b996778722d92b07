"""In place of azure.azcollection.azure_rm: virtual machines of a file. No cloud is asked.

Both plugins leave `conditional_groups` and `hostvar_expressions` to ansible-core.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from ansible.plugins.inventory import BaseInventoryPlugin, Constructable

DOCUMENTATION = """
name: azure_rm
short_description: virtual machines of a file
description: Of the file that TURNTABLE_TEST_MACHINES names.
options:
  plugin: {description: this one, required: true}
  auth_source: {description: not used, default: auto}
  include_vm_resource_groups: {description: whose machines, type: list, elements: str}
  plain_host_names: {description: names without a digest, type: bool, default: false}
  conditional_groups: {description: group -> condition, type: dict, default: {}}
  hostvar_expressions: {description: variable -> expression, type: dict, default: {}}
"""


class InventoryModule(BaseInventoryPlugin, Constructable):
    NAME = "azure.azcollection.azure_rm"

    def verify_file(self, path: str) -> bool:
        return path.endswith(("azure_rm.yml", "azure_rm.yaml"))

    def parse(self, inventory: Any, loader: Any, path: str, cache: bool = True) -> None:
        super().parse(inventory, loader, path, cache)
        self._read_config_data(path)
        for machine in json.loads(Path(os.environ["TURNTABLE_TEST_MACHINES"]).read_text()):
            if machine["resource_group"] not in self.get_option("include_vm_resource_groups"):
                continue
            name = machine["name"]
            self.inventory.add_host(name)
            for key, value in machine.items():
                self.inventory.set_variable(name, key, value)
            expressions = self.get_option("hostvar_expressions")
            self._set_composite_vars(expressions, machine, name, strict=True)
            groups = self.get_option("conditional_groups")
            self._add_host_to_composed_groups(groups, machine, name, strict=True)

"""Prints what check_inventory says of inventories, as a JSON object: by path, "" for a good one.

In one process, for a playbook takes two seconds to start:

    python check_inventories.py INVENTORY...    in the directory of ansible.cfg
"""

from __future__ import annotations

import json
import sys

from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.loader import init_plugin_loader
from ansible.vars.hostvars import HostVars
from ansible.vars.manager import VariableManager

from turntable_inventory.problem import render
from turntable_inventory.read import problems_of, read_inventory


def said(path: str) -> str:
    loader = DataLoader()
    inventory = InventoryManager(loader, sources=[path])
    variables = VariableManager(loader, inventory)
    of_hosts = {"hostvars": HostVars(inventory, variables, loader)}
    read = read_inventory(variables.get_vars(host=inventory.get_host("localhost")) | of_hosts)
    problems = list(problems_of(read))
    return render(problems, list(read.hosts)) if problems else ""


if __name__ == "__main__":
    init_plugin_loader()  # of collections, for inventories that are plugins
    print(json.dumps({path: said(path) for path in sys.argv[1:]}))

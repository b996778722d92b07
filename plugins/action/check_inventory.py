"""Action plugin: checks the inventory before anything is changed.

Documented in plugins/modules/check_inventory.py.
"""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from turntable_inventory.problem import render
from turntable_inventory.read import problems_of, read_inventory


class ActionModule(ActionBase):
    """See the module's docstring; it takes no arguments."""

    _VALID_ARGS = frozenset()
    _supports_check_mode = True

    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        inventory = read_inventory(task_vars or {})
        problems = list(problems_of(inventory))
        if problems:
            raise AnsibleActionFail(
                "The inventory does not hold together; nothing was changed.\n"
                + render(problems, list(inventory.hosts))
            )
        return {**result, "changed": False}

"""Documented in plugins/modules/sde_survey.py."""

from __future__ import annotations

from typing import Any

from turntable_sde.action import SwitchAction


class ActionModule(SwitchAction):
    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        del tmp
        _, arguments = self.validate_argument_spec(
            {
                "sde": {"type": "path", "required": True},
                "install": {"type": "path", "required": True},
                "environment": {"type": "dict", "default": {}},
                "sysfs": {"type": "path", "default": "/sys/class/bf"},
                "huge_pages_file": {"type": "path", "default": "/proc/sys/vm/nr_hugepages"},
                "directory": {"type": "path", "default": "/nonexistent"},
                "ports": {"type": "list", "elements": "int", "default": []},
            }
        )
        return result | {"changed": False, "survey": self.call("survey", **arguments)}

"""Documented in plugins/modules/sde_module.py."""

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
                "install": {"type": "path", "required": True},
                "module": {"type": "str", "choices": ["bf_kdrv", "bf_kpkt"], "default": "bf_kdrv"},
                "environment": {"type": "dict", "default": {}},
            }
        )
        return result | self.call("module", check=self.checks_only, **arguments)

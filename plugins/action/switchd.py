"""Documented in plugins/modules/switchd.py."""

from __future__ import annotations

from typing import Any

from turntable_sde.action import SwitchAction

_DEADLINES = {"ready": 300, "open": 5, "stop": 20}


class ActionModule(SwitchAction):
    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        del tmp
        validated, arguments = self.validate_argument_spec(
            {
                "state": {"type": "str", "choices": ["started", "stopped"], "default": "started"},
                "argv": {"type": "list", "elements": "str"},
                "conf": {"type": "path"},
                "environment": {"type": "dict", "default": {}},
                "directory": {"type": "path", "required": True},
                "unit": {"type": "dict"},
                "ports": {"type": "dict", "required": True},
                "deadlines": {"type": "dict", "default": {}},
                "take_over": {"type": "bool", "default": False},
            },
            required_if=[("state", "started", ("argv", "conf"))],
        )
        del validated
        arguments["ports"] = {name: int(port) for name, port in arguments["ports"].items()}
        given = {name: float(value) for name, value in arguments["deadlines"].items()}
        arguments["deadlines"] = _DEADLINES | given
        if arguments["state"] == "stopped":
            kept = ("state", "directory", "ports", "deadlines")
            arguments = {key: arguments[key] for key in kept}
        return result | self.call("daemon", check=self.checks_only, **arguments)

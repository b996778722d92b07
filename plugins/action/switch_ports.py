"""Documented in plugins/modules/switch_ports.py."""

from __future__ import annotations

import time
from typing import Any

from ansible.errors import AnsibleActionFail

from turntable_sde import pm
from turntable_sde.action import SwitchAction

# Between two looks at ports that are coming up.
_INTERVAL_S = 0.5


class ActionModule(SwitchAction):
    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        del tmp
        _, arguments = self.validate_argument_spec(
            {
                "ports": {"type": "list", "elements": "dict", "required": True},
                "cli_port": {"type": "int", "default": 9999},
                "command_deadline_s": {"type": "float", "default": 30},
                "up_deadline_s": {"type": "float", "default": 30},
            }
        )
        self._cli = {
            "port": arguments["cli_port"],
            "deadline_s": arguments["command_deadline_s"],
            "check": self.checks_only,
        }
        wanted = [pm.Wanted(**port) for port in arguments["ports"]]
        try:
            return result | self._converge(wanted, arguments["up_deadline_s"])
        except pm.PortsError as error:
            raise AnsibleActionFail(str(error)) from error

    def _converge(self, wanted: list[pm.Wanted], up_deadline_s: float) -> dict[str, Any]:
        before = self._rows()
        self._require_board(wanted)
        commands = [
            command for port in wanted for command in pm.commands_for(port, before.get(port.name))
        ]
        rows = before
        if commands and not self.checks_only:
            self._type(commands)
            rows = self._rows()
            wrong = pm.differences(wanted, rows)
            if wrong:
                raise pm.PortsError("; ".join(wrong) + ". Ports are as the switch shows them")
        if not (commands and self.checks_only):
            rows = self._wait_up(wanted, rows, up_deadline_s)
        return {
            "changed": bool(commands),
            "commands": commands,
            "ports": rows,
            "diff": {"prepared": "".join(f"{command}\n" for command in commands)},
        }

    def _require_board(self, wanted: list[pm.Wanted]) -> None:
        """All ports of the board, added or not: which there are, and their dev_ports."""
        rows = self._rows("show -a")
        if not rows and self.checks_only:
            return  # what would be started has not been
        absent = [port for port in wanted if port.name not in rows]
        if absent:
            raise pm.PortsError(
                f"the board has no port {', '.join(port.name for port in absent)}; "
                f"expected one of {', '.join(rows)}"
            )
        wrong = pm.wrong_dev_ports(wanted, rows)
        if wrong:
            raise pm.PortsError(
                "; ".join(wrong) + ". Write the board's number into turntable_wiring"
            )

    def _rows(self, command: str = "show") -> dict[str, dict[str, str]]:
        said = self.call("terminal", commands=[command], **self._cli)
        return pm.rows_of(said[0]) if said else {}

    def _type(self, commands: list[str]) -> None:
        """In order; what is wrong is said of all of them, for each is one step of a known way."""
        said = self.call("terminal", commands=commands, **self._cli)
        wrong = [
            f"{command}: {error}"
            for command, text in zip(commands, said, strict=True)
            if (error := pm.error_in(text))
        ]
        if wrong:
            raise pm.PortsError(
                "the port manager refused "
                + "; ".join(wrong)
                + ". Other commands had their effect; "
                "the next application begins with what the switch shows then"
            )

    def _wait_up(
        self, wanted: list[pm.Wanted], rows: dict[str, dict[str, str]], deadline_s: float
    ) -> dict[str, dict[str, str]]:
        end = time.monotonic() + deadline_s
        while left := pm.down(wanted, rows):
            if time.monotonic() > end:
                reasons = "; ".join(pm.why_down(port, rows[port.name]) for port in left)
                raise pm.PortsError(f"not up within {deadline_s:g} s: {reasons}")
            time.sleep(_INTERVAL_S)  # waits: interval of a probe with a deadline
            rows = self._rows()
        return rows

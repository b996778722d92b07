"""Documented in plugins/modules/switch_qos.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from turntable_switch_cli.converge import converge, settings_of
from turntable_switch_cli.dialogue import dialogue_of
from turntable_switch_cli.errors import SwitchCliError
from turntable_switch_cli.session import Access, session_with


class ActionModule(ActionBase):
    """Runs on the controller: no Python is needed on the switch."""

    _supports_check_mode = True
    _requires_connection = False
    ARGUMENTS: ClassVar[dict[str, dict[str, Any]]] = {
        "address": {"type": "str", "required": True},
        "port": {"type": "int", "default": 22},
        "user": {"type": "str", "required": True},
        "password": {"type": "str", "no_log": True},
        "private_key_file": {"type": "path"},
        "known_hosts": {"type": "path", "required": True},
        "dialogue": {"type": "dict", "required": True},
        "settings": {"type": "list", "elements": "dict", "required": True},
        "deadline_s": {"type": "float", "default": 20},
        "save": {"type": "bool", "default": False},
    }

    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        switch = (task_vars or {}).get("inventory_hostname", "")
        del tmp
        _, given = self.validate_argument_spec(self.ARGUMENTS)
        try:
            return result | self._converge(switch, given)
        except SwitchCliError as error:
            raise AnsibleActionFail(str(error)) from None

    def _converge(self, switch: str, given: dict[str, Any]) -> dict[str, Any]:
        dialogue, settings = dialogue_of(given["dialogue"]), settings_of(given["settings"])
        access = Access(
            switch,
            given["address"],
            given["port"],
            given["user"],
            Path(given["known_hosts"]),
            given["password"] or None,
            given["private_key_file"] or None,
        )
        checks_only = bool(self._task.check_mode)
        with session_with(access, dialogue, given["deadline_s"]) as session:
            outcome = converge(session, switch, settings, dialogue, checks_only)
            if given["save"] and not checks_only:
                session.ask(dialogue.save)
        return {
            "changed": bool(outcome.lines),
            "lines": outcome.lines,
            "diff": {
                "before": "".join(f"{line}\n" for line in outcome.before),
                "after": "".join(f"{line}\n" for line in outcome.after),
            },
        }

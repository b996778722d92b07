"""Refuses extra variables that a playbook does not take, before anything is changed.

Documented in plugins/modules/check_variables.py.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

from turntable_core.playbook_variables import refuse_unknown
from turntable_core.run_action import RunAction
from turntable_inventory.read import SCHEMA


class ActionModule(RunAction):
    ARGUMENTS: ClassVar = {"known": {"type": "list", "elements": "str", "required": True}}

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        del task_vars
        of_testbed = json.loads(SCHEMA.read_text())["properties"]
        refuse_unknown(self.extra_vars(), arguments["known"], of_testbed)
        return {"changed": False}

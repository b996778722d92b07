"""What the action plugins share: a program runs on the switch, its answer comes back."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from turntable_sde.call import COMMAND, SwitchError, answer_of, text_of


class SwitchAction(ActionBase):
    """With `become` where the task has it. Nothing is copied to the switch, no module is needed
    there.
    """

    _supports_check_mode = True
    _requires_connection = True

    def call(self, name: str, /, **arguments: Any) -> Any:
        done = self._low_level_execute_command(COMMAND, in_data=text_of(name, arguments))
        try:
            return answer_of(done["rc"], done["stdout"], done["stderr"])
        except SwitchError as error:
            raise AnsibleActionFail(str(error)) from error

    @property
    def checks_only(self) -> bool:
        return bool(self._task.check_mode)

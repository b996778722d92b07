"""What action plugins that speak BF Runtime share: the way to the switch, the program, errors."""

from __future__ import annotations

import contextlib
from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail

from turntable_bfrt import BfrtError, Client, SchemaError
from turntable_sde.action import SwitchAction
from turntable_sde.pm import PortsError
from turntable_sde.relay import Relay, RelayError, command_to


class BfrtAction(SwitchAction):
    """Runs on the controller. BF Runtime asks nobody who he is: the switch's loopback is reached
    through the host's own connection, so that nothing has to listen on a network.
    """

    # Arguments of each of them.
    ARGUMENTS: ClassVar[dict[str, dict[str, Any]]] = {
        "program": {"type": "str", "default": ""},
        "descriptors": {"type": "path", "required": True},
        "address": {"type": "str", "default": ""},
        "port": {"type": "int", "default": 50052},
        "client_id": {"type": "int", "default": 20},
        "call_deadline_s": {"type": "float", "default": 30},
    }
    OWN_ARGUMENTS: ClassVar[dict[str, dict[str, Any]]] = {}

    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        host = (task_vars or {}).get("inventory_hostname", "")
        self._relayed = ""
        del tmp
        _, self._given = self.validate_argument_spec(self.ARGUMENTS | self.OWN_ARGUMENTS)
        try:
            return result | self._reach()
        except (BfrtError, PortsError, RelayError, SchemaError, FileNotFoundError) as error:
            # The end of the relay here says nothing to anybody.
            text = str(error).replace(self._relayed or "\0", host)
            raise AnsibleActionFail(text) from None

    @abstractmethod
    def converge(self, client: Client) -> dict[str, Any]:
        """The result, of a switch whose program is bound."""

    @abstractmethod
    def foresee(self) -> dict[str, Any]:
        """The result in check mode, of a switch that would be started first."""

    def _reach(self) -> dict[str, Any]:
        port = self._given["port"]
        if not self._given["address"] and not self.call("listening", port=port):
            if self.checks_only:
                return self.foresee()
            raise PortsError(
                f"nothing listens at port {port} (BF Runtime) of the switch; expected a "
                "bf_switchd that is ready"
            )
        with self._client() as client:
            try:
                running = client.programs()
            except BfrtError as error:
                if self.checks_only and self._given["address"] and error.code == "UNAVAILABLE":
                    return self.foresee()
                raise
            program = self._given["program"] or next(iter(running), "")
            if self.checks_only and program not in running:
                return self.foresee()  # bf_switchd would be started anew
            client.bind(program)
            return self.converge(client)

    @contextlib.contextmanager
    def _client(self) -> Iterator[Client]:
        with contextlib.ExitStack() as stack:
            address = self._given["address"]
            if not address:
                relay = Relay(command_to(self._connection, self._given["port"]))
                address = self._relayed = stack.enter_context(relay).address
            yield stack.enter_context(
                Client(
                    address,
                    self._given["client_id"],
                    Path(self._given["descriptors"]),
                    self._given["call_deadline_s"],
                )
            )

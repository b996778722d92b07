"""Documented in plugins/modules/bfrt_ports.py."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail

from turntable_bfrt import BfrtError, Client, SchemaError, Update
from turntable_sde import port_table, queue_tables
from turntable_sde.action import SwitchAction
from turntable_sde.pm import PortsError, Wanted
from turntable_sde.relay import Relay, RelayError, command_to

# Between two looks at ports that are coming up.
_INTERVAL_S = 0.5


class ActionModule(SwitchAction):
    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        host = (task_vars or {}).get("inventory_hostname", "")
        self._relayed = ""
        del tmp
        _, self._given = self.validate_argument_spec(
            {
                "ports": {"type": "list", "elements": "dict", "required": True},
                "queues": {"type": "list", "elements": "dict", "default": []},
                "program": {"type": "str", "default": ""},
                "pipes": {"type": "int", "default": 0},
                "descriptors": {"type": "path", "required": True},
                "address": {"type": "str", "default": ""},
                "port": {"type": "int", "default": 50052},
                "client_id": {"type": "int", "default": 20},
                "call_deadline_s": {"type": "float", "default": 30},
                "up_deadline_s": {"type": "float", "default": 30},
            }
        )
        wanted = [Wanted(**port) for port in self._given["ports"]]
        queues = [queue_tables.Scheduled(**one) for one in self._given["queues"]]
        try:
            return result | self._reach(wanted, queues)
        except (BfrtError, PortsError, RelayError, SchemaError, FileNotFoundError) as error:
            # The end of the relay here says nothing to anybody.
            text = str(error).replace(self._relayed or "\0", host)
            raise AnsibleActionFail(text) from None

    def _reach(self, wanted: list[Wanted], queues: list[queue_tables.Scheduled]) -> dict[str, Any]:
        port = self._given["port"]
        if not self._given["address"] and not self.call("listening", port=port):
            if self.checks_only:
                return self._would_add_all(wanted)
            raise PortsError(
                f"nothing listens at port {port} (BF Runtime) of the switch; expected a "
                "bf_switchd that is ready"
            )
        with self._client() as client:
            running = client.programs()
            program = self._given["program"] or next(iter(running), "")
            if self.checks_only and program not in running:
                return self._would_add_all(wanted)  # bf_switchd would be started anew
            client.bind(program)
            return self._converge(client, wanted, queues)

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

    def _would_add_all(self, wanted: list[Wanted]) -> dict[str, Any]:
        """What is there when a bf_switchd is started has no port."""
        after = "".join(f"{port.name} {port_table.row_of(port)}\n" for port in wanted)
        return {"changed": bool(wanted), "updates": [], "diff": {"before": "", "after": after}}

    def _converge(
        self, client: Client, wanted: list[Wanted], queues: list[queue_tables.Scheduled]
    ) -> dict[str, Any]:
        table = port_table.PortTable(client)
        numbers = table.numbers(wanted)
        if self._given["pipes"]:
            table.require_pipes(self._given["pipes"])
        before = rows = table.rows()
        updates: list[Update] = []
        for port in wanted:
            number = numbers[port.name]
            updates += port_table.updates_for(port, number, rows.get(number))
        if updates and not self.checks_only:
            table.write(updates)
            rows = table.rows()
            wrong = port_table.differences(wanted, numbers, rows)
            if wrong:
                raise PortsError("; ".join(wrong) + ". Ports are as the switch shows them")
        scheduling = self._schedule(client, table, queues, numbers)
        if not (updates and self.checks_only):
            rows = self._wait_up(table, wanted, numbers, rows)
        after = rows
        if self.checks_only:
            after = before | {numbers[port.name]: port_table.row_of(port) for port in wanted}
        texts = [port_table.text_of(update) for update in (*updates, *scheduling)]
        return {
            "changed": bool(texts),
            "updates": texts,
            "ports": {name: rows.get(number) for name, number in numbers.items()},
            "diff": {
                "before": port_table.shown(before, numbers),
                "after": port_table.shown(after, numbers)
                + "".join(f"{port_table.text_of(update)}\n" for update in scheduling),
            },
        }

    def _schedule(
        self,
        client: Client,
        table: port_table.PortTable,
        queues: list[queue_tables.Scheduled],
        numbers: dict[str, int],
    ) -> list[Update]:
        strange = [one.port for one in queues if one.port not in numbers]
        if strange:
            raise PortsError(
                f"queues of {', '.join(strange)}: expected ports of the wiring table, one of "
                f"{', '.join(numbers)}"
            )
        updates = queue_tables.updates_for(client, queues, numbers)
        if updates and not self.checks_only:
            table.write(updates)
            left = queue_tables.updates_for(client, queues, numbers)
            if left:
                raise PortsError(
                    "the switch does not show what was written: "
                    + "; ".join(map(port_table.text_of, left))
                )
        return updates

    def _wait_up(
        self,
        table: port_table.PortTable,
        wanted: list[Wanted],
        numbers: dict[str, int],
        rows: dict[int, dict[str, Any]],
    ) -> dict[int, dict[str, Any]]:
        deadline_s = self._given["up_deadline_s"]
        end = time.monotonic() + deadline_s
        while left := port_table.down(wanted, numbers, rows):
            if time.monotonic() > end:
                reasons = [port_table.why_down(p, rows[numbers[p.name]]) for p in left]
                raise PortsError(f"not up within {deadline_s:g} s: {'; '.join(reasons)}")
            time.sleep(_INTERVAL_S)  # waits: interval of a probe with a deadline
            rows = table.rows()
        return rows

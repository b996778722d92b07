"""Documented in plugins/modules/bfrt_ports.py."""

from __future__ import annotations

import time
from typing import Any, ClassVar

from turntable_bfrt import Client, Update
from turntable_sde import port_table, queue_tables
from turntable_sde.bfrt_action import BfrtAction
from turntable_sde.pm import PortsError, Wanted

# Between two looks at ports that are coming up.
_INTERVAL_S = 0.5


class ActionModule(BfrtAction):
    OWN_ARGUMENTS: ClassVar = {
        "ports": {"type": "list", "elements": "dict", "required": True},
        "queues": {"type": "list", "elements": "dict", "default": []},
        "pipes": {"type": "int", "default": 0},
        "up_deadline_s": {"type": "float", "default": 30},
    }

    def _wanted(self) -> list[Wanted]:
        return [Wanted(**port) for port in self._given["ports"]]

    def foresee(self) -> dict[str, Any]:
        """What is there when a bf_switchd is started has no port."""
        wanted = self._wanted()
        after = "".join(f"{port.name} {port_table.row_of(port)}\n" for port in wanted)
        return {"changed": bool(wanted), "updates": [], "diff": {"before": "", "after": after}}

    def converge(self, client: Client) -> dict[str, Any]:
        wanted = self._wanted()
        queues = [queue_tables.Scheduled(**one) for one in self._given["queues"]]
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

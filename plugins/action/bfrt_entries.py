"""Documented in plugins/modules/bfrt_entries.py."""

from __future__ import annotations

from typing import Any, ClassVar

from turntable_bfrt import Client
from turntable_sde import entries, port_table
from turntable_sde.bfrt_action import BfrtAction
from turntable_sde.pm import PortsError


class ActionModule(BfrtAction):
    OWN_ARGUMENTS: ClassVar = {
        "multicast": {"type": "list", "elements": "dict", "default": []},
        "mirrors": {"type": "list", "elements": "dict", "default": []},
        "entries": {"type": "list", "elements": "dict", "default": []},
    }

    def foresee(self) -> dict[str, Any]:
        given = [self._given[name] for name in ("multicast", "mirrors", "entries")]
        after = "".join(f"{one}\n" for ones in given for one in ones)
        return {"changed": any(given), "updates": [], "diff": {"before": "", "after": after}}

    def converge(self, client: Client) -> dict[str, Any]:
        wanted = entries.wanted_of(
            self._given["multicast"],
            self._given["mirrors"],
            self._given["entries"],
            lambda port: entries.dev_port_of(client, port),
        )

        def left() -> list[Any]:
            return [update for one in wanted if (update := entries.update_for(client, one))]

        updates = left()
        if updates and not self.checks_only:
            port_table.PortTable(client).write(updates)
            if wrong := left():
                raise PortsError(
                    "the switch does not show what was written: "
                    + "; ".join(map(port_table.text_of, wrong))
                )
        texts = [port_table.text_of(update) for update in updates]
        return {
            "changed": bool(texts),
            "updates": texts,
            "diff": {"prepared": "".join(f"{text}\n" for text in texts)},
        }

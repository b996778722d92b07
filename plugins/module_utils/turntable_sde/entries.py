"""Entries of tables that stay as they are while a program runs: multicast, mirror sessions, and
those of the program's own tables. Read, then written where they differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from turntable_bfrt import BfrtError, Client, Entry, Update
from turntable_sde.pm import PortsError

NODE, GROUP, MIRROR, BY_NAME = "$pre.node", "$pre.mgid", "$mirror.cfg", "$PORT_STR_INFO"


def wanted_of(
    multicast: Iterable[Mapping[str, Any]],
    mirrors: Iterable[Mapping[str, Any]],
    entries: Iterable[Mapping[str, Any]],
    dev_port: Callable[[Any], int],
) -> list[Update]:
    """Inserts, in the order in which the switch takes them: a node before its group."""
    nodes, groups = [], []
    for group in multicast:
        members = sorted(node["id"] for node in group["nodes"])
        for node in group["nodes"]:
            ports = {
                "$MULTICAST_RID": node.get("rid", 0),
                "$DEV_PORT": sorted(dev_port(port) for port in node["ports"]),
                "$MULTICAST_LAG_ID": [],
            }
            nodes.append(Update("insert", NODE, {"$MULTICAST_NODE_ID": node["id"]}, ports))
        listed = {
            "$MULTICAST_NODE_ID": members,
            "$MULTICAST_NODE_L1_XID_VALID": [False] * len(members),
            "$MULTICAST_NODE_L1_XID": [0] * len(members),
        }
        groups.append(Update("insert", GROUP, {"$MGID": group["group"]}, listed))
    sessions = [_session(one, dev_port) for one in mirrors]
    return [*nodes, *groups, *sessions, *(_own(one) for one in entries)]


def _session(one: Mapping[str, Any], dev_port: Callable[[Any], int]) -> Update:
    data = {
        "$session_enable": True,
        "$direction": one.get("direction", "BOTH"),
        "$ucast_egress_port": dev_port(one["port"]),
        "$ucast_egress_port_valid": True,
    }
    if "max_length" in one:
        data["$max_pkt_len"] = one["max_length"]
    return Update("insert", MIRROR, {"$sid": one["session"]}, data, "$normal")


def _own(one: Mapping[str, Any]) -> Update:
    """Without a key: the default entry."""
    op = "insert" if one.get("key") else "set_default"
    return Update(op, one["table"], one.get("key", {}), one.get("data", {}), one.get("action"))


def dev_port_of(client: Client, port: Any) -> int:
    """port: the chip's number, or a place on the front panel."""
    if isinstance(port, int):
        return port
    found = _read(client, BY_NAME, {"$PORT_NAME": port})
    if found is None:
        raise PortsError(f"the board has no port {port}; see {BY_NAME}")
    return int(found.data["$DEV_PORT"])


def update_for(client: Client, wanted: Update) -> Update | None:
    """What makes the entry so; None if it is."""
    found = _read(client, wanted.table, wanted.key or None)
    if found is None:
        return wanted
    schema = client.table(wanted.table)
    action = schema.action(wanted.action).name if wanted.action else None
    if action == found.action and all(
        _same(found.data, name, value) for name, value in wanted.data.items()
    ):
        return None
    op = "modify" if wanted.op == "insert" else wanted.op
    return Update(op, wanted.table, wanted.key, wanted.data, wanted.action)


def _same(found: Mapping[str, Any], name: str, value: Any) -> bool:
    there = found.get(name)
    if isinstance(value, list) and isinstance(there, list):
        return sorted(there) == sorted(value)
    return bool(there == value)


def _read(client: Client, table: str, key: Mapping[str, Any] | None) -> Entry | None:
    """With this key, or the default one."""
    try:
        read = client.read(table, None if key is None else [key])
    except BfrtError as error:
        if "NOT_FOUND" not in (error.code, *(code for _, code, _ in error.updates)):
            raise
        return None
    return next((entry for entry in read if key is not None or entry.is_default), None)

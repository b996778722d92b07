"""NoCache's tables from the control plane's side: what is accepted, what is refused and how it is
said.
"""

from __future__ import annotations

from typing import Any

import pytest

from .frames import GETREQ, Packet, key_value, key_with_slot
from .nocache_tables import (
    ANSWERS,
    CLIENT,
    DROPS,
    PARTITIONS,
    REQUESTS,
    ROUTES,
    SERVER0,
    SERVER1,
    clear,
    entry,
    request_entry,
    route,
    slots,
)
from .targets import CommandFailedError, Target

DATA = {"port": 1, "mac": SERVER0.mac, "ip": SERVER0.ip, "udp_port": 1152}


def write(target: Target, *updates: dict[str, Any]) -> Any:
    return target.command("table_write", updates=list(updates))


def fails(target: Target, *updates: dict[str, Any]) -> CommandFailedError:
    with pytest.raises(CommandFailedError) as error:
        write(target, *updates)
    return error.value


def entries(target: Target, table: str) -> list[dict[str, Any]]:
    return target.command("table_read", table=table)["entries"]


def test_entries_read_back_as_written(switch: Target) -> None:
    first = min(entries(switch, REQUESTS), key=lambda e: e["key"]["slot"]["low"])
    assert first["key"] == {"slot": {"low": 0, "high": 2047}}
    assert first["action"] == "SwitchIngress.request_partition.to_server"
    assert first["data"] == {
        "port": 2,
        "mac": 0x020000000052,
        "ip": 0xC6120002,  # 198.18.0.2
        "udp_port": 1152,
        "$COUNTER_SPEC_PKTS": 0,
        "$COUNTER_SPEC_BYTES": 0,
    }


def test_a_unique_suffix_names_a_table(switch: Target) -> None:
    for name in ("ipv4_lpm", "forwarding.ipv4_lpm", "SwitchIngress.forwarding.ipv4_lpm"):
        assert switch.command("table_read", table=name)["table"] == ROUTES


def test_schema_names_and_widths(switch: Target) -> None:
    tables = {table["name"]: table for table in switch.command("schema")["tables"]}
    assert {REQUESTS, ANSWERS, ROUTES, DROPS} <= set(tables)
    keys = {key["name"]: (key["match_type"], key["type"]) for key in tables[REQUESTS]["key"]}
    assert keys["slot"] == ("Range", {"type": "bytes", "width": 15})
    assert "$MATCH_PRIORITY" in keys
    assert tables[REQUESTS]["size"] == 128


def test_all_128_partitions_fit_and_not_one_more(switch: Target) -> None:
    write(switch, *clear(), *(request_entry(p, 128) for p in range(128)))
    # Partition 127's range again, with another priority: a different entry, for which there is no
    # room.
    error = fails(switch, {**request_entry(127, 128), "priority": 5})
    assert error.code == "full"
    assert "is full at 128 entries" in error.message


def test_a_batch_is_all_or_nothing(switch: Target) -> None:
    before = entries(switch, REQUESTS)
    low, high = slots(0)
    key = {"slot": {"low": low, "high": high}}
    error = fails(
        switch,
        {"op": "delete", "table": REQUESTS, "key": key},
        {"op": "clear", "table": ROUTES},
        entry(REQUESTS, {"slot": {"low": 1, "high": 0}}, "to_server", DATA),
    )
    assert error.message.startswith("updates[2]: ")
    assert "low is above high" in error.message
    assert sorted(map(str, entries(switch, REQUESTS))) == sorted(map(str, before))
    assert len(entries(switch, ROUTES)) == 3
    frame = bytes(Packet(payload=key_value(GETREQ, key_with_slot(low))))
    assert [port for port, _ in switch.send(CLIENT.port, frame)] == [SERVER1.port]


def test_lower_priority_number_wins(switch: Target) -> None:
    whole = {"slot": {"low": 0, "high": 32767}}
    everything = entry(REQUESTS, whole, "to_server", {**DATA, "udp_port": 1200})
    frame = bytes(Packet(payload=key_value(GETREQ, key_with_slot(0))))

    def udp_port() -> int:
        [(_, received)] = switch.send(CLIENT.port, frame)
        return int.from_bytes(received[36:38], "big")

    write(switch, {**everything, "priority": 7})
    assert udp_port() == 1152  # the partition's own entry has priority 0
    moved = [
        {"op": "delete", "table": REQUESTS, "key": request_entry(0)["key"]},
        {**request_entry(0), "priority": 9},
    ]
    write(switch, *moved)
    assert udp_port() == 1200


@pytest.mark.parametrize(
    ("update", "code", "message"),
    [
        (
            entry("request_partitoin", {}, "to_server", DATA),
            "bad_argument",
            "table 'request_partitoin' of program nocache does not exist: near names are '"
            + REQUESTS,
        ),
        (entry(REQUESTS, {"slots": 1}, "to_server", DATA), "bad_argument", "key 'slots' of table"),
        (
            entry(ROUTES, {"dst_addr": "198.18.0.1"}, "forward", {}),
            "bad_argument",
            'lacks "value"; expected {"value", "prefix_len"}',
        ),
        (
            entry(REQUESTS, {"slot": {"low": 0, "high": 32768}}, "to_server", DATA),
            "bad_argument",
            "32768 is too wide; the field is bit<15>, its largest value 32767",
        ),
        (
            entry(REQUESTS, {"slot": {"low": 0, "high": 1}}, "to_srever", DATA),
            "bad_argument",
            "near names are 'SwitchIngress.request_partition.to_server'",
        ),
        (
            entry(REQUESTS, {"slot": {"low": 0, "high": 1}}, "to_server", {"port": 1}),
            "bad_argument",
            "data mac of action SwitchIngress.request_partition.to_server",
        ),
        (
            entry(REQUESTS, {"slot": {"low": 0, "high": 1}}, "to_server", {**DATA, "port": 512}),
            "bad_argument",
            "512 is too wide; the field is bit<9>",
        ),
        (
            entry(
                REQUESTS, {"slot": {"low": 0, "high": 1}}, "to_server", {**DATA, "mac": "02:0:1"}
            ),
            "bad_argument",
            "a MAC address (aa:bb:cc:dd:ee:ff)",
        ),
        (
            entry(REQUESTS, {"slot": {"low": 0, "high": 1}}, "no_partition", {}),
            "bad_argument",
            "is @defaultonly: it cannot be used in entries",
        ),
        (request_entry(0), "exists", 'exists already; use "modify" or "upsert"'),
        (
            {"op": "delete", "table": REQUESTS, "key": {"slot": {"low": 0, "high": 1}}},
            "not_found",
            'does not exist; use "insert"',
        ),
        (
            entry(DROPS, {"verdict": 9}, "drop", {}),
            "bad_argument",
            "has const entries; they cannot be changed",
        ),
        (
            {"op": "set_default", "table": ROUTES, "action": "no_route"},
            "bad_argument",
            "has a const default_action",
        ),
        (
            {"op": "add", "table": ROUTES},
            "bad_argument",
            'op "add" is not known; expected "insert"',
        ),
        (
            {**route("198.18.0.0", 33, SERVER0)},
            "bad_argument",
            "prefix_len 33 is not from 0 to 32",
        ),
        (
            {**route("198.18.0.0", 16, SERVER0), "priority": 1},
            "bad_argument",
            "only tables with ternary or range keys have one",
        ),
    ],
    ids=lambda value: None if isinstance(value, dict) else str(value)[:30],
)
def test_wrong_update(switch: Target, update: dict[str, Any], code: str, message: str) -> None:
    error = fails(switch, update)
    assert error.code == code
    assert message in error.message
    assert len(entries(switch, REQUESTS)) == PARTITIONS


def test_unknown_command(switch: Target) -> None:
    with pytest.raises(CommandFailedError) as error:
        switch.command("table_wirte", updates=[])
    assert error.value.code == "unknown_command"

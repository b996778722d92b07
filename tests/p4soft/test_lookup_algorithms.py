"""Algorithmic lookups of the ASIC (Alpm, Atcam, proxy hashes): what a plain table finds, written by
the control plane in the same way.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from p4_programs import program
from refusals import check_refused

from p4soft.cli import translate

LOCAL = """
    Alpm(number_partitions = 1024, subtrees_per_partition = 2) algo_lpm;
    Atcam(1024) atm;
    action set(bit<8> v) { hdr.data.a = v; }
"""
ALPM = LOCAL + (
    """
    table t {
        key = { hdr.data.kind: exact; hdr.data.c: lpm; }
        actions = { set; NoAction; }
        %s
        size = 1024;
    }
"""
)
ATCAM = program(
    "t.apply();",
    local=LOCAL
    + """
    table t {
        key = { hdr.data.kind: atcam_partition_index; hdr.data.c: ternary; }
        actions = { set; NoAction; }
        const default_action = NoAction;
        atcam = atm;
        size = 1024;
    }
""",
)
PROXY = program(
    "t.apply();",
    local=LOCAL
    + """
    table t {
        key = { hdr.data.kind: exact; hdr.data.c: exact; }
        actions = { set; NoAction; }
        proxy_hash = Hash<bit<32>>(HashAlgorithm_t.CRC32);
        size = 1024;
    }
""",
)


def insert(switch: Any, kind: Any, c: Any, value: int, **more: Any) -> None:
    update = {"op": "insert", "table": "t", "key": {"hdr.data.kind": kind, "hdr.data.c": c}}
    action = {"action": "set", "data": {"v": value}}
    switch.command("table_write", updates=[update | action | more])


def found(switch: Any, kind: int, c: int) -> int:
    ((_, out),) = switch.send(1, bytes([kind, 0, 0, 0]) + c.to_bytes(4, "big") + bytes(6))
    return out[1]


@pytest.mark.parametrize("place", ["alpm = algo_lpm;", "implementation = algo_lpm;"])
def test_the_longest_prefix_wins(load: Any, place: str) -> None:
    """10.0.0.0/8 and 10.1.0.0/16 of partition 1; partition 2 has neither."""
    switch = load(program("t.apply();", local=ALPM % place))
    insert(switch, 1, {"value": "10.0.0.0", "prefix_len": 8}, 8)
    insert(switch, 1, {"value": "10.1.0.0", "prefix_len": 16}, 16)
    assert found(switch, 1, 0x0A010203) == 16
    assert found(switch, 1, 0x0A020203) == 8
    assert found(switch, 2, 0x0A010203) == 0


def test_the_partition_is_found_exactly(load: Any) -> None:
    """Of two entries of a partition that match, the lower priority number; of others, none."""
    switch = load(ATCAM)
    insert(switch, 3, {"value": "10.0.0.0", "mask": "255.0.0.0"}, 1, priority=2)
    insert(switch, 3, {"value": "10.1.0.0", "mask": "255.255.0.0"}, 2, priority=1)
    insert(switch, 1, {"value": 0, "mask": 0}, 3, priority=9)
    assert found(switch, 3, 0x0A010203) == 2
    assert found(switch, 3, 0x0A020203) == 1
    assert found(switch, 1, 0x0A010203) == 3
    assert found(switch, 2, 0x0A010203) == 0


def test_a_proxy_hash_finds_the_key(load: Any) -> None:
    switch = load(PROXY)
    insert(switch, 1, 2, 7)
    assert (found(switch, 1, 2), found(switch, 1, 3)) == (7, 0)


def test_the_schema_says_what_the_compilers_says(tmp_path: Path) -> None:
    """bf-p4c's bfruntime.cpp: the partition's key is of match type ATCAM."""
    path = tmp_path / "atcam.p4"
    path.write_text(ATCAM)
    (table,) = json.loads(translate(path, [], {}).schema)["tables"]
    kinds = [(key["name"], key["match_type"]) for key in table["key"]]
    assert kinds == [
        ("hdr.data.kind", "ATCAM"),
        ("hdr.data.c", "Ternary"),
        ("$MATCH_PRIORITY", "Exact"),
    ]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("alpm = /*^*/atm;", "alpm is Atcam, expected Alpm"),
        ("proxy_hash = /*^*/algo_lpm;", "proxy_hash is Alpm, expected Hash"),
    ],
)
def test_another_extern_is_refused(given: str, message: str, tmp_path: Path) -> None:
    check_refused(program("t.apply();", local=ALPM % given), message, tmp_path)

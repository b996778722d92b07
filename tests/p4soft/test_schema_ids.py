"""Ids of the schema, for clients that have those of the compiler's bfrt.json written down."""

from __future__ import annotations

import json
from typing import Any

import pytest
from p4_programs import program

from p4soft.cli import translate

PROGRAM = program(
    "by_kind.apply(); plain.apply(); masked.apply();",
    local="""
    Hash<bit<16>>(HashAlgorithm_t.CRC16) choice;
    ActionProfile(8) members;
    ActionSelector(members, choice, SelectorMode_t.FAIR, 4, 2) groups;
    ActionProfile(8) others;
    Counter<bit<64>, bit<8>>(4, CounterType_t.PACKETS_AND_BYTES) counts;
    Meter<bit<8>>(4, MeterType_t.BYTES) of_bytes;
    Meter<bit<8>>(4, MeterType_t.PACKETS) of_packets;
    Register<bit<8>, bit<8>>(4) cells;
    action mark(bit<8> value) { hdr.data.a = value; }
    table by_kind {
        key = { hdr.data.kind: exact; hdr.data.c: selector; }
        actions = { mark; }
        implementation = groups;
    }
    table plain {
        key = { hdr.data.kind: exact; }
        actions = { mark; }
        implementation = others;
    }
    table masked { key = { hdr.data.b: ternary; } actions = { mark; } }
""",
    metadata="""
struct headers_t { data_h data; }
struct metadata_t { extra_h first; extra_h second; }
""",
    parser="""
    state start {
        pkt.extract(ig_intr_md);
        pkt.extract(md.first);
        pkt.extract(md.second);
        pkt.extract(hdr.data);
        transition accept;
    }
""",
)
# By hand from p4c's backends/tofino/bf-p4c/control-plane: enums TDDataFieldIds (bfruntime.h) and
# BFRuntimeDataFieldIds (bfruntime_ext.h), and which of both each table takes (bfruntime*.cpp).
OWN = ("$", "hash_value")  # names that no program's fields have
IDS = {
    "by_kind": {"$ACTION_MEMBER_ID": 65539, "$SELECTOR_GROUP_ID": 65540},
    "plain": {"$ACTION_MEMBER_ID": 65539},
    "masked": {"$MATCH_PRIORITY": 65537},
    "members": {"$ACTION_MEMBER_ID": 65539},
    "groups": {
        "$SELECTOR_GROUP_ID": 65540,
        "$ACTION_MEMBER_ID": 65539,
        "$ACTION_MEMBER_STATUS": 65564,
        "$MAX_GROUP_SIZE": 65565,
        "$ADT_OFFSET": 65566,
    },
    "groups_get_member": {
        "$SELECTOR_GROUP_ID": 65563,
        "hash_value": 65583,
        "$ACTION_MEMBER_ID": 65562,
    },
    "counts": {"$COUNTER_INDEX": 65556, "$COUNTER_SPEC_BYTES": 65553, "$COUNTER_SPEC_PKTS": 65554},
    "of_bytes": {
        "$METER_INDEX": 65555,
        "$METER_SPEC_CIR_KBPS": 65545,
        "$METER_SPEC_PIR_KBPS": 65546,
        "$METER_SPEC_CBS_KBITS": 65547,
        "$METER_SPEC_PBS_KBITS": 65548,
    },
    "of_packets": {
        "$METER_INDEX": 65555,
        "$METER_SPEC_CIR_PPS": 65549,
        "$METER_SPEC_PIR_PPS": 65550,
        "$METER_SPEC_CBS_PKTS": 65551,
        "$METER_SPEC_PBS_PKTS": 65552,
    },
    "cells": {"$REGISTER_INDEX": 65557},
    "$PORT_METADATA": {"$DEFAULT_FIELD": 65576},
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """By the last part of their names."""
    path = tmp_path_factory.mktemp("ids") / "ids.p4"
    path.write_text(PROGRAM)
    document = json.loads(translate(path, [], {}).schema)
    return {table["name"].rpartition(".")[2]: table for table in document["tables"]}


def fields(table: dict[str, Any]) -> list[dict[str, Any]]:
    data = [field for datum in table["data"] for field in datum.get("oneof", [datum])]
    return [*table["key"], *(datum.get("singleton", datum) for datum in data)]


@pytest.mark.parametrize("name", IDS)
def test_fields_with_a_dollar_have_the_compilers_ids(tables: dict[str, Any], name: str) -> None:
    found = {f["name"]: f["id"] for f in fields(tables[name]) if f["name"].startswith(OWN)}
    assert found == IDS[name]


def test_a_port_has_the_compilers_id(tables: dict[str, Any]) -> None:
    (port,) = tables["$PORT_METADATA"]["key"]
    assert port["id"] == 65575


def test_tables_depend_on_those_with_their_actions(tables: dict[str, Any]) -> None:
    depends = {name: table["depends_on"] for name, table in tables.items() if table["depends_on"]}
    members, groups, others = (tables[name]["id"] for name in ("members", "groups", "others"))
    assert depends == {
        "by_kind": [groups, members],
        "groups": [members],
        "groups_get_member": [groups],
        "plain": [others],
    }

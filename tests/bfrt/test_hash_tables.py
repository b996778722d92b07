"""Hashes that a client configures: fields and their order, the algorithm, and values."""

from __future__ import annotations

from typing import Any

import pytest
from packet.live_switch import SoftswitchTarget
from packet.reference_crc import crc

from .client import Client
from .test_tables import FRAME, INVALID, MAC, UNIMPLEMENTED, failing, to

TYPE = 0x88B5  # of FRAME
DST, ETHER = "hdr.ethernet.dst_addr", "hdr.ethernet.ether_type"
CONFIGURE, ALGORITHM, COMPUTE = "mixed.configure", "mixed.algorithm", "mixed.compute"
OWN = {
    DST: [{"start_bit": 0, "length": 48, "order": 1}],
    ETHER: [{"start_bit": 0, "length": 16, "order": 2}],
}


@pytest.fixture
def hashing(client: Client) -> Client:
    client.insert("forward", to(MAC), "send", {"port": 2})
    client.insert("filtered", to(MAC), "hash")
    return client


def hash_of_packet(switch: SoftswitchTarget) -> int:
    ((_, frame),) = switch.send(1, FRAME)
    return int.from_bytes(frame[10:12], "big")


def value(client: Client) -> int:
    (entry,) = client.read(COMPUTE, {DST: MAC, ETHER: TYPE})
    assert entry.key == {DST: MAC, ETHER: TYPE}
    result: int = entry.data["hash_value"]
    return result


def setting(client: Client, table: str) -> Any:
    (entry,) = client.read(table, is_default_entry=True)
    assert entry.is_default
    return entry


def test_fields_and_algorithm_are_set_read_and_reset(
    hashing: Client, switch: SoftswitchTarget
) -> None:
    whole = MAC.to_bytes(6, "big") + TYPE.to_bytes(2, "big")
    crc16 = crc(whole, 16, 0x8005, 0, 0, True)
    assert (hash_of_packet(switch), value(hashing)) == (crc16, crc16)
    assert setting(hashing, CONFIGURE).data == OWN

    slices = {
        DST: [{"order": 3, "start_bit": 4, "length": 12}, {"order": 1, "start_bit": 40}],
        ETHER: [{"order": 2, "length": 4}],
    }
    hashing.modify(CONFIGURE, None, None, slices, is_default_entry=True)
    # An SDE's client writes names in lower case.
    hashing.modify(
        ALGORITHM, None, "pre_defined", {"algorithm_name": "xmodem"}, is_default_entry=True
    )
    bits = f"{MAC >> 40:08b}{TYPE & 0xF:04b}{MAC >> 4 & 0xFFF:012b}"
    xmodem = crc(int(bits, 2).to_bytes(3, "big"), 16, 0x1021, 0, 0, False)
    assert (hash_of_packet(switch), value(hashing)) == (xmodem, xmodem)
    assert setting(hashing, CONFIGURE).data == {
        DST: [
            {"start_bit": 40, "length": 8, "order": 1},
            {"start_bit": 4, "length": 12, "order": 3},
        ],
        ETHER: [{"start_bit": 0, "length": 4, "order": 2}],
    }
    chosen = setting(hashing, ALGORITHM)
    assert chosen.action == "pre_defined"
    off = {"rotate": 0, "seed": 0, "msb": False, "extend": False}
    assert chosen.data == {"algorithm_name": "XMODEM", **off}

    hashing.write("RESET", CONFIGURE, is_default_entry=True)
    assert setting(hashing, CONFIGURE).data == OWN
    hashing.delete(ALGORITHM, is_default_entry=True)
    assert (hash_of_packet(switch), value(hashing)) == (crc16, crc16)
    assert setting(hashing, ALGORITHM).data["algorithm_name"] == "CRC_16"


def test_a_polynomial_of_the_clients_own(hashing: Client, switch: SoftswitchTarget) -> None:
    given = {"polynomial": 0x9B, "reverse": True, "init": 0x31, "hash_bit_width": 8}
    more = {"extend": True, "rotate": 4}
    hashing.modify(ALGORITHM, None, "user_defined", {**given, **more}, is_default_entry=True)
    whole = MAC.to_bytes(6, "big") + TYPE.to_bytes(2, "big")
    crc8 = crc(whole, 8, 0x9B, 0x31, 0, True)
    turned = (crc8 << 4 | crc8 >> 4) & 0xFF
    assert hash_of_packet(switch) == value(hashing) == turned << 8 | turned
    chosen = setting(hashing, ALGORITHM)
    assert chosen.action == "user_defined"
    zeros = crc(bytes(8), 8, 0x9B, 0x31, 0, True)
    seed = zeros << 8 | zeros
    assert chosen.data == {**given, **more, "final_xor": 0, "msb": False, "seed": seed}
    hashing.modify(ALGORITHM, None, None, {"seed": 0}, is_default_entry=True)
    turned = (crc8 ^ zeros) << 4 & 0xF0 | (crc8 ^ zeros) >> 4
    assert hash_of_packet(switch) == turned << 8 | turned


WRONG: dict[str, tuple[str, str | None, dict[str, Any]]] = {
    "overlap": (CONFIGURE, None, {DST: [{"order": 1}, {"order": 2, "start_bit": 5}]}),
    "behind the field": (CONFIGURE, None, {ETHER: [{"order": 1, "start_bit": 16}]}),
    "no order": (CONFIGURE, None, {ETHER: [{"length": 1}]}),
    "lengths of a pair": (CONFIGURE, None, {DST: [{"order": 1}], ETHER: [{"order": 1}]}),
    "name": (ALGORITHM, "pre_defined", {"algorithm_name": "CRC_9"}),
    "even polynomial": (ALGORITHM, "user_defined", {"polynomial": 4}),
    "no polynomial": (ALGORITHM, "user_defined", {"init": 4}),
    "initial value": (
        ALGORITHM, "user_defined", {"polynomial": 7, "init": 256, "hash_bit_width": 8},
    ),
    "rotation": (ALGORITHM, "pre_defined", {"algorithm_name": "CRC_8", "rotate": 16}),
    "no action": (ALGORITHM, None, {"extend": True}),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_settings_are_refused(hashing: Client, switch: SoftswitchTarget, name: str) -> None:
    table, action, data = WRONG[name]
    before = hash_of_packet(switch)
    entry = hashing.entry(table, None, action, data, is_default_entry=True)
    assert failing(hashing, hashing.update("MODIFY", entry)).codes() == [INVALID]
    assert hash_of_packet(switch) == before


def test_there_are_no_other_entries(hashing: Client) -> None:
    for table in (CONFIGURE, ALGORITHM):
        inserted = hashing.update("INSERT", hashing.entry(table, is_default_entry=True))
        entry = hashing.update("MODIFY", hashing.entry(table))
        assert failing(hashing, inserted, entry).codes() == [UNIMPLEMENTED, UNIMPLEMENTED]
    of_value = hashing.update("MODIFY", hashing.entry(COMPUTE, {DST: 1}))
    assert failing(hashing, of_value).codes() == [UNIMPLEMENTED]

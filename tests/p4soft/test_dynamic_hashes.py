"""Hashes that the control plane configures. What is expected is computed from BfRt's words alone:
slices of fields side by side by their order, and the CRC of that by its definition.
"""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest
from p4_programs import PREAMBLE, program
from packet.reference_crc import crc
from packet.targets import CommandFailedError

from p4soft.cli import translate

FIELDS = {"hdr.flow.src": 32, "hdr.flow.dst": 32, "hdr.flow.protocol": 8}
BITS = sum(FIELDS.values())
ALL = f"{{{', '.join(FIELDS)}}}"
HASHES = program(
    f"""
        hdr.results.setValid();
        hdr.results.wide = wide.get({ALL});
        hdr.results.part[31:0] = part.get({ALL})[39:8];
        hdr.results.pair = pair.get({ALL});
        hdr.results.mixed = mixed.get({{8w0x5A, hdr.flow.src, 3w5, hdr.flow.protocol[4:0]}});
        hdr.results.xored = xored.get({{hdr.flow.src, hdr.flow.protocol[4:0]}});
        hdr.results.whole = whole.get(hdr.flow);
        hdr.results.drawn = drawn.get({ALL});
        hdr.results.custom = custom.get({ALL});
        hdr.results.same = same.get({ALL});
        hdr.flow.setInvalid();
    """,
    preamble=PREAMBLE
    + """
header flow_h { bit<32> src; bit<32> dst; bit<8> protocol; }
header out_h {
    bit<64> wide; bit<64> part; bit<16> pair; bit<16> mixed; bit<16> xored; bit<32> whole;
    bit<64> drawn; bit<32> custom; bit<16> same;
}
struct headers_t { out_h results; flow_h flow; }
struct metadata_t { }
""",
    metadata="",
    parser="""
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.flow);
        transition accept;
    }
""",
    local="""
    Hash<bit<64>>(HashAlgorithm_t.CRC64) wide;
    Hash<bit<64>>(HashAlgorithm_t.CRC32) part;
    @symmetric("hdr.flow.src", "hdr.flow.dst")
    Hash<bit<16>>(HashAlgorithm_t.CRC16) pair;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) mixed;
    Hash<bit<16>>(HashAlgorithm_t.XOR16) xored;
    Hash<bit<32>>(HashAlgorithm_t.CRC32) whole;
    Hash<bit<64>>(HashAlgorithm_t.RANDOM) drawn;
    CRCPolynomial<bit<16>>(0x1021, true, false, true, 0x1234, 0x00FF) polynomial;
    Hash<bit<32>>(HashAlgorithm_t.CUSTOM, polynomial) custom;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) same;
""",
)
WIDTHS = {
    "wide": 64, "part": 64, "pair": 16, "mixed": 16, "xored": 16, "whole": 32, "drawn": 64,
    "custom": 32, "same": 16,
}  # fmt: skip
RANDOM = random.Random(7)
Flow = tuple[int, int, int]
FLOWS: list[Flow] = [(RANDOM.getrandbits(32), RANDOM.getrandbits(32), 6) for _ in range(8)]
DIGITS: Flow = (0x31323334, 0x35363738, 0x39)  # "123456789"


@pytest.fixture
def switch(load: Any) -> Any:
    running = load(HASHES)
    running.command("hash_reset")
    return running


def hashes(switch: Any, flow: Flow) -> dict[str, int]:
    """What a packet gets."""
    frame = flow[0].to_bytes(4, "big") + flow[1].to_bytes(4, "big") + flow[2].to_bytes(1, "big")
    ((_, out),) = switch.send(1, frame)
    values, start = {}, 0
    for name, width in WIDTHS.items():
        values[name] = int.from_bytes(out[start : start + width // 8], "big")
        start += width // 8
    return values


def choose(switch: Any, name: str, action: str, **data: Any) -> None:
    switch.command("hash_write", table=f"{name}.algorithm", action=action, data=data)


def configure(switch: Any, name: str, data: dict[str, Any]) -> None:
    switch.command("hash_write", table=f"{name}.configure", data=data)


def message(flow: Flow, slices: list[tuple[str, int, int]]) -> bytes:
    """Slices (field, first bit, length), one behind the other, with zeros before the first."""
    values = dict(zip(FIELDS, flow, strict=True))
    bits = "".join(
        f"{values[field] >> start & (1 << length) - 1:0{length}b}"
        for field, start, length in slices
    )
    size = (len(bits) + 7) // 8
    return int(bits or "0", 2).to_bytes(size, "big")


# --- As in the program ------------------------------------------------------------------------


def test_values_are_computed_as_for_a_packet(switch: Any) -> None:
    """The table `compute` gives what the fixed code of the program gives."""
    for flow in FLOWS:
        of_packet = hashes(switch, flow)
        key = dict(zip(FIELDS, flow, strict=True))
        some = {"hdr.flow.src": flow[0], "hdr.flow.protocol[4:0]": flow[2] & 0x1F}
        keys = {name: some if name in ("mixed", "xored") else key for name in WIDTHS}
        for name in sorted(set(WIDTHS) - {"part", "whole"}):
            read = switch.command("hash_read", table=f"{name}.compute", key=keys[name])
            assert read["data"] == {"hash_value": of_packet[name]}, name
        # Of this one the program uses bits 8 to 39.
        read = switch.command("hash_read", table="part.compute", key=key)
        assert read["data"] == {"hash_value": of_packet["part"] << 8}


def test_the_programs_own_choice_can_be_read(switch: Any) -> None:
    configured = switch.command("hash_read", table="wide.configure")["data"]
    assert configured == {
        field: [{"order": order, "start_bit": 0, "length": width}]
        for order, (field, width) in enumerate(FIELDS.items(), start=1)
    }
    read = switch.command("hash_read", table="wide.algorithm")
    assert read["action"] == "pre_defined"
    expected = {"algorithm_name": "CRC_64", "rotate": 0, "seed": 0, "msb": False, "extend": True}
    assert read["data"] == expected
    read = switch.command("hash_read", table="custom.algorithm")
    assert read["action"] == "user_defined"
    data = {name: read["data"][name] for name in ("polynomial", "init", "final_xor", "reverse")}
    assert data == {"polynomial": 0x1021, "init": 0x1234, "final_xor": 0xFF, "reverse": True}
    assert read["data"]["hash_bit_width"] == 16
    names = {"xored": "XOR", "drawn": "RANDOM", "same": "IDENTITY", "whole": "CRC_32"}
    for hash_, name in names.items():
        data = switch.command("hash_read", table=f"{hash_}.algorithm")["data"]
        assert data["algorithm_name"] == name


# --- Algorithms -------------------------------------------------------------------------------

# The check values of the CRC catalogue (of CRC_64_JONES: of crcmod), over "123456789". An SDE's
# CRC_8_ITU and CRC_16_DECT are not the catalogue's.
CHECKS = {
    "CRC_8": 0xF4, "CRC_8_DARC": 0x15, "CRC_8_I_CODE": 0x7E, "CRC_8_MAXIM": 0xA1,
    "CRC_8_ROHC": 0xD0, "CRC_8_WCDMA": 0x25,
    "CRC_16": 0xBB3D, "CRC_16_BYPASS": 0xFEE8, "CRC_16_DDS_110": 0x9ECF, "CRC_16_DECT_R": 0x007E,
    "CRC_16_DECT_X": 0x007F, "CRC_16_DNP": 0xEA82, "CRC_16_EN_13757": 0xC2B7,
    "CRC_16_GENIBUS": 0xD64E, "CRC_16_MAXIM": 0x44C2, "CRC_16_MCRF4XX": 0x6F91,
    "CRC_16_RIELLO": 0x63D0, "CRC_16_T10_DIF": 0xD0DB, "CRC_16_TELEDISK": 0x0FB3,
    "CRC_16_USB": 0xB4C8, "X_25": 0x906E, "XMODEM": 0x31C3, "MODBUS": 0x4B37, "KERMIT": 0x2189,
    "CRC_CCITT_FALSE": 0x29B1, "CRC_AUG_CCITT": 0xE5CC,
    "CRC_32": 0xCBF43926, "CRC_32_BZIP2": 0xFC891918, "CRC_32C": 0xE3069283,
    "CRC_32D": 0x87315576, "CRC_32_MPEG": 0x0376E6E7, "POSIX": 0x765E7680, "CRC_32Q": 0x3010BF7F,
    "JAMCRC": 0x340BC6D9, "XFER": 0xBD0BE338,
    "CRC_64": 0x6C40DF5F0B497347, "CRC_64_GO_ISO": 0xB90956C775A41001,
    "CRC_64_WE": 0x62EC59E3F1A4F00A, "CRC_64_JONES": 0xCAA717168609F281,
}  # fmt: skip
# Bit by bit, with the parameters that an SDE has for them.
CHECKS["CRC_8_ITU"] = crc(b"123456789", 8, 0x07, 0x55, 0x55, False)
CHECKS["CRC_16_DECT"] = crc(b"123456789", 16, 0x0589, 1, 1, False)


@pytest.mark.parametrize("name", CHECKS)
def test_crcs_by_name(switch: Any, name: str) -> None:
    choose(switch, "wide", "pre_defined", algorithm_name=name)
    assert hashes(switch, DIGITS)["wide"] == CHECKS[name]


def test_every_algorithm_of_the_schema_is_known(switch: Any) -> None:
    info = switch.command("table_info", table="wide.algorithm")["schema"]
    names = info["action_specs"][0]["data"][0]["type"]["choices"]
    assert set(names) == {*CHECKS, "IDENTITY", "RANDOM", "XOR"}
    for name in names:
        choose(switch, "wide", "pre_defined", algorithm_name=name)
        read = switch.command("hash_read", table="wide.algorithm")
        assert read["data"]["algorithm_name"] == name


def test_algorithms_that_are_no_crc(switch: Any) -> None:
    flow = FLOWS[0]
    whole = int.from_bytes(message(flow, [(f, 0, w) for f, w in FIELDS.items()]), "big")
    choose(switch, "wide", "pre_defined", algorithm_name="IDENTITY")
    assert hashes(switch, flow)["wide"] == whole & (1 << 64) - 1
    # 72 bits are a word of 64, and one of 8 with zeros behind it.
    choose(switch, "wide", "pre_defined", algorithm_name="XOR")
    assert hashes(switch, flow)["wide"] == whole >> 8 ^ (whole & 0xFF) << 56
    choose(switch, "wide", "pre_defined", algorithm_name="RANDOM")
    assert hashes(switch, flow)["wide"] == hashes(switch, flow)["drawn"]


@pytest.mark.parametrize("seed", range(20))
def test_crcs_of_the_control_planes_own(switch: Any, seed: int) -> None:
    draw = random.Random(seed)
    width = draw.choice([8, 16, 24, 32, 64])
    polynomial, initial, final = (draw.getrandbits(width) for _ in range(3))
    polynomial |= 1
    reverse = draw.random() < 0.5
    choose(
        switch, "wide", "user_defined", polynomial=polynomial, init=initial, final_xor=final,
        reverse=reverse, hash_bit_width=width,
    )  # fmt: skip
    # BfRt's final_xor comes before the result is reversed, that of the usual model behind.
    behind = int(f"{final:0{width}b}"[::-1], 2) if reverse else final
    for flow in FLOWS:
        data = message(flow, [(field, 0, bits) for field, bits in FIELDS.items()])
        expected = crc(data, width, polynomial, initial, behind, reverse)
        assert hashes(switch, flow)["wide"] == expected


def test_results_are_extended_and_rotated(switch: Any) -> None:
    check = CHECKS["CRC_32"]
    choose(switch, "wide", "pre_defined", algorithm_name="CRC_32", extend=True)
    assert hashes(switch, DIGITS)["wide"] == check << 32 | check
    choose(switch, "wide", "pre_defined", algorithm_name="CRC_32", extend=True, rotate=12)
    twice = check << 32 | check
    assert hashes(switch, DIGITS)["wide"] == (twice << 12 | twice >> 52) & (1 << 64) - 1
    # Those bits turn that the program uses: 8 to 39, of which the CRC is 8 to 31.
    choose(switch, "part", "pre_defined", algorithm_name="CRC_32", rotate=12)
    used = check >> 8
    assert hashes(switch, DIGITS)["part"] == (used << 12 | used >> 20) & 0xFFFF_FFFF


def test_a_seed_takes_the_place_of_the_algorithms(switch: Any) -> None:
    """The seed is the hash of zeros. It turns with the rest."""
    data = bytes(9)
    zeros = crc(data, 16, 0x1021, 0xFFFF, 0, False)
    choose(switch, "wide", "pre_defined", algorithm_name="CRC_CCITT_FALSE")
    assert switch.command("hash_read", table="wide.algorithm")["data"]["seed"] == zeros
    switch.command("hash_write", table="wide.algorithm", data={"seed": 0xBEEF})
    check = CHECKS["CRC_CCITT_FALSE"]
    assert hashes(switch, DIGITS)["wide"] == check ^ zeros ^ 0xBEEF
    choose(switch, "wide", "pre_defined", algorithm_name="CRC_CCITT_FALSE", seed=5, rotate=4)
    assert hashes(switch, DIGITS)["wide"] == (check ^ zeros ^ 5) << 4
    assert switch.command("hash_read", table="wide.algorithm")["data"]["seed"] == 5


# --- Fields -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_slices_are_hashed_in_their_order(switch: Any, seed: int) -> None:
    draw = random.Random(seed)
    slices = []
    for field, width in FIELDS.items():
        cuts = sorted({0, width, *(draw.randrange(width) for _ in range(draw.randrange(3)))})
        slices += [(field, low, high - low) for low, high in itertools.pairwise(cuts)]
    draw.shuffle(slices)
    orders = sorted(draw.sample(range(1, 100), len(slices)))
    out = set(draw.sample(slices, draw.randrange(len(slices))))
    data: dict[str, Any] = {}
    for order, (field, start, length) in zip(orders, slices, strict=True):
        chosen = 0 if (field, start, length) in out else order
        part = {"order": chosen, "start_bit": start, "length": length}
        data.setdefault(field, []).append(part)
    configure(switch, "wide", data)
    choose(switch, "wide", "pre_defined", algorithm_name="CRC_32")
    for flow in FLOWS:
        hashed = message(flow, [each for each in slices if each not in out])
        expected = crc(hashed, 32, 0x04C11DB7, 0xFFFFFFFF, 0xFFFFFFFF, True)
        assert hashes(switch, flow)["wide"] == expected
        key = dict(zip(FIELDS, flow, strict=True))
        read = switch.command("hash_read", table="wide.compute", key=key)
        assert read["data"] == {"hash_value": expected}


def test_what_is_left_out_does_not_count(switch: Any) -> None:
    """A field, a length, a start bit; the length ends with the field."""
    src, dst, protocol = FIELDS
    configure(switch, "wide", {dst: [{"order": 3, "start_bit": 8, "length": 99}]})
    choose(switch, "wide", "pre_defined", algorithm_name="CRC_16")
    flow = FLOWS[1]
    expected = crc(message(flow, [(dst, 8, 24)]), 16, 0x8005, 0, 0, True)
    assert hashes(switch, flow)["wide"] == expected
    assert switch.command("hash_read", table="wide.configure")["data"] == {
        src: [{"order": 0, "start_bit": 0, "length": 32}],
        dst: [{"order": 3, "start_bit": 8, "length": 24}],
        protocol: [{"order": 0, "start_bit": 0, "length": 8}],
    }
    configure(switch, "wide", {src: [{"order": 1, "length": 0}], dst: [{"order": 0}]})
    assert hashes(switch, flow)["wide"] == 0  # of nothing, as the hash unit without any input


def test_slices_of_one_order_may_change_places(switch: Any) -> None:
    src, dst, protocol = FIELDS
    configure(switch, "wide", {src: [{"order": 2}], dst: [{"order": 2}], protocol: [{"order": 1}]})
    for a, b, last in FLOWS:
        assert hashes(switch, (a, b, last))["wide"] == hashes(switch, (b, a, last))["wide"]
        assert hashes(switch, (a, b, last))["wide"] != hashes(switch, (a, b ^ 1, last))["wide"]
        # CRC(p, a + b, b + a): an SDE's words for it.
        fields = [(protocol, 0, 8), (src, 0, 32), (dst, 0, 32)]
        expected = crc(message((a ^ b, a ^ b, last), fields), 64, 0x42F0E1EBA9EA3693, 0, 0, False)
        assert hashes(switch, (a, b, last))["wide"] == expected


def test_a_symmetric_hash_takes_other_algorithms(switch: Any) -> None:
    choose(switch, "pair", "pre_defined", algorithm_name="XMODEM")
    src, dst, last = FLOWS[2]
    expected = crc(
        message((0, src ^ dst, last), [(field, 0, bits) for field, bits in FIELDS.items()]),
        16, 0x1021, 0, 0, False,
    )  # fmt: skip
    assert hashes(switch, (src, dst, last))["pair"] == expected
    key = dict(zip(FIELDS, (src, dst, last), strict=True))
    read = switch.command("hash_read", table="pair.compute", key=key)
    assert read["data"] == {"hash_value": expected}


def test_constants_are_fields_like_others(switch: Any) -> None:
    _, _, last = flow = FLOWS[3]
    names = list(switch.command("hash_read", table="mixed.configure")["data"])
    assert set(names) == {
        "constant0_8_8w0x5a",
        "hdr.flow.src",
        "constant1_3_3w5",
        "hdr.flow.protocol[4:0]",
    }
    configure(
        switch,
        "mixed",
        {
            "constant0_8_8w0x5a": [{"order": 2}],
            "hdr.flow.protocol[4:0]": [{"order": 1}],
            "constant1_3_3w5": [{"order": 3}],
        },
    )
    value = (last & 0x1F) << 11 | 0x5A << 3 | 5
    assert hashes(switch, flow)["mixed"] == crc(value.to_bytes(2, "big"), 16, 0x8005, 0, 0, True)


def test_resetting_brings_the_programs_own_back(switch: Any) -> None:
    before = hashes(switch, FLOWS[4])
    for table in ("wide.algorithm", "wide.configure", None):
        choose(switch, "wide", "pre_defined", algorithm_name="CRC_8", rotate=3)
        configure(switch, "wide", {"hdr.flow.src": [{"order": 1}]})
        changed = hashes(switch, FLOWS[4])["wide"]
        assert changed != before["wide"]
        switch.command("hash_reset", **({"table": table} if table else {}))
        assert hashes(switch, FLOWS[4])["wide"] != changed
    assert hashes(switch, FLOWS[4]) == before
    configure(switch, "wide", {"hdr.flow.src": [{"order": 1}]})
    configure(switch, "wide", {})  # as an SDE: nothing given is the program's own
    assert hashes(switch, FLOWS[4]) == before


# --- What is wrong ----------------------------------------------------------------------------

SRC, DST = "hdr.flow.src", "hdr.flow.dst"
WRONG = {
    "no such field": ("wide.configure", {"data": {"hdr.x": [{"order": 1}]}}, "no field \"hdr.x\""),
    "no order": ("wide.configure", {"data": {SRC: [{"length": 1}]}}, "order is missing"),
    "no list": ("wide.configure", {"data": {SRC: {"order": 1}}}, "expected a list of slices"),
    "other word": (
        "wide.configure", {"data": {SRC: [{"order": 1, "end": 3}]}}, "no field \"end\"",
    ),
    "behind the field": (
        "wide.configure", {"data": {SRC: [{"order": 1, "start_bit": 32}]}}, "not below the field's",
    ),
    "overlap": (
        "wide.configure",
        {"data": {SRC: [{"order": 1, "start_bit": 3, "length": 4}, {"order": 2, "start_bit": 6}]}},
        "they overlap with bits 3 to 6",
    ),
    "lengths of a pair": (
        "wide.configure", {"data": {SRC: [{"order": 1}], DST: [{"order": 1, "length": 8}]}},
        "expected equal lengths",
    ),
    "three of an order": (
        "wide.configure",
        {"data": {SRC: [{"order": 1, "start_bit": 4 * i, "length": 4} for i in range(3)]}},
        "expected at most two",
    ),
    "symmetric": ("pair.configure", {"data": {SRC: [{"order": 1}]}}, "is @symmetric in P4"),
    "no list in P4": ("whole.configure", {"data": {SRC: [{"order": 1}]}}, "no list of fields"),
    "no such algorithm": (
        "wide.algorithm", {"action": "pre_defined", "data": {"algorithm_name": "CRC_9"}},
        "wide.algorithm, algorithm_name: no algorithm of a hash has the name \"CRC_9\"",
    ),
    "no such action": ("wide.algorithm", {"action": "own", "data": {}}, "no action \"own\""),
    "no action": ("wide.algorithm", {"data": {"rotate": 1}}, "without an action"),
    "nothing": ("wide.algorithm", {"data": {}}, "nothing to set"),
    "no polynomial": ("wide.algorithm", {"action": "user_defined", "data": {}}, "is missing"),
    "even polynomial": (
        "wide.algorithm", {"action": "user_defined", "data": {"polynomial": 4}}, "is even",
    ),
    "wide polynomial": (
        "wide.algorithm",
        {"action": "user_defined", "data": {"polynomial": 0x101, "hash_bit_width": 8}},
        "polynomial",
    ),
    "wide initial value": (
        "wide.algorithm",
        {"action": "user_defined", "data": {"polynomial": 7, "init": 256, "hash_bit_width": 8}},
        "init",
    ),
    "width": (
        "wide.algorithm",
        {"action": "user_defined", "data": {"polynomial": 7, "hash_bit_width": 65}},
        "expected 1 to 64",
    ),
    "rotation": (
        "part.algorithm",
        {"action": "pre_defined", "data": {"rotate": 32}},
        "rotate 32 is not below the 32 bits of the hash that the program uses",
    ),
    "parameter of the other action": (
        "wide.algorithm", {"action": "pre_defined", "data": {"polynomial": 7}},
        "no field \"polynomial\"",
    ),
    "value": ("wide.compute", {"data": {}}, "can only be read"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_wishes_are_refused_and_change_nothing(switch: Any, name: str) -> None:
    choose(switch, "wide", "pre_defined", algorithm_name="KERMIT")
    configure(switch, "wide", {SRC: [{"order": 1}], DST: [{"order": 2}]})
    before = hashes(switch, FLOWS[5])
    table, arguments, text = WRONG[name]
    with pytest.raises(CommandFailedError) as refused:
        switch.command("hash_write", table=table, **arguments)
    assert refused.value.code == "bad_argument"
    assert text in refused.value.message
    assert hashes(switch, FLOWS[5]) == before


WRONG_READS = {
    "constant": ("mixed.compute", {"constant1_3_3w5": 5}, "is a constant of the program"),
    "no such field": ("wide.compute", {"hdr.x": 5}, "no field"),
    "too wide": ("wide.compute", {"hdr.flow.protocol": 256}, "hdr.flow.protocol"),
    "no list in P4": ("whole.compute", {}, "hashes no list of fields"),
}


@pytest.mark.parametrize("name", WRONG_READS)
def test_wrong_questions_are_refused(switch: Any, name: str) -> None:
    table, key, text = WRONG_READS[name]
    with pytest.raises(CommandFailedError) as refused:
        switch.command("hash_read", table=table, key=key)
    assert text in refused.value.message


def test_other_tables_are_no_hashes(switch: Any) -> None:
    for command, table in (("table_read", "wide.configure"), ("hash_read", "wide")):
        with pytest.raises(CommandFailedError):
            switch.command(command, table=table)


# --- The schema -------------------------------------------------------------------------------

PROGRAM = program(
    """
    Nested.apply(hdr, hdr.data.b);
    if (hdr.data.kind == 1) { hdr.data.c = twice.get({hdr.data.b}); }
    else { hdr.data.c = twice.get({hdr.data.a}); }
    shared_one.apply();
    shared_two.apply();
    hdr.data.c = texts.get({SEED, hdr.data.c ++ hdr.data.b, hdr.data.mac[15:0], hdr.data.a ^ 5,
                            (bit<16>)hdr.data.a, 8w0x1F, 8w31})[15:0] ++ 16w0;
    if (false) { hdr.data.c = texts.get({hdr.data.a}); }
    """,
    top="""
const bit<32> SEED = 0xABCD;
control Inner(in data_h data, out bit<16> result)(bit<8> salt) {
    Hash<bit<16>>(HashAlgorithm_t.CRC16) inner;
    apply { result = inner.get({data.c, data.mac, salt}); }
}
control Outer(inout headers_t all, inout bit<16> result) {
    Inner(7) one;
    Inner(8) again;
    apply {
        one.apply(all.data, result);
        again.apply(all.data, result);
        again.apply(all.data, result);
    }
}
""",
    local="""
    Outer() Nested;
    Hash<bit<32>>(HashAlgorithm_t.CRC32) twice;
    Hash<bit<32>>(HashAlgorithm_t.CRC32) shared;
    Hash<bit<32>>(HashAlgorithm_t.CRC32) texts;
    Hash<bit<32>>(HashAlgorithm_t.CRC32) unused;
    action hash() { hdr.data.c = shared.get({hdr.data.b}); }
    table shared_one { actions = { hash; } const default_action = hash(); }
    table shared_two { actions = { hash; } const default_action = hash(); }
""",
)


def tables_of(text: str, directory: Path) -> dict[str, Any]:
    source = directory / "program.p4"
    source.write_text(text)
    document = json.loads(translate(source, [], {}).schema)
    return {table["name"]: table for table in document["tables"]}


def test_tables_are_those_of_the_tofino_compiler(tmp_path: Path) -> None:
    """One call of `get`, after the compiler has made a copy of controls and actions for each use;
    fields as it writes them, seen in its bfrt.json for programs of this kind.
    """
    tables = tables_of(PROGRAM, tmp_path)
    hashes_ = {name for name, table in tables.items() if table["table_type"].startswith("DynHash")}
    kinds = ("algorithm", "configure", "compute")
    named = ("pipe.Ingress.Nested.one.inner", "pipe.Ingress.texts")
    assert hashes_ == {f"{name}.{kind}" for name in named for kind in kinds}

    def fields(name: str) -> dict[str, int]:
        return {
            each["singleton"]["name"]: each["singleton"]["container"][1]["singleton"]["type"][
                "default_value"
            ]
            for each in tables[f"pipe.Ingress.{name}.configure"]["data"]
        }

    assert fields("Nested.one.inner") == {
        "hdr.data.c": 32,
        "hdr.data.mac": 48,
        "constant0_8_8w7": 8,
    }
    assert fields("texts") == {
        "constant0_32_32w0xabcd": 32,
        "hdr.data.c": 32,
        "hdr.data.b": 16,
        "hdr.data.mac[15:0]": 16,
        "hdr.data.a ^ 5": 8,
        "(bit<16>)hdr.data.a": 16,
        "constant1_8_8w0x1f": 8,
        "constant2_8_8w31": 8,
    }
    compute = tables["pipe.Ingress.Nested.one.inner.compute"]
    assert [(key["name"], key["type"]["width"]) for key in compute["key"]] == [
        ("hdr.data.c", 32),
        ("hdr.data.mac", 48),
    ]
    assert compute["data"][0]["singleton"]["type"] == {"type": "bytes", "width": 16}

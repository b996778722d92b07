"""@symmetric of a Hash: two fields that may change places."""

from __future__ import annotations

import random
import zlib
from pathlib import Path

import pytest
from p4_programs import METADATA, PREAMBLE, program
from packet.reference_crc import crc16
from refusals import check_refused

FLOW_PREAMBLE = (
    PREAMBLE
    + """
header flow_h { bit<32> src; bit<32> dst; bit<8> protocol; bit<16> sport; bit<16> dport; }
"""
)
FLOW_METADATA = METADATA.replace("extra_h extra;", "extra_h extra; flow_h flow;")
SYMMETRIC = program(
    """
        hdr.data.c = both.get({hdr.flow.src, hdr.flow.dst, hdr.flow.protocol, hdr.flow.sport,
                               hdr.flow.dport});
        hdr.data.b = addresses.get(hdr.flow);
        hdr.flow.setInvalid();
    """,
    preamble=FLOW_PREAMBLE,
    metadata=FLOW_METADATA,
    parser="""
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.data);
        pkt.extract(hdr.flow);
        transition accept;
    }
""",
    local="""
    @symmetric("hdr.flow.src", "hdr.flow.dst")
    @symmetric("hdr.flow.dport", "hdr.flow.sport")
    Hash<bit<32>>(HashAlgorithm_t.CRC32) both;
    @symmetric("hdr.flow.src", "hdr.flow.dst")
    Hash<bit<16>>(HashAlgorithm_t.CRC16) addresses;
""",
)


def hashes(switch, src: int, dst: int, sport: int, dport: int) -> tuple[int, int]:
    """Over both pairs, and over the addresses' pair."""
    flow = src.to_bytes(4, "big") + dst.to_bytes(4, "big") + b"\x06"
    flow += sport.to_bytes(2, "big") + dport.to_bytes(2, "big")
    [(_, out)] = switch.send(1, bytes(14) + flow)
    return int.from_bytes(out[4:8], "big"), int.from_bytes(out[2:4], "big")


RANDOM = random.Random(13)
FLOWS = [[RANDOM.getrandbits(bits) for bits in (32, 32, 16, 16)] for _ in range(20)]


@pytest.mark.parametrize("flow", FLOWS)
def test_fields_may_change_places(load, flow: list[int]) -> None:
    switch = load(SYMMETRIC)
    src, dst, sport, dport = flow
    both, addresses = hashes(switch, *flow)
    assert hashes(switch, dst, src, dport, sport)[0] == both
    assert hashes(switch, dst, src, sport, dport) == (both, addresses)
    assert hashes(switch, src, dst, dport, sport)[0] == both
    assert hashes(switch, src, dst, dport, sport)[1] != addresses  # no pair of that hash
    assert hashes(switch, src, dst ^ 1, sport, dport)[0] != both


def test_hash_is_that_of_the_tofino_compiler(load) -> None:
    """It puts both fields of a pair at the place of the later one (emit_ixbar_gather_map of its
    asm_hash_output.cpp): the hash is that of 0, src ^ dst, protocol, 0, sport ^ dport.
    """
    src, dst, sport, dport = 0x0A000001, 0xC0A80102, 0x1234, 0xABCD
    pair = bytes(4) + (src ^ dst).to_bytes(4, "big") + b"\x06"
    ports = sport.to_bytes(2, "big") + dport.to_bytes(2, "big")
    expected = zlib.crc32(pair + bytes(2) + (sport ^ dport).to_bytes(2, "big"))
    assert hashes(load(SYMMETRIC), src, dst, sport, dport) == (expected, crc16(pair + ports))


def hashed(annotation: str, algorithm: str = "CRC16") -> str:
    return program(
        "hdr.data.b = h.get({hdr.data.a, hdr.data.kind, hdr.data.c});",
        local=f"/*^*/{annotation} Hash<bit<16>>(HashAlgorithm_t.{algorithm}) h;",
    )


PAIR = '@symmetric("hdr.data.a", "hdr.data.kind")'
WRONG = {
    "no CRC": (hashed(PAIR, "XOR16"), "a symmetric hash needs a CRC"),
    "random": (hashed(PAIR, "RANDOM"), "a symmetric hash needs a CRC"),
    "one name": (hashed('@symmetric("hdr.data.a")'), "expected the names of two fields"),
    "no field of the list": (
        hashed('@symmetric("hdr.data.a", "hdr.data.b")'),
        "'hdr.data.b' is not among the fields hashed at",
    ),
    "to itself": (
        hashed('@symmetric("hdr.data.a", "hdr.data.a")'),
        "a field can be symmetric to one other, and not to itself",
    ),
    "twice": (hashed(f"{PAIR} {PAIR}").replace("/*^*/", ""), "a field can be symmetric to one"),
    "widths": (
        hashed('@symmetric("hdr.data.a", "hdr.data.c")'),
        "the two symmetric fields differ in width",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_pairs_are_refused(name: str, tmp_path: Path) -> None:
    check_refused(*WRONG[name], tmp_path)

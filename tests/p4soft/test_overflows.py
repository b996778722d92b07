"""Constants that their types have no room for are cut off, and the program is warned of it.

P4-16, 6.4.3.2 (literals with a width) and 8.11.1 (from int); the Tofino compiler warns of each of
these places, too.
"""

from __future__ import annotations

from pathlib import Path

from p4_programs import program

from p4soft.cli import translate
from p4soft.errors import P4Warning

CUT = program(
    """
        if (hdr.data.kind == 300) { hdr.data.a = 256 + 7; }
        hdr.data.b = (bit<16>) 4w17;
        md.m32 = (bit<32>) (bit<8>) (int<8>) (8s200 >> 1);
        t.apply();
        hdr.data.c = md.m32;
        hdr.data.kind = -1;
    """,
    local="""
    action set(bit<8> v) { md.m32 = md.m32 + (bit<32>) v; }
    table t {
        key = { hdr.data.kind: exact; }
        actions = { set; }
        const entries = { 300: set(301); }
        default_action = set(0);
    }
""",
)


def test_the_low_bits_are_left(load) -> None:
    ((_, frame),) = load(CUT).send(1, bytes([300 - 256, 0]) + bytes(12))
    # kind is 44 = 300 mod 256; 263 mod 256 = 7; 17 mod 16 = 1; 200 as int<8> is -56, half of it -28
    # and as bit<8> 228; 301 mod 256 = 45; -1 mod 256 = 255.
    assert frame[:8] == bytes([255, 7, 0, 1]) + (228 + 45).to_bytes(4, "big")


def test_each_is_a_warning_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "cut.p4"
    path.write_text(CUT)
    warnings: list[P4Warning] = []
    translate(path, [], {}, warn=warnings.append)
    assert [warning.message for warning in warnings] == [
        "300 does not fit in bit<8>, which makes it 44",
        "301 does not fit in bit<8>, which makes it 45",
        "300 does not fit in bit<8>, which makes it 44",
        "263 does not fit in bit<8>, which makes it 7",
        "17 does not fit in bit<4>, which makes it 1",
        "200 does not fit in int<8>, which makes it -56",
        "-1 does not fit in bit<8>, which makes it 255",
    ]
    lines = CUT.splitlines()
    first = warnings[0].position
    assert lines[first.line - 1][first.column - 1 :].startswith("300: set")

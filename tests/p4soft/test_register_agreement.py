"""RegisterActions whose types are not those of their register."""

from __future__ import annotations

from pathlib import Path

import pytest
from p4_programs import program
from refusals import check_refused


def packet(kind: int, a: int = 0) -> bytes:
    return bytes([kind, a]) + bytes(12)


INDEXES = program(
    "hdr.data.c = other.execute(hdr.data.b); hdr.data.b = (bit<16>) one.execute(0);",
    local="""
    Register<bit<32>, bit<8>>(4) cells;
    RegisterAction<bit<32>, bit<16>, bit<32>>(cells) other = {
        void apply(inout bit<32> value, out bit<32> rv) { value = value + 1; rv = value; }
    };
    Register<bit<32>, bit<0>>(1) single;
    RegisterAction<bit<32>, bit<0>, bit<32>>(single) one = {
        void apply(inout bit<32> value, out bit<32> rv) { value = value + 2; rv = value; }
    };
""",
)


def test_index_may_have_another_width_or_none(load) -> None:
    switch = load(INDEXES)
    for table in ("cells", "single"):
        switch.command("register_clear", table=table)
    frames = [switch.send(1, packet(0))[0][1] for _ in range(2)]
    assert [frame[2:8].hex() for frame in frames] == ["000200000001", "000400000002"]


UNKNOWN = program(
    "hdr.data.c = up.execute(3); hdr.data.b[7:0] = bytes.read(2);",
    local="""
    Register<bit<8>, _>(4, 9) bytes;
    Register<bit<32>, _>(4) cells;
    RegisterAction<_, _, bit<32>>(cells) up = {
        void apply(inout bit<32> value, out bit<32> rv) { value = value + 1; rv = value; }
    };
""",
)


def test_type_of_the_index_may_be_left_open(load) -> None:
    switch = load(UNKNOWN)
    switch.command("register_clear", table="cells")
    assert switch.send(1, packet(0))[0][1][3:8].hex() == "0900000001"
    assert switch.send(1, packet(0))[0][1][3:8].hex() == "0900000002"


SIGNS = program(
    """
        if (hdr.data.kind == 0) { hdr.data.b = unsigned.execute(0); }
        else { hdr.data.b = (bit<16>) signed.execute(0); }
    """,
    local="""
    Register<int<16>, bit<8>>(1, -1) cells;
    RegisterAction<bit<16>, bit<8>, bit<16>>(cells) unsigned = {
        void apply(inout bit<16> value, out bit<16> rv) {
            rv = value;
            if (value > 100) { value = 5; }
        }
    };
    RegisterAction<int<16>, bit<8>, int<16>>(cells) signed = {
        void apply(inout int<16> value, out int<16> rv) {
            rv = value;
            if (value > 100) { value = 5; }
        }
    };
""",
)


def test_cell_may_be_taken_for_a_number_with_another_sign(load) -> None:
    switch = load(SIGNS)
    switch.command("register_clear", table="cells")
    values = [switch.send(1, packet(kind))[0][1][2:4].hex() for kind in (1, 1, 0, 0)]
    # -1 is not above 100, but as bit<16> it is 65535, which is.
    assert values == ["ffff", "ffff", "ffff", "0005"]


ACTION = """
    RegisterAction<{0}, bit<8>, bit<8>>(cells) /*^*/up = {{ void apply(inout {0} value) {{ }} }};
"""


@pytest.mark.parametrize(
    ("cell", "taken_for"), [("bit<8>", "bit<3>"), ("bit<16>", "bit<1>"), ("bit<1>", "int<1>")]
)
def test_other_cells_are_refused(cell: str, taken_for: str, tmp_path: Path) -> None:
    wrong = program(local=f"Register<{cell}, bit<8>>(4) cells;" + ACTION.format(taken_for))
    check_refused(wrong, f"'up' is for cells of {taken_for}, register 'cells' has", tmp_path)

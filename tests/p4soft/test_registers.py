"""Register and RegisterAction: values worked out by hand, and through the control plane."""

from __future__ import annotations

from p4_programs import program

COUNTING = program(
    """
        if (hdr.data.kind == 1) {
            hdr.data.c = count.execute(hdr.data.a);
        } else if (hdr.data.kind == 2) {
            hdr.data.c = largest.execute(hdr.data.a);
        } else if (hdr.data.kind == 3) {
            hdr.data.c = exchange.execute(hdr.data.a);
        } else if (hdr.data.kind == 4) {
            hdr.data.c = cells.read(hdr.data.a);
        }
    """,
    local="""
    Register<bit<32>, bit<8>>(16, 5) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) count = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + 1;
            rv = value;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) largest = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = value;
            if (hdr.data.c > value) { value = hdr.data.c; }
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) exchange = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = value;
            if (hdr.data.b != 0) { value = hdr.data.c; }
        }
    };
""",
)


def packet(kind: int, a: int, b: int = 0, c: int = 0) -> bytes:
    return bytes([kind, a]) + b.to_bytes(2, "big") + c.to_bytes(4, "big") + bytes(6)


def output(target, *fields: int) -> int:
    [(_, out)] = target.send(1, packet(*fields))
    return int.from_bytes(out[4:8], "big")


def test_actions_see_each_others_values(load) -> None:
    switch = load(COUNTING)
    switch.command("register_clear", table="cells")
    assert [output(switch, 1, 3) for _ in range(3)] == [6, 7, 8]  # from the initial 5
    assert output(switch, 1, 4) == 6  # another cell
    assert output(switch, 2, 3, 0, 100) == 8  # the old value; the cell becomes 100
    assert output(switch, 2, 3, 0, 50) == 100  # not larger: stays
    assert output(switch, 3, 3, 0, 7) == 100  # b = 0: no store
    assert output(switch, 3, 3, 1, 7) == 100
    assert output(switch, 4, 3) == 7  # Register.read
    assert output(switch, 1, 16) == 1  # outside: found zero,
    assert output(switch, 1, 16) == 1  # left nothing


def test_control_plane_reads_and_writes_ranges(load) -> None:
    switch = load(COUNTING)
    switch.command("register_clear")
    written = switch.command("register_write", table="cells", first=2, values=[10, "0xffffffff"])
    assert written == {"table": "pipe.Ingress.cells", "written": 2}
    read = switch.command("register_read", table="cells", first=1, count=4)
    assert read == {"table": "pipe.Ingress.cells", "first": 1, "values": [5, 10, 2**32 - 1, 5]}
    assert output(switch, 1, 3) == 0  # wraps around
    switch.command("register_clear", table="cells", first=2, count=1)
    assert switch.command("register_read", table="cells")["values"] == [5, 5, 5, 0] + [5] * 12


PAIRS = program(
    """
        hdr.data.c = (bit<32>) update.execute(hdr.data.a);
        hdr.data.b = (bit<16>) flag.execute(hdr.data.a);
    """,
    preamble=program.__kwdefaults__["preamble"]
    + """
struct pair_t {
    bit<16> sum;
    bit<16> count;
}
""",
    local="""
    Register<pair_t, bit<8>>(8, {1, 2}) pairs;
    RegisterAction<pair_t, bit<8>, bit<16>>(pairs) update = {
        void apply(inout pair_t value, out bit<16> rv) {
            value.sum = value.sum |+| hdr.data.b;
            value.count = value.count + 1;
            rv = value.sum;
        }
    };
    Register<bit<1>, bit<8>>(8) flags;
    RegisterAction<bit<1>, bit<8>, bit<1>>(flags) flag = {
        void apply(inout bit<1> value, out bit<1> rv) {
            rv = value;
            value = 1;
        }
    };
""",
)


def test_pairs_and_bits(load) -> None:
    switch = load(PAIRS)
    switch.command("register_clear")
    assert output(switch, 0, 1, 10) == 11
    [(_, out)] = switch.send(1, packet(0, 1, 0xFFFF))
    assert out[4:8] == bytes.fromhex("0000ffff")  # saturated
    assert out[2:4] == b"\0\1"  # the bit that the first packet set
    assert switch.command("register_read", table="pairs", count=2)["values"] == [[1, 2], [65535, 4]]
    switch.command("register_write", table="pairs", values=[[7, 8]])
    assert output(switch, 0, 0, 1) == 8
    assert switch.command("register_read", table="pairs", count=1)["values"] == [[8, 9]]


SIGNED = program(
    "hdr.data.c = (bit<32>) step.execute(hdr.data.a);",
    local="""
    Register<int<16>, bit<8>>(4) balance;
    RegisterAction<int<16>, bit<8>, bit<16>>(balance) step = {
        void apply(inout int<16> value, out bit<16> rv) {
            if (value < 0) { value = value + 100; } else { value = value - (int<16>) hdr.data.b; }
            rv = (bit<16>) value;
        }
    };
""",
)


def test_signed_cells(load) -> None:
    switch = load(SIGNED)
    switch.command("register_clear")
    assert output(switch, 0, 2, 30) == 0x10000 - 30
    assert output(switch, 0, 2, 30) == 70
    switch.command("register_write", table="balance", first=2, values=[0xFFFF])  # -1
    assert output(switch, 0, 2, 30) == 99


LOCALS = program(
    """
        if (hdr.data.kind == 1) {
            hdr.data.c = count.execute(hdr.data.a);
        } else if (hdr.data.kind == 2) {
            hdr.data.c = count_and_compare.execute(hdr.data.a);
        } else {
            hdr.data.c = choose.execute(hdr.data.a);
        }
    """,
    local="""
    Register<bit<32>, bit<8>>(16, 4) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) count = {
        void apply(inout bit<32> value, out bit<32> rv) {
            bit<32> in_value;
            in_value = value;
            value = in_value + 1;
            rv = in_value;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) count_and_compare = {
        void apply(inout bit<32> value, out bit<32> rv) {
            bit<32> t = value;
            value = value + 1;
            if (t > 5) { rv = 1; } else { rv = 0; }
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) choose = {
        void apply(inout bit<32> value, out bit<32> rv) {
            bit<32> t = 0;
            if (value < 9) { t = value + hdr.data.c; } else if (hdr.data.c == 0) { t = 77; }
            value = hdr.data.c;
            rv = t;
        }
    };
""",
)


def test_local_variables_keep_what_the_cell_was(load) -> None:
    switch = load(LOCALS)
    switch.command("register_clear")
    assert [output(switch, 1, 3) for _ in range(3)] == [4, 5, 6]  # before each addition; now 7
    assert [output(switch, 2, 5) for _ in range(3)] == [0, 0, 1]  # 4 > 5, 5 > 5, 6 > 5
    assert output(switch, 3, 3, 0, 10) == 7 + 10
    assert output(switch, 3, 3, 0, 0) == 77  # the cell is 10, not below 9
    assert output(switch, 3, 3, 0, 20) == 0 + 20
    assert output(switch, 3, 3, 0, 30) == 0  # the cell is 20: neither case
    assert switch.command("register_read", table="cells", first=3, count=1)["values"] == [30]


ALERTS = program(
    "hdr.data.b = alert.execute(hdr.data.b);",
    preamble=program.__kwdefaults__["preamble"] + "struct limits_t { bit<32> x; bit<32> y; }\n",
    local="""
    Register<limits_t, bit<32>>(8, {3, 0}) limits;
    RegisterAction<limits_t, bit<16>, bit<16>>(limits) alert = {
        void apply(inout limits_t value, out bit<16> rv) {
            if (value.x > 0) { value.x = value.x - 1; rv = 1; }
            if (value.y != hdr.data.c) { value.y = hdr.data.c; rv = 1; }
        }
    };
""",
)


def test_a_result_of_two_conditions(load) -> None:
    """The same number under conditions that may hold together; and an action whose index is
    narrower than the register's.
    """
    switch = load(ALERTS)

    def alert(c: int) -> int:
        [(_, out)] = switch.send(1, bytes([1, 0, 0, 5]) + c.to_bytes(4, "big") + bytes(6))
        return int.from_bytes(out[2:4], "big")

    # Both; the first; the first; none; the second.
    assert [alert(c) for c in (7, 7, 7, 7, 8)] == [1, 1, 1, 0, 1]
    values = switch.command("register_read", table="limits", count=8)["values"]
    assert values == [[3, 0]] * 5 + [[0, 8]] + [[3, 0]] * 2

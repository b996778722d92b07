"""Tables of every kind, through the control plane and with entries in the program."""

from __future__ import annotations

from typing import Any

import pytest
from p4_programs import PREAMBLE, program
from packet.targets import CommandFailedError

LOCAL = """
    action set(bit<8> v) {{ hdr.data.a = v; }}
    action wide(bit<128> v, bool flag, int<16> s) {{
        hdr.data.c = v[127:96]; hdr.data.mac = v[47:0];
        if (flag) {{ hdr.data.b = (bit<16>) s; }}
    }}
    table t {{
        key = {{ {keys} }}
        actions = {{ set; wide; }}
        default_action = set(0xFF);
        size = 64;
    }}
"""


def table_program(keys: str, **options: Any) -> str:
    return program("t.apply();", local=LOCAL.format(keys=keys), **options)


def send(target, kind: int = 0, b: int = 0, c: int = 0) -> int:
    frame = bytes([kind, 0]) + b.to_bytes(2, "big") + c.to_bytes(4, "big") + bytes(6)
    [(_, out)] = target.send(1, frame)
    return out[1]


def insert(target, key: dict[str, Any], v: int, **more: Any) -> None:
    update = {"op": "insert", "table": "t", "key": key, "action": "set", "data": {"v": v}, **more}
    target.command("table_write", updates=[update])


def cleared(target):
    target.command("table_write", updates=[{"op": "clear", "table": "t"}])
    return target


def with_entries(entries: str) -> str:
    local = LOCAL.format(keys="hdr.data.kind: ternary;")
    return program("t.apply();", local=local.replace("size = 64;", f"size = 64; {entries}"))


def test_entries_that_a_program_begins_with_come_back(load) -> None:
    target = load(with_entries("entries = { 1: set(5); 2 &&& 3: set(6); }"))

    def entries() -> Any:
        found = target.command("table_read", table="t")["entries"]
        return sorted(found, key=lambda entry: entry["priority"])

    first = entries()
    assert [send(target, kind) for kind in (1, 2, 6, 3)] == [5, 6, 6, 0xFF]
    deletion = {"op": "delete", "table": "t"} | {
        name: first[0][name] for name in ("key", "priority")
    }
    change = first[1] | {"op": "modify", "table": "t", "data": {"v": 9}}
    target.command("table_write", updates=[deletion, change])
    insert(target, {"kind": {"value": 3, "mask": 0xFF}}, 7, priority=3)
    changed = entries()
    assert [send(target, kind) for kind in (1, 2, 6, 3)] == [0xFF, 9, 9, 7]
    reset = {"op": "reset", "table": "t"}
    with pytest.raises(CommandFailedError, match=r"updates\[1\]"):
        target.command("table_write", updates=[reset, {"op": "none", "table": "t"}])
    assert entries() == changed
    target.command("table_write", updates=[reset])
    assert entries() == first
    assert [send(target, kind) for kind in (1, 2, 6, 3)] == [5, 6, 6, 0xFF]


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        # As p4c's pass EntryPriorities has it: the largest wins unless said otherwise, and an entry
        # without a priority is behind the one before it.
        ("entries = { priority = 20: 1 &&& 1: set(77); priority = 10: 3: set(5); _: set(9); }", 77),
        ("entries = { priority = 10: 3: set(5); priority = 20: 1 &&& 1: set(77); _: set(9); }", 77),
        (
            "largest_priority_wins = false; "
            "entries = { priority = 20: 1 &&& 1: set(77); priority = 10: 3: set(5); _: set(9); }",
            5,
        ),
        (
            "priority_delta = 15; "
            "entries = { priority = 20: _: set(9); 1 &&& 1: set(77); priority = 6: 3: set(5); }",
            9,
        ),
        (
            "priority_delta = 15; "
            "entries = { priority = 20: 8: set(9); 1 &&& 1: set(77); priority = 6: 3: set(5); }",
            5,
        ),
        ("entries = { priority = 7: 3: set(5); priority = 7: 1 &&& 1: set(77); }", 5),
        ("largest_priority_wins = false; entries = { 3: set(5); 1 &&& 1: set(77); }", 5),
    ],
)
def test_priorities_of_entries(load, entries: str, expected: int) -> None:
    assert send(load(with_entries(entries)), 3) == expected


EXACT = table_program(
    'hdr.data.kind: exact; hdr.data.b: exact; hdr.extra.isValid(): exact @name("extra");'
)


def test_exact_of_several_fields(load) -> None:
    target = cleared(load(EXACT))
    insert(target, {"kind": 1, "b": 0x1234, "extra": False}, 7)
    insert(target, {"kind": 1, "b": 0x1234, "extra": True}, 8)
    assert send(target, 1, 0x1234) == 7
    assert send(target, 1, 0x1235) == 0xFF
    assert send(target, 2, 0x1234) == 0xFF
    target.command(
        "table_write",
        updates=[{"op": "delete", "table": "t", "key": {"kind": 1, "b": 0x1234, "extra": 0}}],
    )
    assert send(target, 1, 0x1234) == 0xFF


def test_schema_says_truth_is_a_bit(load) -> None:
    """In keys and action data, as the Tofino compiler's bfrt.json does."""
    [table] = load(EXACT).command("schema")["tables"]
    types = {key["name"]: key["type"] for key in table["key"]}
    assert types["extra"] == {"type": "bytes", "width": 1}
    [wide] = [action for action in table["action_specs"] if action["name"].endswith("wide")]
    types = {datum["name"]: datum["type"] for datum in wide["data"]}
    assert types["flag"] == {"type": "bytes", "width": 1}


def test_action_data_wide_signed_and_bool(load) -> None:
    target = cleared(load(EXACT))
    value = 0xAABBCCDD_00000000_0000_112233445566
    data = {"v": hex(value), "flag": True, "s": 0xFFFE}
    update = {
        "op": "insert",
        "table": "t",
        "key": {"kind": 3, "b": 0, "extra": 0},
        "action": "wide",
        "data": data,
    }
    target.command("table_write", updates=[update])
    [(_, out)] = target.send(1, bytes([3]) + bytes(13))
    assert out.hex() == "0300" + "fffe" + "aabbccdd" + "112233445566"
    [entry] = target.command("table_read", table="t")["entries"]
    assert entry["data"] == {"v": f"0x{value:032x}", "flag": 1, "s": 0xFFFE}


def test_exact_fills_to_its_size(load) -> None:
    target = cleared(load(EXACT))
    for number in range(64):
        insert(target, {"kind": number, "b": number * 7, "extra": 0}, number)
    with pytest.raises(CommandFailedError, match="is full at 64 entries"):
        insert(target, {"kind": 64, "b": 0, "extra": 0}, 0)
    assert all(send(target, n, n * 7) == n for n in range(64))
    for number in range(0, 64, 2):
        key = {"kind": number, "b": number * 7, "extra": 0}
        target.command("table_write", updates=[{"op": "delete", "table": "t", "key": key}])
    assert [send(target, n, n * 7) for n in range(64)] == [
        0xFF if n % 2 == 0 else n for n in range(64)
    ]


def test_lpm_beside_an_exact_key(load) -> None:
    target = cleared(load(table_program("hdr.data.kind: exact; hdr.data.c: lpm;")))

    def prefix(kind: int, value: str | int, length: int) -> dict[str, Any]:
        return {"kind": kind, "c": {"value": value, "prefix_len": length}}

    insert(target, prefix(1, 0, 0), 1)
    insert(target, prefix(1, "10.0.0.0", 8), 2)
    insert(target, prefix(1, "10.1.0.0", 16), 3)
    insert(target, prefix(1, "10.1.2.3", 32), 4)
    insert(target, prefix(2, "10.1.0.0", 16), 5)
    ten = 10 << 24
    assert send(target, 1, c=9 << 24) == 1
    assert send(target, 1, c=ten | 5) == 2
    assert send(target, 1, c=ten | 1 << 16) == 3
    assert send(target, 1, c=ten | 1 << 16 | 0x0203) == 4
    assert send(target, 2, c=ten | 1 << 16) == 5
    assert send(target, 2, c=ten) == 0xFF
    # The bits after the prefix do not matter for what is the same entry.
    with pytest.raises(CommandFailedError, match="exists already"):
        insert(target, prefix(1, "10.9.9.9", 8), 6)


def test_ternary_by_priority(load) -> None:
    target = cleared(load(table_program("hdr.data.b: ternary; hdr.data.kind: exact;")))

    def key(value: int, mask: int) -> dict[str, Any]:
        return {"kind": 1, "b": {"value": value, "mask": mask}}

    insert(target, key(0x1200, 0xFF00), 1, priority=10)
    insert(target, key(0x0034, 0x00FF), 2, priority=5)
    insert(target, {"kind": 1}, 3, priority=100)  # matches every b
    assert send(target, 1, 0x1299) == 1
    assert send(target, 1, 0x1234) == 2  # both match: the lower number wins
    assert send(target, 1, 0x5555) == 3
    assert send(target, 2, 0x1234) == 0xFF
    [low] = [e for e in target.command("table_read", table="t")["entries"] if e["priority"] == 5]
    assert low["key"] == {"hdr.data.kind": 1, "hdr.data.b": {"value": 0x34, "mask": 0xFF}}


def test_entries_are_read_in_the_order_of_their_insertion(load) -> None:
    """Also in a table that was emptied, as the vendor's example tna_ternary_match expects."""
    target = cleared(load(table_program("hdr.data.b: ternary; hdr.data.kind: exact;")))
    priorities = [7, 3, 9, 1]
    for _ in range(2):
        for priority in priorities:
            insert(target, {"kind": priority, "b": {"value": 0, "mask": 1}}, 1, priority=priority)
        read = target.command("table_read", table="t")["entries"]
        assert [entry["priority"] for entry in read] == priorities
        for entry in read:
            delete = {"op": "delete", "table": "t"}
            keys = {"key": entry["key"], "priority": entry["priority"]}
            target.command("table_write", updates=[delete | keys])


def test_range_with_overlaps(load) -> None:
    target = cleared(load(table_program("hdr.data.kind: exact; hdr.data.b: range;")))

    def key(low: int, high: int) -> dict[str, Any]:
        return {"kind": 1, "b": {"low": low, "high": high}}

    insert(target, key(0, 0xFFFF), 1, priority=9)
    insert(target, key(100, 200), 2, priority=5)
    insert(target, key(150, 300), 3, priority=4)
    insert(target, key(0xFFFF, 0xFFFF), 4, priority=1)
    wanted = {0: 1, 99: 1, 100: 2, 149: 2, 150: 3, 200: 3, 300: 3, 301: 1, 0xFFFE: 1, 0xFFFF: 4}
    assert {b: send(target, 1, b) for b in wanted} == wanted
    delete = {"op": "delete", "table": "t", "key": key(150, 300), "priority": 4}
    target.command("table_write", updates=[delete])
    assert (send(target, 1, 200), send(target, 1, 201)) == (2, 1)


def test_two_ranges_and_a_mask(load) -> None:
    keys = "hdr.data.b: range; hdr.data.kind: range; hdr.data.c: ternary;"
    target = cleared(load(table_program(keys)))
    key = {
        "b": {"low": 10, "high": 20},
        "kind": {"low": 3, "high": 3},
        "c": {"value": 1, "mask": 1},
    }
    insert(target, key, 5)
    assert send(target, 3, 10, 7) == 5
    assert send(target, 3, 20, 1) == 5
    assert send(target, 3, 21, 1) == 0xFF
    assert send(target, 2, 10, 1) == 0xFF
    assert send(target, 3, 10, 2) == 0xFF


def test_key_of_128_bits(load) -> None:
    preamble = PREAMBLE + "header long_h { bit<128> address; }\n"
    metadata = (
        "struct headers_t { data_h data; long_h long_; extra_h extra; }\n"
        "struct metadata_t { bit<32> m32; }\n"
    )
    parser = """
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.data);
        pkt.extract(hdr.long_);
        transition accept;
    }
"""
    source = table_program(
        "hdr.long_.address: exact;", preamble=preamble, metadata=metadata, parser=parser
    )
    target = cleared(load(source))
    insert(target, {"address": "2001:db8::1"}, 6)
    address = bytes.fromhex("20010db8000000000000000000000001")
    [(_, out)] = target.send(1, bytes(14) + address)
    assert out[1] == 6
    [(_, out)] = target.send(1, bytes(14) + address[:-1] + b"\2")
    assert out[1] == 0xFF


ENTRIES = program(
    "x.apply(); r.apply(); k.apply();",
    local="""
    action a(bit<8> v) { hdr.data.a = v; }
    action b(bit<16> v) { hdr.data.b = v; }
    action c(inout bit<32> place, bit<32> v) { place = v; }
    table x {
        key = { hdr.data.kind: exact; hdr.data.b: ternary; }
        actions = { a; }
        const entries = {
            (1, 0x0100 &&& 0xFF00): a(1);
            (1, _): a(2);
            (2, 7): a(3);
        }
        default_action = a(9);
    }
    table r {
        key = { hdr.data.b: range; }
        actions = { b; NoAction; }
        const entries = {
            0 .. 9: b(0xAAAA);
            10: b(0xBBBB);
        }
    }
    table k {
        actions = { c(hdr.data.c); }
        default_action = c(0xDEADBEEF);
    }
""",
)


@pytest.mark.parametrize(
    ("kind", "b", "a_out", "b_out"),
    [
        (1, 0x0155, 1, 0x0155),
        (1, 5, 2, 0xAAAA),
        (2, 7, 3, 0xAAAA),
        (2, 10, 9, 0xBBBB),
        (3, 11, 9, 11),
    ],
)
def test_entries_in_the_program(load, kind: int, b: int, a_out: int, b_out: int) -> None:
    [(_, out)] = load(ENTRIES).send(1, bytes([kind, 0]) + b.to_bytes(2, "big") + bytes(10))
    assert out.hex() == bytes([kind, a_out]).hex() + f"{b_out:04x}" + "deadbeef" + "00" * 6


def test_default_action_of_a_keyless_table(load) -> None:
    target = load(ENTRIES)
    update = {"op": "set_default", "table": "k", "action": "c", "data": {"v": 5}}
    target.command("table_write", updates=[update])
    [(_, out)] = target.send(1, bytes(14))
    assert out[4:8] == bytes([0, 0, 0, 5])
    with pytest.raises(CommandFailedError, match="has no keys; only its default action can be set"):
        target.command("table_write", updates=[{**update, "op": "insert"}])
    target.command("table_write", updates=[{**update, "data": {"v": 0xDEADBEEF}}])


def test_lpm_beside_ternary_and_range(load) -> None:
    """As in a TCAM: the priority decides, not the length of the prefix."""
    keys = "hdr.data.c: lpm; hdr.data.kind: ternary; hdr.data.b: range;"
    target = cleared(load(table_program(keys)))
    ten = {"value": 0x0A000000, "prefix_len": 8}
    ten_one = {"value": 0x0A010000, "prefix_len": 16}
    insert(target, {"c": ten, "kind": {"value": 1, "mask": 1}}, 1, priority=1)
    insert(target, {"c": ten_one, "b": {"low": 5, "high": 9}}, 2, priority=2)
    insert(target, {"c": {"value": 0, "prefix_len": 0}}, 3, priority=3)
    assert send(target, 1, 7, 0x0A010203) == 1  # both: the shorter prefix comes first
    assert send(target, 2, 7, 0x0A010203) == 2
    assert send(target, 2, 4, 0x0A010203) == 3
    assert send(target, 1, 7, 0x0B000000) == 3
    update = {"op": "delete", "table": "t", "priority": 1,
              "key": {"c": ten, "kind": {"value": 1, "mask": 1}}}  # fmt: skip
    target.command("table_write", updates=[update])
    assert send(target, 1, 7, 0x0A010203) == 2


MIXED_ENTRIES = program(
    "t.apply();",
    local="""
    action set(bit<8> v) { hdr.data.a = v; }
    table t {
        key = { hdr.data.c: lpm; hdr.data.b: range; }
        actions = { set; }
        default_action = set(0xFF);
        const entries = {
            (0x0A010000 &&& 0xFFFF0000, 1 .. 5): set(1);
            (0x0A000000 &&& 0xFF000000, _): set(2);
            (_, 7): set(3);
        }
    }
""",
)


def test_entries_of_lpm_beside_range(load) -> None:
    target = load(MIXED_ENTRIES)
    assert send(target, 0, 5, 0x0A01FFFF) == 1
    assert send(target, 0, 7, 0x0A01FFFF) == 2
    assert send(target, 0, 7, 0x0B000000) == 3
    assert send(target, 0, 8, 0x0B000000) == 0xFF


SIZES = program(
    "one.apply(hdr); two.apply(hdr);",
    top="""
control Sized(inout headers_t hdr)(bit<32> entries) {
    action set(bit<8> value) { hdr.data.a = value; }
    table sized {
        key = { hdr.data.kind: exact; }
        actions = { set; }
        size = entries;
    }
    apply { sized.apply(); }
}
""",
    local="Sized(1) one; Sized(2) two;",
)
COMPUTED = SIZES.replace("size = entries;", "size = 3 * entries - entries / 2 - 1;")


@pytest.mark.parametrize(("text", "sizes"), [(SIZES, (1, 2)), (COMPUTED, (2, 4))])
def test_a_size_may_be_a_constructors_parameter(load, text: str, sizes: tuple[int, int]) -> None:
    switch = load(text)
    for name, size in zip(("one", "two"), sizes, strict=True):
        table = f"Ingress.{name}.sized"
        assert switch.command("table_info", table=table)["size"] == size
        inserts = [
            {"op": "insert", "table": table, "key": {"hdr.data.kind": kind}, "action": "set",
             "data": {"value": kind}}
            for kind in range(size + 1)
        ]  # fmt: skip
        with pytest.raises(CommandFailedError, match=f"is full at {size} entries"):
            switch.command("table_write", updates=inserts)
        switch.command("table_write", updates=inserts[:-1])


BOUND = program(
    "t.apply();",
    local="""
    action set(out bit<8> place, in bit<8> more, bit<8> n) { place = more + n; }
    table t {
        key = { hdr.data.kind: exact; }
        actions = { set(hdr.data.a, 2); }
        const entries = { 1: set(hdr.data.a, 2, 5); 2: set(6); }
        default_action = set(hdr.data.a, 2, 7);
    }
""",
)


def test_arguments_of_the_list_of_actions_may_be_repeated(load) -> None:
    """P4-16 specification, 14.2.1.3: `default_action = b(z, 8w8)` of `actions = { b(z); }`."""
    switch = load(BOUND)
    assert [send(switch, kind) for kind in (1, 2, 3)] == [2 + 5, 2 + 6, 2 + 7]


EMPTY = program(
    "if (t.apply().miss) { hdr.data.a = 7; }",
    local="table t { key = { hdr.data.kind: exact; } actions = { } size = 64; }",
)


def test_a_table_with_an_empty_list_of_actions_has_no_action(load) -> None:
    """As p4c adds it: NoAction as the default, and no entry can have it."""
    target = load(EMPTY)
    [table] = target.command("schema")["tables"]
    [action] = table["action_specs"]
    assert (action["name"], action["action_scope"]) == ("NoAction", "DefaultOnly")
    update = {"op": "insert", "table": "t", "key": {"kind": 0}, "action": "NoAction"}
    with pytest.raises(CommandFailedError, match="default"):
        target.command("table_write", updates=[update])
    assert send(target) == 7


def test_a_leading_dot_names_the_top_level(load) -> None:
    """P4-16, "Naming": a constant, a function and an action."""
    top = """
        const bit<8> K = 7;
        bit<16> plus_one(in bit<16> x) { return x + 1; }
        action set(out bit<32> place, bit<32> v) { place = v; }
    """
    local = """
        table t {
            key = { hdr.data.kind: exact; }
            actions = { .set(hdr.data.c); }
            default_action = .set(hdr.data.c, 5);
            const entries = { .K: .set(hdr.data.c, 6); }
        }
    """
    body = "t.apply(); hdr.data.a = .K; hdr.data.b = .plus_one(hdr.data.b);"
    target = load(program(body, top=top, local=local))
    for kind, c in ((7, 6), (8, 5)):
        [(_, out)] = target.send(1, bytes([kind]) + bytes(13))
        assert out[:8] == bytes([kind, 7, 0, 1, 0, 0, 0, c])

"""P4Info of programs, read by protobuf with P4Runtime's published messages.

Ids that tests expect stand in outputs of p4c (testdata/p4_16_samples_outputs/*.p4info.txtpb).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from p4_programs import program

from p4soft.cli import translate
from p4soft.emit.p4info.names import Names, Prefix, Symbol, one_at_a_time
from p4soft.errors import P4Error
from turntable_tofino.p4infos import parse

P4 = Path(__file__).parents[2] / "p4"

EVERYTHING = program(
    "by_kind.apply(); plain.apply(); masked.apply(); fixed.apply();",
    top="""
enum bit<8> color_t { RED = 1, BLUE = 2 }
type bit<9> port_number_t;
struct told_t { bit<48> mac; color_t color; bool late; }
struct pair_t { bit<16> first; bit<16> second; }
@controller_header("packet_in")
header from_port_h { bit<9> ingress_port; @padding bit<7> pad; }
""",
    local="""
    Hash<bit<16>>(HashAlgorithm_t.CRC16) choice;
    ActionProfile(8) members;
    ActionSelector(members, choice, SelectorMode_t.FAIR, 4, 2) groups;
    ActionProfile(16) others;
    Counter<bit<64>, bit<8>>(4, CounterType_t.PACKETS_AND_BYTES) counts;
    DirectCounter<bit<64>>(CounterType_t.BYTES) hits;
    Meter<bit<8>>(4, MeterType_t.PACKETS) rate;
    Register<bit<8>, bit<8>>(32) cells;
    Register<pair_t, bit<8>>(64) pairs;
    action mark(bit<8> value) { hdr.data.a = value; }
    action paint(color_t color, bool keep) { hdr.data.a = (bit<8>)color; hits.count(); }
    table by_kind {
        key = { hdr.data.c: selector; hdr.data.kind: exact; }
        actions = { mark; }
        implementation = groups;
    }
    table plain {
        key = { hdr.data.kind: exact; }
        actions = { mark; }
        implementation = others;
        size = 100;
    }
    @brief("Colours by b.")
    table masked {
        key = { hdr.data.b: ternary; hdr.data.c: lpm @name("c"); hdr.data.a: range; }
        actions = { paint; @defaultonly mark; @tableonly NoAction; }
        default_action = mark(0x0A);
        counters = hits;
        size = 64;
    }
    table fixed {
        key = { hdr.data.kind: exact; }
        actions = { mark; }
        const entries = { 1: mark(1); }
        const default_action = mark(2);
    }
""",
)


Describe = Callable[[str], Any]


@pytest.fixture(scope="module")
def describe(tmp_path_factory: pytest.TempPathFactory) -> Describe:
    """A function from the text of a program to its P4Info."""
    path = tmp_path_factory.mktemp("p4info") / "described.p4"

    def describe(text: str) -> Any:
        path.write_text(text)
        return parse(translate(path, [], {}).p4info)

    return describe


@pytest.fixture(scope="module")
def everything(describe: Describe) -> Any:
    return describe(EVERYTHING)


def by_alias(objects: Any) -> dict[str, Any]:
    return {each.preamble.alias: each for each in objects}


@pytest.mark.parametrize(
    ("prefix", "name", "id_"),
    [
        (Prefix.ACTION, "NoAction", 21257015),
        (Prefix.ACTION, "IngressI.drop", 23455883),
        (Prefix.ACTION, "ingress.set_output", 28429210),
        (Prefix.TABLE, "IngressI.indirect_ws", 38116258),
        (Prefix.ACTION_PROFILE, "IngressI.as", 291652621),
    ],
)
def test_ids_are_those_that_p4c_gives(prefix: Prefix, name: str, id_: int) -> None:
    names = Names()
    names.add(Symbol(prefix, name), [])
    names.number()
    assert names.ids[Symbol(prefix, name)] == id_


def test_two_names_with_one_hash_have_two_ids() -> None:
    """The second in the order of names has the next number."""
    # Found by trying names: the same low 24 bits.
    first, second = _names_with_one_id()
    names = Names()
    names.add(Symbol(Prefix.TABLE, second), [])
    names.add(Symbol(Prefix.TABLE, first), [])
    names.number()
    low = one_at_a_time(first) & 0xFFFFFF
    assert names.ids == {
        Symbol(Prefix.TABLE, first): 0x0200_0000 | low,
        Symbol(Prefix.TABLE, second): 0x0200_0000 | (low + 1 & 0xFFFFFF),
    }


def _names_with_one_id() -> tuple[str, str]:
    seen: dict[int, str] = {}
    for number in range(100_000):
        name = f"t{number:05}"
        low = one_at_a_time(name) & 0xFFFFFF
        if low in seen:
            return seen[low], name
        seen[low] = name
    raise AssertionError("no two of 100,000 names have the same 24 bits")


def test_an_alias_is_as_long_as_it_must_be(everything: Any) -> None:
    names = Names()
    for name in ("d.a.c", "e.b.c", "x.y"):
        names.add(Symbol(Prefix.TABLE, name), [])
    assert [names.alias(name) for name in ("d.a.c", "e.b.c", "x.y")] == ["a.c", "b.c", "y"]
    assert by_alias(everything.tables)["masked"].preamble.name == "Ingress.masked"


def test_an_alias_of_a_name_that_ends_another_is_all_of_it() -> None:
    names = Names()
    for name in ("b.c", "a.b.c"):
        names.add(Symbol(Prefix.TABLE, name), [])
    assert [names.alias(name) for name in ("b.c", "a.b.c")] == ["b.c", "a.b.c"]


def test_keys_have_kinds_and_widths(everything: Any) -> None:
    kinds = type(everything.tables[0].match_fields[0]).MatchType
    table = by_alias(everything.tables)["masked"]
    found = [(f.id, f.name, f.bitwidth, kinds.Name(f.match_type)) for f in table.match_fields]
    assert found == [
        (1, "hdr.data.b", 16, "TERNARY"),
        (2, "c", 32, "LPM"),
        (3, "hdr.data.a", 8, "RANGE"),
    ]
    assert table.preamble.doc.brief == "Colours by b."


def test_a_selector_key_is_counted_and_not_shown(everything: Any) -> None:
    (field,) = by_alias(everything.tables)["by_kind"].match_fields
    assert (field.id, field.name) == (2, "hdr.data.kind")


def test_actions_have_scopes_and_a_default(everything: Any) -> None:
    table = by_alias(everything.tables)["masked"]
    actions = by_alias(everything.actions)
    scopes = {ref.id: ref.scope for ref in table.action_refs}
    ids = {alias: action.preamble.id for alias, action in actions.items()}
    # TABLE_AND_DEFAULT, DEFAULT_ONLY, TABLE_ONLY of p4info.proto
    assert scopes == {ids["paint"]: 0, ids["mark"]: 2, ids["NoAction"]: 1}
    default = table.initial_default_action
    assert (default.action_id, table.const_default_action_id) == (ids["mark"], 0)
    assert [(a.param_id, a.value) for a in default.arguments] == [(1, b"\x0a")]
    assert (table.size, table.is_const_table, table.has_initial_entries) == (64, False, False)


def test_a_table_of_constants_says_so(everything: Any) -> None:
    table = by_alias(everything.tables)["fixed"]
    mark = by_alias(everything.actions)["mark"].preamble.id
    assert table.is_const_table and table.has_initial_entries
    assert table.const_default_action_id == mark
    assert table.initial_default_action.arguments[0].value == b"\x02"


def test_an_action_of_several_tables_is_one(everything: Any) -> None:
    assert sorted(a.preamble.name for a in everything.actions) == [
        "Ingress.mark",
        "Ingress.paint",
        "NoAction",
    ]
    paint = by_alias(everything.actions)["paint"]
    # The Tofino compiler names new types here, and no enums.
    assert [(p.id, p.name, p.bitwidth, p.HasField("type_name")) for p in paint.params] == [
        (1, "color", 8, False),
        (2, "keep", 1, False),
    ]


def test_an_action_of_a_table_says_where_it_may_be(everything: Any) -> None:
    masked = by_alias(everything.tables)["masked"]
    # TABLE_AND_DEFAULT 0, TABLE_ONLY 1, DEFAULT_ONLY 2; the compiler repeats the annotation.
    assert [(r.scope, list(r.annotations)) for r in masked.action_refs] == [
        (0, []),
        (2, ["@defaultonly"]),
        (1, ["@tableonly"]),
    ]


def test_an_action_that_is_called_has_no_data(describe: Describe) -> None:
    """So the Tofino compiler has FarReach's `malformed`; one that only actions call it has not."""
    called = program(
        "mark(3); t.apply();",
        local="""
    action inner() { hdr.data.b = 1; }
    action mark(bit<8> value) { hdr.data.a = value; inner(); }
    table t { actions = { NoAction; } }
""",
    )
    actions = describe(called).actions
    assert [(a.preamble.name, len(a.params)) for a in actions] == [
        ("NoAction", 0),
        ("Ingress.mark", 0),
    ]


def test_a_direct_counter_goes_with_its_table(describe: Describe) -> None:
    """A table that is never applied is no part of the program."""
    unreached = program(
        "if (false) { t.apply(); }",
        local="""
    DirectCounter<bit<32>>(CounterType_t.PACKETS) hits;
    action count() { hits.count(); }
    table t { key = { hdr.data.a: exact; } actions = { count; } counters = hits; }
""",
    )
    made = describe(unreached)
    assert (len(made.tables), len(made.direct_counters)) == (0, 0)


def test_profiles_name_their_tables(everything: Any) -> None:
    profiles, tables = by_alias(everything.action_profiles), by_alias(everything.tables)
    by_group, plain = profiles["members"], profiles["others"]
    assert (by_group.with_selector, by_group.size, by_group.max_group_size) == (True, 8, 4)
    assert (plain.with_selector, plain.size, plain.max_group_size) == (False, 16, 0)
    assert list(by_group.table_ids) == [tables["by_kind"].preamble.id]
    assert tables["by_kind"].implementation_id == by_group.preamble.id
    assert tables["plain"].implementation_id == plain.preamble.id
    assert tables["masked"].implementation_id == 0


def test_counters_and_meters_have_units(everything: Any) -> None:
    (counts,), (hits,), (rate,) = everything.counters, everything.direct_counters, everything.meters
    # CounterSpec: BYTES 1, PACKETS 2, BOTH 3; MeterSpec: BYTES 1, PACKETS 2
    assert (counts.spec.unit, counts.size) == (3, 4)
    assert (rate.spec.unit, rate.size) == (2, 4)
    masked = by_alias(everything.tables)["masked"]
    assert (hits.spec.unit, hits.direct_table_id) == (1, masked.preamble.id)
    assert list(masked.direct_resource_ids) == [hits.preamble.id]


def test_registers_have_types(everything: Any) -> None:
    registers = by_alias(everything.registers)
    cells, pairs = registers["cells"], registers["pairs"]
    assert (cells.size, cells.type_spec.bitstring.bit.bitwidth) == (32, 8)
    assert (pairs.size, pairs.type_spec.struct.name) == (64, "pair_t")
    members = everything.type_info.structs["pair_t"].members
    assert [(m.name, m.type_spec.bitstring.bit.bitwidth) for m in members] == [
        ("first", 16),
        ("second", 16),
    ]


def test_an_enum_with_values_is_described(everything: Any) -> None:
    color = everything.type_info.serializable_enums["color_t"]
    assert color.underlying_type.bitwidth == 8
    assert [(m.name, m.value) for m in color.members] == [("RED", b"\x01"), ("BLUE", b"\x02")]


def test_a_header_of_the_control_plane_has_the_name_of_its_annotation(everything: Any) -> None:
    (header,) = everything.controller_packet_metadata
    assert (header.preamble.name, header.preamble.alias) == ("packet_in", "packet_in")
    assert header.preamble.id >> 24 == 4
    assert list(header.preamble.annotations) == ['@controller_header("packet_in")']
    assert [(m.id, m.name, m.bitwidth, list(m.annotations)) for m in header.metadata] == [
        (1, "ingress_port", 9, []),
        (2, "pad", 7, ["@padding"]),
    ]


WITH_IDS = program(
    "t.apply();",
    local="""
    @id(7) action mark(@id(5) bit<8> value, bit<8> other) { hdr.data.a = value + other; }
    @id(0x02000009) table t {
        key = { hdr.data.kind: exact @id(2); hdr.data.b: exact; }
        actions = { mark; }
        size = 8;
    }
""",
)


def test_ids_that_a_program_gives_are_taken(describe: Describe) -> None:
    """As p4c's FieldIdAllocator: those without take the numbers that are free, from 1 on."""
    info = describe(WITH_IDS)
    (table,) = info.tables
    assert table.preamble.id == 0x0200_0009
    assert [f.id for f in table.match_fields] == [2, 3]
    mark = by_alias(info.actions)["mark"]
    assert mark.preamble.id == 0x0100_0007
    assert [p.id for p in mark.params] == [5, 2]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("@id(7)", "@id(x)", "@id(x): expected a number from 1 to 2^32 - 1"),
        ("@id(7)", "@id(0)", "@id(0): expected a number from 1 to 2^32 - 1"),
        ("@id(7)", "@id(0x02000007)", "has the first byte 0x2; that of this kind of object is 0x1"),
        ("hdr.data.b: exact", "hdr.data.b: exact @id(2)", "@id(2) is that of another field"),
    ],
)
def test_wrong_ids_are_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "ids.p4"
    path.write_text(WITH_IDS.replace(old, new))
    with pytest.raises(P4Error) as refused:
        translate(path, [], {})
    assert message in str(refused.value)


@pytest.mark.parametrize("name", ["farreach", "netcache", "netclone", "nocache", "priority"])
def test_every_program_here_has_one(name: str) -> None:
    source = P4 / name / f"{name}.p4"
    info = parse(translate(source, [source.parent], {}).p4info)
    ids = [
        each.preamble.id
        for field, objects in info.ListFields()
        if field.name not in ("pkg_info", "type_info")
        for each in objects
    ]
    assert len(ids) == len(set(ids)) > 0
    assert info.pkg_info.arch == "tna"

"""Action profiles and selectors: entries that name a member or a group, whose actions are run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from p4_programs import program
from packet.targets import CommandFailedError, MemoryTarget

TABLE, MEMBERS, GROUPS = "Ingress.by_kind", "Ingress.members", "Ingress.groups"
DEFAULT = 0xEE
FLOWS = [flow * 0x9E3779B1 % 2**32 for flow in range(256)]  # differ in all of their bits
LOCAL = """
    ActionProfile(8) members;
    {selector}
    action mark(bit<8> value) {{ hdr.data.a = value; }}
    action swap(bit<16> x) {{ hdr.data.b = x; hdr.data.a = 1; }}
    table by_kind {{
        key = {{ hdr.data.kind: exact; {key} }}
        actions = {{ mark; swap; @defaultonly NoAction; }}
        const default_action = mark(0xEE);
        implementation = {implementation};
        size = 16;
    }}
"""
APPLY = "if (by_kind.apply().hit) { hdr.data.mac = 1; }"


def selecting(mode: str) -> str:
    return program(
        APPLY,
        local=LOCAL.format(
            selector="Hash<bit<16>>(HashAlgorithm_t.CRC16) choice;\n"
            f"    ActionSelector(members, choice, SelectorMode_t.{mode}, 4, 2) groups;",
            key="hdr.data.c: selector; hdr.data.b: selector;",
            implementation="groups",
        ),
    )


PLAIN = program(APPLY, local=LOCAL.format(selector="", key="", implementation="members"))
Start = Callable[[str], MemoryTarget]


def starting(load: Callable[[str], MemoryTarget]) -> Iterator[Start]:
    """What the test wrote is cleared behind it."""
    started: list[MemoryTarget] = []

    def of(text: str) -> MemoryTarget:
        started.append(load(text))
        return started[-1]

    yield of
    for switch in started:
        write(switch, TABLE, "clear")
        if any(t["table_type"] == "Selector" for t in switch.command("schema")["tables"]):
            write(switch, GROUPS, "clear")
        write(switch, MEMBERS, "clear")


@pytest.fixture
def start(load: Any) -> Iterator[Start]:
    yield from starting(load)


@pytest.fixture
def start_traced(load_traced: Any) -> Iterator[Start]:
    yield from starting(load_traced)


@pytest.fixture
def fair(start: Start) -> MemoryTarget:
    return start(selecting("FAIR"))


def update(table: str, op: str, key: dict[str, int] | None = None, **more: Any) -> dict[str, Any]:
    return {"op": op, "table": table} | ({"key": key} if key else {}) | more


def write(switch: MemoryTarget, *arguments: Any, **more: Any) -> None:
    switch.command("table_write", updates=[update(*arguments, **more)])


def member(switch: MemoryTarget, number: int, value: int, op: str = "insert") -> None:
    key = {"$ACTION_MEMBER_ID": number}
    write(switch, MEMBERS, op, key, action="mark", data={"value": value})


def group(switch: MemoryTarget, number: int, members: dict[int, bool], op: str = "upsert") -> None:
    data = {"$ACTION_MEMBER_ID": [*members], "$ACTION_MEMBER_STATUS": [*members.values()]}
    write(switch, GROUPS, op, {"$SELECTOR_GROUP_ID": number}, data=data)


def entry(switch: MemoryTarget, kind: int, op: str = "insert", **names: int) -> None:
    fields = {"member": "$ACTION_MEMBER_ID", "group": "$SELECTOR_GROUP_ID"}
    data = {fields[name]: number for name, number in names.items()}
    write(switch, TABLE, op, {"hdr.data.kind": kind}, data=data)


def marked(switch: MemoryTarget, kind: int, flow: int = 0) -> tuple[int, bool]:
    """What the action wrote, and whether the table was hit."""
    frame = bytes([kind, 0, 0, 0]) + flow.to_bytes(4, "big") + bytes(6)
    ((_, got),) = switch.send(1, frame)
    return got[1], got[-1] == 1


def chosen(switch: MemoryTarget, kind: int) -> dict[int, int]:
    return {flow: marked(switch, kind, flow)[0] for flow in FLOWS}


def test_an_entry_runs_its_members_action(start: Start) -> None:
    switch = start(PLAIN)
    assert marked(switch, 1) == (DEFAULT, False)
    member(switch, 3, 0x33)
    entry(switch, 1, member=3)
    entry(switch, 2, member=3)
    assert (marked(switch, 1), marked(switch, 2)) == ((0x33, True), (0x33, True))
    member(switch, 3, 0x34, op="modify")  # of all entries that name it
    assert (marked(switch, 1), marked(switch, 2)) == ((0x34, True), (0x34, True))
    read = switch.command("table_read", table=TABLE)
    assert {"key": {"hdr.data.kind": 1}, "data": {"$ACTION_MEMBER_ID": 3}} in read["entries"]
    assert read["default"] is None


def test_a_member_may_have_any_of_the_actions(start: Start) -> None:
    switch = start(PLAIN)
    key = {"$ACTION_MEMBER_ID": 0}
    write(switch, MEMBERS, "insert", key, action="swap", data={"x": 0xABCD})
    entry(switch, 1, member=0)
    ((_, frame),) = switch.send(1, bytes([1]) + bytes(13))
    assert frame[1:4] == bytes([1, 0xAB, 0xCD])
    with pytest.raises(CommandFailedError, match="@defaultonly"):
        write(switch, MEMBERS, "upsert", key, action="NoAction")


# The first lists NoAction, before the others; the second does not, and the third cannot have it.
SHARED = """
    ActionProfile(8) members;
    action mark(bit<8> value) { hdr.data.a = value; }
    table by_kind {
        key = { hdr.data.kind: exact; }
        actions = { NoAction; mark; }
        implementation = members;
    }
    table by_b {
        key = { hdr.data.b: exact; }
        actions = { mark; }
        const default_action = mark(0xEE);
        implementation = members;
    }
    table by_c {
        key = { hdr.data.c: exact; }
        actions = { mark; }
        implementation = members;
    }
"""
APPLY_SHARED = """
    if (hdr.data.kind != 0) {
        switch (by_kind.apply().action_run) {
            mark: { hdr.data.mac = 1; }
            NoAction: { hdr.data.mac = 2; }
        }
    } else if (hdr.data.b != 0) {
        by_b.apply();
    } else {
        by_c.apply();
    }
"""


def test_tables_of_one_profile_may_differ_in_no_action(start: Start) -> None:
    switch = start(program(APPLY_SHARED, local=SHARED))
    member(switch, 1, 0x11)
    write(switch, MEMBERS, "insert", {"$ACTION_MEMBER_ID": 2}, action="NoAction")
    for table, key in (("by_kind", "kind"), ("by_b", "b"), ("by_c", "c")):
        for number in (1, 2):
            data = {"$ACTION_MEMBER_ID": number}
            write(switch, f"Ingress.{table}", "insert", {f"hdr.data.{key}": number}, data=data)

    def answer(**fields: int) -> tuple[int, int]:
        """What is in `a`, and which action of by_kind the program saw."""
        kind, b, c = (fields.get(name, 0) for name in ("kind", "b", "c"))
        frame = bytes([kind, 0x77]) + b.to_bytes(2, "big") + c.to_bytes(4, "big") + bytes(6)
        ((_, got),) = switch.send(1, frame)
        return got[1], got[-1]

    # A member that has mark, one that has NoAction, and the table's default action.
    assert [answer(kind=number) for number in (1, 2, 3)] == [(0x11, 1), (0x77, 2), (0x77, 2)]
    assert [answer(b=number) for number in (1, 2, 3)] == [(0x11, 0), (0x77, 0), (0xEE, 0)]
    assert [answer(c=number) for number in (1, 2, 3)] == [(0x11, 0), (0x77, 0), (0x77, 0)]
    for table in ("by_kind", "by_b", "by_c"):
        write(switch, f"Ingress.{table}", "clear")


def traced(switch: MemoryTarget, kind: int) -> tuple[bool, str, dict[str, int]]:
    switch.command("trace_start", filter="count=1")
    switch.send(1, bytes([kind]) + bytes(13))
    (trace,) = switch.command("trace_read")["traces"]
    events = [event for step in trace["steps"] for event in step.get("events", [])]
    (applied,) = [event for event in events if "table" in event]
    assert applied["key"] == {"hdr.data.kind": kind}
    return applied["hit"], applied["action"], applied["data"]


@pytest.mark.parametrize("text", [PLAIN, selecting("FAIR")], ids=["profile", "selector"])
def test_a_trace_has_the_action_that_is_run(start_traced: Start, text: str) -> None:
    switch = start_traced(text)
    default = ("Ingress.mark", {"value": DEFAULT})
    assert traced(switch, 1) == (False, *default)
    write(switch, MEMBERS, "insert", {"$ACTION_MEMBER_ID": 3}, action="swap", data={"x": 0xABCD})
    entry(switch, 1, member=3)
    assert traced(switch, 1) == (True, "Ingress.swap", {"x": 0xABCD})
    if text == PLAIN:
        return
    group(switch, 7, {3: True})
    entry(switch, 2, group=7)
    assert traced(switch, 2) == (True, "Ingress.swap", {"x": 0xABCD})
    group(switch, 7, {3: False})
    assert traced(switch, 2) == (True, *default)


def test_flows_are_spread_over_the_active_members(fair: MemoryTarget) -> None:
    for number in (1, 2, 3):
        member(fair, number, 10 * number)
    group(fair, 7, {1: True, 2: True, 3: True})
    entry(fair, 1, group=7)
    before = chosen(fair, 1)
    counts = [list(before.values()).count(value) for value in (10, 20, 30)]
    assert sum(counts) == len(FLOWS)
    # 256 flows, a third each: 85 +- 7.5; five of these deviations.
    assert all(48 <= count <= 123 for count in counts)
    assert chosen(fair, 1) == before  # a flow keeps its member
    group(fair, 7, {1: True, 2: False, 3: True})
    assert set(chosen(fair, 1).values()) == {10, 30}
    group(fair, 7, {1: True, 2: True, 3: True})
    assert chosen(fair, 1) == before


def test_resilient_groups_move_only_the_flows_of_who_is_gone(start: Start) -> None:
    switch = start(selecting("RESILIENT"))
    for number in (1, 2, 3, 4):
        member(switch, number, 10 * number)
    group(switch, 1, dict.fromkeys((1, 2, 3, 4), True))
    entry(switch, 1, group=1)
    before = chosen(switch, 1)
    assert set(before.values()) == {10, 20, 30, 40}
    group(switch, 1, {1: True, 2: False, 3: True, 4: True})
    after = chosen(switch, 1)
    assert {flow for flow in FLOWS if before[flow] != after[flow]} == {
        flow for flow in FLOWS if before[flow] == 20
    }
    assert {after[flow] for flow in FLOWS if before[flow] == 20} == {10, 30, 40}


def test_a_group_without_active_members_is_a_hit_with_the_default_action(
    fair: MemoryTarget,
) -> None:
    member(fair, 1, 11)
    group(fair, 1, {})
    entry(fair, 1, group=1)
    assert marked(fair, 1) == (DEFAULT, True)
    group(fair, 1, {1: False})
    assert marked(fair, 1) == (DEFAULT, True)
    entry(fair, 1, "modify", member=1)  # a member by itself has no status
    assert marked(fair, 1) == (11, True)


def test_whoever_is_named_is_there(fair: MemoryTarget) -> None:
    with pytest.raises(CommandFailedError, match="has no member 5; insert it first"):
        entry(fair, 1, member=5)
    with pytest.raises(CommandFailedError, match="has no group 5; insert it first"):
        entry(fair, 1, group=5)
    with pytest.raises(CommandFailedError, match="has no member 5"):
        group(fair, 1, {5: True})
    for number in (1, 2):
        member(fair, number, number)
    group(fair, 1, {2: True})
    entry(fair, 1, member=1)
    entry(fair, 2, group=1)
    for table, key in ((MEMBERS, {"$ACTION_MEMBER_ID": 1}), (MEMBERS, {"$ACTION_MEMBER_ID": 2}),
                       (GROUPS, {"$SELECTOR_GROUP_ID": 1})):  # fmt: skip
        with pytest.raises(CommandFailedError, match="is in use by"):
            write(fair, table, "delete", key)
    with pytest.raises(CommandFailedError, match="is in use by"):
        write(fair, MEMBERS, "clear")
    write(fair, TABLE, "clear")
    group(fair, 1, {})
    write(fair, MEMBERS, "delete", {"$ACTION_MEMBER_ID": 2})
    write(fair, GROUPS, "delete", {"$SELECTOR_GROUP_ID": 1})
    assert marked(fair, 2) == (DEFAULT, False)


def test_groups_have_room_for_so_many(fair: MemoryTarget) -> None:
    for number in range(1, 6):
        member(fair, number, number)
    with pytest.raises(CommandFailedError, match="room for 4"):
        group(fair, 1, dict.fromkeys(range(1, 6), True))
    key = {"$SELECTOR_GROUP_ID": 1}
    with pytest.raises(CommandFailedError, match=r"\$MAX_GROUP_SIZE is 5; expected 1 to 4"):
        write(fair, GROUPS, "insert", key, data={"$MAX_GROUP_SIZE": 5})
    write(fair, GROUPS, "insert", key, data={"$MAX_GROUP_SIZE": 1})
    with pytest.raises(CommandFailedError, match="room for 1"):
        group(fair, 1, {1: True, 2: True}, op="modify")
    group(fair, 2, {1: True})
    with pytest.raises(CommandFailedError, match="is full at 2 groups"):
        group(fair, 3, {})
    data = {"$ACTION_MEMBER_ID": [1] * 5, "$ACTION_MEMBER_STATUS": [True] * 5}
    with pytest.raises(CommandFailedError, match="room for 4"):
        write(fair, GROUPS, "modify", {"$SELECTOR_GROUP_ID": 2}, data=data)


def test_a_batch_that_fails_leaves_groups_as_they_were(fair: MemoryTarget) -> None:
    for number in (1, 2):
        member(fair, number, number)
    group(fair, 1, {1: True})
    before = fair.command("table_read", table=GROUPS)["entries"]
    of = {"$ACTION_MEMBER_ID": [2], "$ACTION_MEMBER_STATUS": [True]}
    updates = [
        update(GROUPS, "modify", {"$SELECTOR_GROUP_ID": 1}, data=of),
        update(GROUPS, "insert", {"$SELECTOR_GROUP_ID": 2}, data=of),
        update(GROUPS, "insert", {"$SELECTOR_GROUP_ID": 2}, data=of),
    ]
    with pytest.raises(CommandFailedError, match="exists already"):
        fair.command("table_write", updates=updates)
    assert fair.command("table_read", table=GROUPS)["entries"] == before
    data = {
        "$ACTION_MEMBER_ID": [1], "$ACTION_MEMBER_STATUS": [True], "$MAX_GROUP_SIZE": 4,
        "$ADT_OFFSET": 0xDEADBEEF,
    }  # fmt: skip
    assert before == [{"key": {"$SELECTOR_GROUP_ID": 1}, "data": data}]


def test_an_entry_names_one_of_them(fair: MemoryTarget) -> None:
    member(fair, 1, 1)
    for data in ({}, {"$ACTION_MEMBER_ID": 1, "$SELECTOR_GROUP_ID": 1}, {"value": 1}):
        with pytest.raises(CommandFailedError, match="an entry names its action; expected"):
            write(fair, TABLE, "insert", {"hdr.data.kind": 1}, data=data)
    with pytest.raises(CommandFailedError, match="an entry names its action; expected"):
        write(fair, TABLE, "insert", {"hdr.data.kind": 1}, action="mark", data={"value": 1})


def test_a_selector_whose_profile_no_table_uses_is_left_out(load: Any) -> None:
    local = LOCAL.format(
        selector="Hash<bit<16>>(HashAlgorithm_t.CRC16) choice; ActionProfile(4) unused;\n"
        "    ActionSelector(unused, choice, SelectorMode_t.FAIR, 4, 2) groups;",
        key="",
        implementation="members",
    )
    tables = load(program(APPLY, local=local)).command("schema")["tables"]
    assert [table["name"] for table in tables] == [f"pipe.{TABLE}", f"pipe.{MEMBERS}"]


def test_the_schema_is_the_compilers(fair: MemoryTarget) -> None:
    types = {
        name: fair.command("table_info", table=name)["schema"]
        for name in (TABLE, MEMBERS, GROUPS, f"{GROUPS}_get_member")
    }
    assert types[TABLE]["table_type"] == "MatchAction_Indirect_Selector"
    assert [key["name"] for key in types[TABLE]["key"]] == ["hdr.data.kind"]
    (either,) = types[TABLE]["data"]
    assert [field["name"] for field in either["oneof"]] == [
        "$ACTION_MEMBER_ID", "$SELECTOR_GROUP_ID"
    ]  # fmt: skip
    assert (types[MEMBERS]["table_type"], types[MEMBERS]["size"]) == ("Action", 8)
    assert [spec["name"] for spec in types[MEMBERS]["action_specs"]] == [
        "Ingress.mark", "Ingress.swap", "NoAction"
    ]  # fmt: skip
    assert (types[GROUPS]["table_type"], types[GROUPS]["size"]) == ("Selector", 2)
    fields = [field["singleton"] for field in types[GROUPS]["data"]]
    assert [(field["name"], field["repeated"]) for field in fields] == [
        ("$ACTION_MEMBER_ID", True), ("$ACTION_MEMBER_STATUS", True), ("$MAX_GROUP_SIZE", False),
        ("$ADT_OFFSET", False),
    ]  # fmt: skip
    assert fields[-1]["type"] == {"type": "uint32", "default_value": 0xDEADBEEF}
    choice = types[f"{GROUPS}_get_member"]
    assert (choice["table_type"], choice["size"]) == ("SelectorGetMember", 1)
    assert choice["depends_on"] == [types[GROUPS]["id"]]
    assert [(key["name"], key["type"]) for key in choice["key"]] == [
        ("$SELECTOR_GROUP_ID", {"type": "uint64"}), ("hash_value", {"type": "uint64"})
    ]  # fmt: skip

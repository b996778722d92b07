"""Contents of the switch's tables for a turn of NetClone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from small_experiment import hostvars_of
from turntable_core.checks import check_pipes
from turntable_core.errors import TurntableError
from turntable_core.testbed import Testbed, read_testbed
from turntable_systems.netclone import SYSTEM, switch_tables
from turntable_systems.netclone.p4_numbers import MAX_SERVERS, Outcome
from turntable_systems.netclone.switch_tables import Flags, Update

GROUPS = {
    "switches": ["switch0"],
    "endpoints": ["client0", "server0", "server1"],
    "clients": ["client0"],
    "servers": ["server0", "server1"],
}


def make_testbed(first_port: int = 0) -> Testbed:
    """Ports are those after first_port, in the order of the endpoints."""
    variables = hostvars_of("switch0", GROUPS["endpoints"])
    for name in GROUPS["endpoints"]:
        variables[name]["turntable_switch_port"] += first_port
    return read_testbed(variables, GROUPS)


@pytest.fixture
def testbed() -> Testbed:
    return make_testbed()


def entries(updates: list[Update], table: str) -> list[Update]:
    return [update for update in updates if update["table"] == table and update["op"] == "insert"]


def test_groups_are_ordered_pairs_in_the_published_order() -> None:
    assert switch_tables.groups(2) == {1: (0, 1), 2: (1, 0)}
    of_four = switch_tables.groups(4)
    assert list(of_four) == list(range(1, 13))
    assert [of_four[group] for group in (1, 2, 3, 4, 11, 12)] == [
        (0, 1), (1, 0), (0, 2), (2, 0), (2, 3), (3, 2),
    ]  # fmt: skip
    assert len(set(switch_tables.groups(MAX_SERVERS).values())) == 240


def test_tables_are_replaced_in_one_batch(testbed: Testbed) -> None:
    updates = switch_tables.of_turn(testbed, 4, Flags())
    cleared = [update["table"] for update in updates if update["op"] == "clear"]
    assert [update["op"] for update in updates[: len(cleared)]] == ["clear"] * 4
    assert {update["table"] for update in updates} == {*cleared, switch_tables.SETTINGS}
    assert not any(table.startswith("$") for table in cleared)


def test_servers_share_hosts_and_have_udp_ports_of_their_own(testbed: Testbed) -> None:
    updates = switch_tables.of_turn(testbed, 3, Flags())
    sent = [
        (update["key"], update["data"])
        for update in entries(updates, switch_tables.DESTINATIONS)
        if update["action"] == "send"
    ]
    neither = {"both_idle": False, "second_is_shorter": False}
    shorter = {"both_idle": False, "second_is_shorter": True}
    first = {"port": 1, "mac": "02:00:00:00:00:02", "ip": "198.18.0.2", "udp_port": 1000}
    second = {"port": 2, "mac": "02:00:00:00:00:03", "ip": "198.18.0.3", "udp_port": 1001}
    third = {**first, "udp_port": 1002}
    expected = []
    for server, data in enumerate((first, second, third)):
        exactly = {"value": server, "mask": 255}
        expected += [({**neither, "first": exactly}, data), ({**shorter, "second": exactly}, data)]
    assert sent == expected


def test_responses_of_a_server_are_believed_from_its_port_alone(testbed: Testbed) -> None:
    updates = entries(switch_tables.of_turn(testbed, 3, Flags()), switch_tables.SERVER_PORTS)
    assert [(update["key"], update["data"]) for update in updates] == [
        ({"ingress_port": 1, "server": 0}, {"server": 0}),
        ({"ingress_port": 2, "server": 1}, {"server": 1}),
        ({"ingress_port": 1, "server": 2}, {"server": 2}),
    ]


@pytest.mark.parametrize("flags", [Flags(), Flags(racksched=True), Flags(filter=False)])
def test_flags_are_the_default_action(testbed: Testbed, flags: Flags) -> None:
    [settings] = [
        update
        for update in switch_tables.of_turn(testbed, 2, flags)
        if update["table"] == switch_tables.SETTINGS
    ]
    assert (settings["op"], settings["action"]) == ("set_default", "set_flags")
    assert settings["data"] == {"racksched": flags.racksched, "filter": flags.filter}


@pytest.mark.parametrize(("first_port", "recirculation"), [(0, 68), (128, 196), (384, 452)])
def test_multicast_leads_to_the_first_server_and_round(first_port: int, recirculation: int) -> None:
    """Port 452 of pipe 3 is the one of the published program."""
    updates = switch_tables.multicast_of_turn(make_testbed(first_port), 3)
    assert [update["op"] for update in updates[:2]] == ["clear"] * 2
    nodes = {
        update["key"]["$MULTICAST_NODE_ID"]: update["data"]["$DEV_PORT"]
        for update in entries(updates, switch_tables.MULTICAST_NODES)
    }
    groups = {
        update["key"]["$MGID"]: [nodes[node] for node in update["data"]["$MULTICAST_NODE_ID"]]
        for update in entries(updates, switch_tables.MULTICAST_GROUPS)
    }
    ports = [first_port + port for port in (1, 2, 1)]
    assert groups == {
        group: [[ports[first], recirculation]]
        for group, first in {1: 0, 2: 1, 3: 0, 4: 2, 5: 1, 6: 2}.items()
    }
    assert len(nodes) == len(groups), "a node belongs to one group"


def test_hosts_in_several_pipes_are_refused(testbed: Testbed) -> None:
    """A pipe has registers of its own: the other's servers would always look idle."""
    check_pipes(SYSTEM, testbed, place=lambda host, variable: "")
    server0, server1 = testbed.hosts_of("servers")
    moved = (server0, replace(server1, switch_port=128 + 2))
    apart = replace(testbed, roles={**testbed.roles, "servers": moved})
    with pytest.raises(TurntableError, match=r"server1: turntable_switch_port is 130; expected a"):
        check_pipes(SYSTEM, apart, place=lambda host, variable: "")


def test_outcomes_are_those_of_the_program() -> None:
    assert [outcome.value for outcome in Outcome] == list(range(19))
    assert (Outcome.CLONED, Outcome.SLOWER, Outcome.FORGED) == (6, 15, 18)

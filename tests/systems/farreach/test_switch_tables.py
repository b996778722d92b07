"""Contents of the switch's tables for a turn."""

from __future__ import annotations

import pytest

from turntable_core.testbed import Testbed, read_testbed
from turntable_systems.farreach import switch_tables

from .testbeds import GROUPS, hostvars


@pytest.fixture
def testbed() -> Testbed:
    return read_testbed(hostvars(), GROUPS)


def test_switch_sends_each_partition_to_its_server(testbed: Testbed) -> None:
    updates = switch_tables.of_turn(testbed, servers=4, bottleneck=2, cached=True)
    requests = [u for u in updates if u["op"] == "insert" and u["table"] == switch_tables.REQUESTS]
    placed = [
        (u["key"]["slot"], *(u["data"][key] for key in ("port", "ip", "udp_port")))
        for u in requests
    ]
    assert placed == [
        ({"low": 0, "high": 8191}, 3, "198.18.0.4", 1152),
        ({"low": 8192, "high": 16383}, 3, "198.18.0.4", 1153),
        ({"low": 16384, "high": 24575}, 2, "198.18.0.3", 1152),
        ({"low": 24576, "high": 32767}, 3, "198.18.0.4", 1154),
    ]  # fmt: skip
    answers = [u for u in updates if u["op"] == "insert" and u["table"] == switch_tables.ANSWERS]
    answers += [u for u in updates if u["table"] == switch_tables.ANSWER_SOURCE]
    assert len(answers) == 4 + 1, "one for each partition, and the switch's own"
    assert {(u["data"]["ip"], u["data"]["udp_port"]) for u in answers} == {("198.18.0.3", 1152)}
    assert [u["op"] for u in updates[:4]] == ["clear"] * 4


@pytest.mark.parametrize("cached", [False, True])
def test_switch_believes_answers_from_the_servers_ports_alone(
    testbed: Testbed, cached: bool
) -> None:
    updates = switch_tables.of_turn(testbed, servers=4, bottleneck=2, cached=cached)
    ports = [u for u in updates if u["table"] == switch_tables.SERVER_PORTS]
    assert [(u["op"], u.get("key")) for u in ports] == [
        ("clear", None),
        ("insert", {"ingress_port": 2}),
        ("insert", {"ingress_port": 3}),
    ]

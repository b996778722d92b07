"""The entries that turntable_systems.netclone writes, played on the program: 16 servers on two
hosts, every group.
"""

from __future__ import annotations

import pytest

from small_experiment import hostvars_of
from turntable_core.testbed import Testbed, read_testbed
from turntable_systems.netclone import switch_tables
from turntable_systems.netclone.switch_tables import Flags

from .netclone_frames import FIRST_PORT, REQUEST, RESPONSE, Header, header_of, request, response
from .netclone_switch import NetCloneSwitch, pairs
from .nocache_tables import Host
from .targets import Frame

GROUPS = {
    "switches": ["switch0"],
    "endpoints": ["server0", "server1", "client0"],
    "clients": ["client0"],
    "servers": ["server0", "server1"],
}
SERVERS = 16


@pytest.fixture
def testbed() -> Testbed:
    """Hosts at ports 1 to 3, as the live switch of these tests has them."""
    variables = hostvars_of("switch0", GROUPS["endpoints"])
    for name in GROUPS["endpoints"]:
        variables[name]["turntable_switch_port"] += 1
    return read_testbed(variables, GROUPS)


def hosts_of(testbed: Testbed, role: str) -> list[Host]:
    return [Host(host.switch_port or 0, host.mac, host.address) for host in testbed.hosts_of(role)]


def at(frame: Frame) -> tuple[int, int, int]:
    """Port of the switch, UDP port, and which copy it is."""
    port, data = frame
    return port, int.from_bytes(data[36:38], "big"), header_of(data).clo


def test_every_group_reaches_its_servers(netclone: NetCloneSwitch, testbed: Testbed) -> None:
    target = netclone.target
    for _ in range(2):  # the second time over the entries of the first
        target.command(
            "table_write", updates=switch_tables.of_turn(testbed, SERVERS, Flags(racksched=True))
        )
        target.command("table_write", updates=switch_tables.multicast_of_turn(testbed, SERVERS))
    server_hosts, [client] = hosts_of(testbed, "servers"), hosts_of(testbed, "clients")

    def ask(group: int) -> list[tuple[int, int, int]]:
        sent = request(client, server_hosts[0], Header(REQUEST, grp=group))
        return sorted(map(at, target.send(client.port, bytes(sent))), key=lambda copy: copy[2])

    for group, (first, second) in pairs(SERVERS).items():
        assert ask(group) == [
            (server_hosts[server % 2].port, FIRST_PORT + server, copy)
            for server, copy in ((first, 1), (second, 2))
        ], group
    assert ask(241) == []

    busy = server_hosts[3 % 2]
    told = response(busy, client, Header(RESPONSE, sid=3, load=2), FIRST_PORT + 3)
    assert [port for port, _ in target.send(busy.port, bytes(told))] == [client.port]
    first_is_busy = next(group for group, pair in pairs(SERVERS).items() if pair == (3, 8))
    assert ask(first_is_busy) == [(server_hosts[0].port, FIRST_PORT + 8, 0)]


def test_unknown_server_is_counted(netclone: NetCloneSwitch, testbed: Testbed) -> None:
    target = netclone.target
    target.command("table_write", updates=switch_tables.of_turn(testbed, 2, Flags()))
    group = {
        "op": "modify",
        "table": switch_tables.GROUPS,
        "key": {"group": 1},
        "action": "pair",
        "data": {"first": 2, "second": 1},
    }
    target.command("table_write", updates=[group])
    target.command("counter_clear")
    server_hosts, [client] = hosts_of(testbed, "servers"), hosts_of(testbed, "clients")
    sent = request(client, server_hosts[0], Header(REQUEST, grp=1))
    assert target.send(client.port, bytes(sent)) == []
    counters = target.command("counter_read", table=switch_tables.DESTINATIONS)["counters"]
    counted = [row["key"] for row in counters if row["$COUNTER_SPEC_PKTS"]]
    assert len(counted) == 1
    assert counted[0]["first"] == {"value": 0, "mask": 0}

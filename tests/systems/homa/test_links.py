"""What follows from links, against arithmetic, the paper's numbers and its artifact's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from turntable_core.testbed import read_testbed
from turntable_systems.homa import links

from .conftest import parameters
from .testbeds import GROUPS, hostvars


def test_a_full_packet_has_96_bytes_beside_its_payload() -> None:
    # 1470 + 30 Homa + 8 UDP + 20 IP + 14 Ethernet + 24 = 1566 + 30 - 30; 8 bits each at 20 Mb/s.
    assert links.full_packet_us(parameters()) == (1470 + 30 + 8 + 20 + 14 + 24) * 8 / 20


def test_a_round_trip_is_a_packet_and_its_grant_over_two_links_each() -> None:
    # (1566 + 89) bytes x 8 bits x 2 links / 20 Mb/s, 1 ms there and back, 0.2 ms at each host.
    expected_us = 2 * (1566 + 89) * 8 / 20 + 2 * 1000 + 2 * 200
    found_us = links.round_trip_us(parameters(host_delay_ms=0.2))
    assert found_us == pytest.approx(expected_us)


def test_rtt_bytes_are_whole_packets() -> None:
    # 3,324 us at 20 Mb/s are 8,310 bytes: 5.65 packets of 1,470.
    assert links.rtt_bytes(parameters()) == 6 * 1470
    # With 0.2 ms at each host 3,724 us, 9,310 bytes, 6.33 packets: the paper's 10,290.
    assert links.rtt_bytes(parameters(host_delay_ms=0.2)) == 10_290
    assert links.rtt_bytes(parameters(rtt_bytes=4410)) == 4410


def test_dilation_is_the_ratio_of_the_links() -> None:
    assert links.dilation(parameters()) == 500


def test_every_port_of_an_emulated_switch_is_a_link_with_a_delay() -> None:
    testbed = read_testbed(hostvars(), GROUPS)
    updates = links.traffic(testbed, parameters())
    of_ports = [update for update in updates if "queue" not in update]
    assert [update["port"] for update in of_ports] == [0, 1, 2, 3]
    assert {update["link_bps"] for update in of_ports} == {20_000_000}
    assert {update["delay_ns"] for update in of_ports} == {1_000_000}
    limits = {(u["port"], u["queue"]): u["buffer_bytes"] for u in updates if "queue" in u}
    assert limits == {(port, queue): 2_000_000 for port in range(4) for queue in range(8)}


def test_a_rack_has_links_of_its_own() -> None:
    testbed = replace(read_testbed(hostvars(), GROUPS), fidelity_class="hardware")
    assert links.traffic(testbed, parameters()) == []

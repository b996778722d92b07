"""NoCache, packet by packet (FarReach reference §1.3, §4.1, §5)."""

from __future__ import annotations

import pytest

from .frames import (
    DELREQ,
    DELRES,
    GETREQ,
    GETRES,
    LOADREQ,
    PUTREQ,
    PUTRES,
    SLOTS,
    TCP,
    WARMUPREQ,
    Packet,
    key_value,
    key_with_slot,
    mac,
    put_payload,
    slot_of,
)
from .nocache_tables import (
    ANSWERS,
    BOTTLENECK,
    CLIENT,
    DROPS,
    FIRST_PORT,
    MALFORMED,
    NO_PARTITION,
    NO_ROUTE,
    NOT_IPV4,
    PARTITIONS,
    REQUESTS,
    SERVER0,
    SERVER1,
    UNKNOWN_OPERATION,
    clear,
    route,
    server_of,
    slots,
)
from .targets import Target

# The hottest key of all Zipfian workloads: `user2571001333982442796` (FarReach reference §5.2).
HOTTEST = bytes.fromhex("00000000000000006d14352c081723ae")
HOTTEST_SLOT = 30317
CHECK_SEQUENCE = 4  # bytes at the end of a frame on the wire, which counters count


def request(optype: int, key: bytes) -> Packet:
    return Packet(payload=key_value(optype, key))


def answer(optype: int, key: bytes, partition: int) -> Packet:
    host, udp_port = server_of(partition)
    return Packet(
        src_mac=host.mac,
        dst_mac="02:00:00:00:00:ee",
        src_ip=host.ip,
        dst_ip=CLIENT.ip,
        src_port=udp_port,
        dst_port=40000,
        payload=key_value(optype, key),
    )


def packets(target: Target, table: str, slot: int | None = None) -> list[tuple[int, int]]:
    """Packets and bytes of the entries of `table`, or of the one whose range has `slot`."""
    counters = target.command("counter_read", table=table)["counters"]
    return [
        (counter["$COUNTER_SPEC_PKTS"], counter["$COUNTER_SPEC_BYTES"])
        for counter in counters
        if slot is None or counter["key"]["slot"]["low"] <= slot <= counter["key"]["slot"]["high"]
    ]


def drops(target: Target) -> dict[int, int]:
    """Dropped packets by cause, without zeros."""
    counters = target.command("counter_read", table=DROPS)["counters"]
    return {
        counter["key"]["verdict"]: counter["$COUNTER_SPEC_PKTS"]
        for counter in counters
        if counter["$COUNTER_SPEC_PKTS"]
    }


# --- Requests -------------------------------------------------------------------------------------


def test_slot_of_the_hottest_key_is_the_published_one() -> None:
    assert slot_of(HOTTEST) == HOTTEST_SLOT == 0x3758766D % SLOTS
    assert HOTTEST_SLOT // (SLOTS // 16) == BOTTLENECK == 14


def test_get_of_the_hottest_key_goes_to_the_bottleneck_server(switch: Target) -> None:
    sent = request(GETREQ, HOTTEST).change(dst_mac="02:00:00:00:00:ee")
    expected = sent.change(dst_mac=SERVER0.mac, udp_checksum=0)
    assert switch.send(CLIENT.port, bytes(sent)) == [(SERVER0.port, bytes(expected))]


@pytest.mark.parametrize("optype", [GETREQ, PUTREQ, DELREQ, WARMUPREQ, LOADREQ])
def test_request_is_rewritten_to_its_partition(switch: Target, optype: int) -> None:
    key = key_with_slot(*slots(3))
    sent = request(optype, key)
    expected = sent.change(
        dst_mac=SERVER1.mac, dst_ip=SERVER1.ip, dst_port=FIRST_PORT + 3, udp_checksum=0
    )
    assert switch.send(CLIENT.port, bytes(sent)) == [(SERVER1.port, bytes(expected))]


@pytest.mark.parametrize("partition", range(PARTITIONS))
def test_first_and_last_slot_of_a_partition(switch: Target, partition: int) -> None:
    host, udp_port = server_of(partition)
    for slot in slots(partition):
        sent = request(GETREQ, key_with_slot(slot))
        expected = sent.change(dst_mac=host.mac, dst_ip=host.ip, dst_port=udp_port, udp_checksum=0)
        assert switch.send(CLIENT.port, bytes(sent)) == [(host.port, bytes(expected))]


def test_value_of_a_put_passes_unchanged(switch: Target) -> None:
    value = bytes(range(128))
    sent = Packet(payload=put_payload(HOTTEST, value))
    [(_, received)] = switch.send(CLIENT.port, bytes(sent))
    assert received == bytes(sent.change(dst_mac=SERVER0.mac, udp_checksum=0))
    assert value in received


@pytest.mark.parametrize("port", [1152, 1279])
def test_requests_are_known_by_all_128_ports(switch: Target, port: int) -> None:
    sent = request(GETREQ, HOTTEST).change(dst_port=port)
    [(_, received)] = switch.send(CLIENT.port, bytes(sent))
    assert received == bytes(sent.change(dst_port=FIRST_PORT, udp_checksum=0))


@pytest.mark.parametrize("port", [1151, 1280, 0x0480 + 0x1000])
def test_other_ports_are_no_key_value_traffic(switch: Target, port: int) -> None:
    sent = request(GETREQ, HOTTEST).change(dst_port=port)
    assert switch.send(CLIENT.port, bytes(sent)) == [(SERVER0.port, bytes(sent))]
    assert packets(switch, REQUESTS, HOTTEST_SLOT) == [(0, 0)]


# --- Answers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("optype", [GETRES, PUTRES, DELRES])
def test_answer_looks_as_if_from_the_first_server(switch: Target, optype: int) -> None:
    key = key_with_slot(*slots(5))
    sent = answer(optype, key, 5)
    expected = sent.change(
        src_mac=SERVER0.mac,
        dst_mac=CLIENT.mac,
        src_ip=SERVER0.ip,
        src_port=FIRST_PORT,
        udp_checksum=0,
    )
    assert switch.send(SERVER1.port, bytes(sent)) == [(CLIENT.port, bytes(expected))]


def test_answer_to_an_unknown_client_is_dropped(switch: Target) -> None:
    sent = answer(GETRES, HOTTEST, BOTTLENECK).change(dst_ip="198.18.0.99")
    assert switch.send(SERVER0.port, bytes(sent)) == []
    assert drops(switch) == {NO_ROUTE: 1}


# --- Counters -------------------------------------------------------------------------------------


def test_counters_per_partition_and_direction(switch: Target) -> None:
    frame = bytes(request(GETREQ, HOTTEST))
    reply = bytes(answer(GETRES, HOTTEST, BOTTLENECK))
    for _ in range(3):
        switch.send(CLIENT.port, frame)
    switch.send(SERVER0.port, reply)
    assert packets(switch, REQUESTS, HOTTEST_SLOT) == [(3, 3 * (len(frame) + CHECK_SEQUENCE))]
    assert packets(switch, ANSWERS, HOTTEST_SLOT) == [(1, len(reply) + CHECK_SEQUENCE)]
    assert sum(count for count, _ in packets(switch, REQUESTS)) == 3
    assert sum(count for count, _ in packets(switch, ANSWERS)) == 1
    switch.command("counter_clear", table=REQUESTS)
    assert packets(switch, REQUESTS, HOTTEST_SLOT) == [(0, 0)]
    assert packets(switch, ANSWERS, HOTTEST_SLOT) == [(1, len(reply) + CHECK_SEQUENCE)]


def test_counter_runs_on_when_its_entry_is_modified(switch: Target) -> None:
    switch.send(CLIENT.port, bytes(request(GETREQ, HOTTEST)))
    low, high = slots(BOTTLENECK)
    update = {
        "op": "modify",
        "table": REQUESTS,
        "key": {"slot": {"low": low, "high": high}},
        "action": "to_server",
        "data": {"port": 2, "mac": SERVER1.mac, "ip": SERVER1.ip, "udp_port": 1200},
    }
    switch.command("table_write", updates=[update])
    [(port, _)] = switch.send(CLIENT.port, bytes(request(GETREQ, HOTTEST)))
    assert port == SERVER1.port
    assert packets(switch, REQUESTS, HOTTEST_SLOT)[0][0] == 2


# --- Operations -----------------------------------------------------------------------------------


@pytest.mark.parametrize("optype", [GETRES, PUTRES, DELRES, 0x7777, 0xFFFF])
def test_request_of_no_request_type_is_dropped(switch: Target, optype: int) -> None:
    assert switch.send(CLIENT.port, bytes(request(optype, HOTTEST))) == []
    assert drops(switch) == {UNKNOWN_OPERATION: 1}
    assert packets(switch, REQUESTS, HOTTEST_SLOT) == [(0, 0)]


@pytest.mark.parametrize("optype", [GETREQ, PUTREQ, 0x7777])
def test_answer_of_no_answer_type_is_dropped(switch: Target, optype: int) -> None:
    assert switch.send(SERVER0.port, bytes(answer(optype, HOTTEST, BOTTLENECK))) == []
    assert drops(switch) == {UNKNOWN_OPERATION: 1}


def test_slot_without_partition_is_dropped(switch: Target) -> None:
    low, high = slots(BOTTLENECK)
    delete = {"op": "delete", "table": REQUESTS, "key": {"slot": {"low": low, "high": high}}}
    switch.command("table_write", updates=[delete])
    assert switch.send(CLIENT.port, bytes(request(GETREQ, HOTTEST))) == []
    assert drops(switch) == {NO_PARTITION: 1}
    # Its neighbours are still there.
    assert len(switch.send(CLIENT.port, bytes(request(GETREQ, key_with_slot(low - 1))))) == 1
    assert len(switch.send(CLIENT.port, bytes(request(GETREQ, key_with_slot(high + 1))))) == 1


# --- Other traffic --------------------------------------------------------------------------------


def test_tcp_is_routed_unchanged_but_for_the_mac(switch: Target) -> None:
    sent = Packet(protocol=TCP, dst_mac="02:00:00:00:00:ee", payload=bytes(40))
    expected = sent.change(dst_mac=SERVER0.mac)
    assert switch.send(CLIENT.port, bytes(sent)) == [(SERVER0.port, bytes(expected))]


def test_ttl_and_a_wrong_checksum_are_left_alone(switch: Target) -> None:
    sent = Packet(dst_port=53, ttl=1, header_checksum=0x1111, payload=b"dns")
    assert switch.send(CLIENT.port, bytes(sent)) == [(SERVER0.port, bytes(sent))]


def test_longest_prefix_wins(switch: Target) -> None:
    updates = [
        route("198.18.0.0", 15, SERVER1),
        route("198.18.0.0", 28, CLIENT),
        route("0.0.0.0", 0, SERVER0),
    ]
    switch.command("table_write", updates=updates)

    def port_to(address: str) -> int:
        [(port, _)] = switch.send(SERVER1.port, bytes(Packet(dst_ip=address, dst_port=53)))
        return port

    assert port_to("198.18.0.2") == SERVER1.port  # /32
    assert port_to("198.18.0.14") == CLIENT.port  # /28
    assert port_to("198.19.255.1") == SERVER1.port  # /15
    assert port_to("8.8.8.8") == SERVER0.port  # default


@pytest.mark.parametrize("ether_type", ["0806", "86dd", "8100", "0000"])
def test_what_is_not_ipv4_is_dropped_and_counted(switch: Target, ether_type: str) -> None:
    frame = mac("ff:ff:ff:ff:ff:ff") + mac(CLIENT.mac) + bytes.fromhex(ether_type) + bytes(46)
    assert switch.send(CLIENT.port, frame) == []
    assert drops(switch) == {NOT_IPV4: 1}


def test_later_fragment_is_dropped_whatever_its_bytes_say(switch: Target) -> None:
    """Its UDP ports are unknown; as plain IPv4 it could bring a server anything."""
    ports = (40000).to_bytes(2, "big") + (1152).to_bytes(2, "big")
    body = ports + bytes(4) + key_value(GETREQ, HOTTEST)
    sent = Packet(flags_and_fragment=0x00B9, dst_ip=SERVER1.ip, dst_mac=SERVER1.mac, payload=body)
    assert switch.send(CLIENT.port, bytes(sent)) == []
    assert drops(switch) == {MALFORMED: 1}


def test_udp_behind_ipv4_options_is_dropped(switch: Target) -> None:
    """The option's bytes would be UDP ports 40000 and 1152 if its presence were overlooked."""
    sent = request(GETREQ, HOTTEST).change(
        options=bytes.fromhex("9c400480"), dst_ip=SERVER1.ip, dst_mac=SERVER1.mac
    )
    assert switch.send(CLIENT.port, bytes(sent)) == []
    assert drops(switch) == {MALFORMED: 1}


@pytest.mark.parametrize(
    "change",
    [{"options": bytes(4)}, {"flags_and_fragment": 0x00B9}, {"flags_and_fragment": 0x2000}],
    ids=["options", "later fragment", "first fragment"],
)
def test_other_protocols_have_options_and_fragments(
    switch: Target, change: dict[str, object]
) -> None:
    sent = Packet(protocol=TCP, dst_ip=SERVER1.ip, dst_mac=SERVER1.mac, payload=bytes(40))
    sent = sent.change(**change)
    assert switch.send(CLIENT.port, bytes(sent)) == [(SERVER1.port, bytes(sent))]


@pytest.mark.parametrize("length", range(60, 64))
def test_request_is_forwarded_as_soon_as_its_key_is_complete(switch: Target, length: int) -> None:
    frame = bytes(request(GETREQ, HOTTEST))[:length]
    [(port, received)] = switch.send(CLIENT.port, frame)
    assert (port, len(received)) == (SERVER0.port, length)


def test_truncated_request_is_dropped_at_every_length(switch: Target) -> None:
    """Ethernet 14, IPv4 20, UDP 8, op 18 bytes; what ends inside one of them is dropped.

    A live link carries no frame shorter than an Ethernet header.
    """
    frame = bytes(request(GETREQ, HOTTEST))
    for length in range(14, 60):
        assert switch.send(CLIENT.port, frame[:length]) == [], length
    assert switch.send(CLIENT.port, frame) != []


def test_no_entries_no_traffic(switch: Target) -> None:
    switch.command("table_write", updates=clear())
    assert switch.send(CLIENT.port, bytes(request(GETREQ, HOTTEST))) == []
    assert switch.send(CLIENT.port, bytes(Packet(dst_port=53))) == []
    assert drops(switch) == {NO_PARTITION: 1, NO_ROUTE: 1}


def test_jumbo_frame_passes_whole(switch: Target) -> None:
    sent = Packet(payload=put_payload(HOTTEST, bytes(8000)))
    [(port, received)] = switch.send(CLIENT.port, bytes(sent))
    assert port == SERVER0.port
    assert received == bytes(sent.change(udp_checksum=0))

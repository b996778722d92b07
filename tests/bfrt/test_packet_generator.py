"""tf1.pktgen: clients configure the packet generators of the pipes that they see."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from packet.live_switch import SoftswitchTarget

from .client import DEADLINE_S, CallError, Client
from .test_tables import INVALID, failing, to

# The generated header takes the place of the destination address: application 3 of pipe 1, batch 0.
FIRST, SECOND = 0x0B0000000000, 0x0B0000000001
PACKET = bytes(54)
APPLICATION = {"app_id": 3}
COUNTERS = ("trigger_counter", "batch_counter", "pkt_counter")


@pytest.fixture
def generating(client: Client) -> Iterator[Client]:
    """Port 196 generates; a packet is in the buffers of all pipes."""
    client.modify("pktgen.port_cfg", {"dev_port": 196}, data={"pktgen_enable": True})
    buffer = {"pkt_buffer_offset": 16, "pkt_buffer_size": len(PACKET)}
    client.modify("pktgen.pkt_buffer", buffer, data={"buffer": list(PACKET)})
    yield client
    for table in ("app_cfg", "port_cfg"):
        client.delete(f"pktgen.{table}")


def wait_for(found: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE_S
    while not found():
        assert time.monotonic() < end
        time.sleep(0.01)


def start(client: Client, trigger: str, **data: object) -> None:
    fields = {"pkt_len": len(PACKET), "pkt_buffer_offset": 16, "app_enable": True, **data}
    client.modify("pktgen.app_cfg", APPLICATION, trigger, fields)


def counters(client: Client, pipe: int) -> list[int]:
    [entry] = client.read("pktgen.app_cfg", APPLICATION, pipe=pipe)
    return [entry.data[name] for name in COUNTERS]


def test_a_timer_generates_packets_that_the_program_forwards(
    generating: Client, switch: SoftswitchTarget
) -> None:
    for mac in (FIRST, SECOND):
        generating.insert("forward", to(mac), "send", {"port": 2})

    def sent() -> int:
        [entry] = generating.read("$PORT_STAT", {"$DEV_PORT": 2})
        return int(entry.data["$FramesTransmittedOK"])

    before = sent()
    start(generating, "trigger_timer_one_shot", timer_nanosec=1000, packets_per_batch_cfg=1)
    wait_for(lambda: sent() == before + 2)
    generated = [mac.to_bytes(6, "big") + PACKET for mac in (FIRST, SECOND)]
    assert [switch.next_frame(2) for _ in range(2)] == generated
    assert counters(generating, pipe=1) == [1, 1, 2]
    assert counters(generating, pipe=0) == [0, 0, 0]  # its port 68 does not generate
    [entry] = generating.read("pktgen.app_cfg", APPLICATION)
    assert entry.action == "trigger_timer_one_shot"
    assert entry.data["timer_nanosec"] == 1000
    assert [entry.data[name] for name in COUNTERS] == [1, 1, 2]


def test_a_disabled_port_triggers_an_application_of_its_pipe(generating: Client) -> None:
    generating.modify("pktgen.port_cfg", {"dev_port": 68}, data={"pktgen_enable": True})
    generating.modify("pktgen.port_cfg", {"dev_port": 3}, data={"clear_port_down_enable": True})
    start(generating, "trigger_port_down")
    generating.modify("$PORT", {"$DEV_PORT": 3}, data={"$PORT_ENABLE": False})
    wait_for(lambda: counters(generating, pipe=0) == [1, 1, 1])
    assert counters(generating, pipe=1) == [0, 0, 0]


def test_the_buffer_is_read_as_it_was_written(generating: Client) -> None:
    key = {"pkt_buffer_offset": 32, "pkt_buffer_size": 3}
    generating.modify("pktgen.pkt_buffer", key, data={"buffer": [1, 2, 250]})
    [entry] = generating.read("pktgen.pkt_buffer", key)
    assert entry.data["buffer"] == [1, 2, 250]
    [ports] = generating.read("pktgen.port_cfg", {"dev_port": 196})
    assert ports.data["pktgen_enable"]


def test_what_a_generator_cannot_do_is_refused(generating: Client) -> None:
    entry = generating.entry("pktgen.app_cfg", APPLICATION, data={"ipg_jitter": 1})
    assert failing(generating, generating.update("MODIFY", entry)).codes() == [INVALID]
    entry = generating.entry("pktgen.port_cfg", {"dev_port": 4}, data={"pktgen_enable": True})
    assert failing(generating, generating.update("MODIFY", entry)).codes() == [INVALID]
    with pytest.raises(CallError):
        generating.insert("pktgen.app_cfg", APPLICATION, data={"app_enable": True})

"""`softswitch --trace`: a packet's way through the live switch; what one without it says."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from .frames import GETREQ, Packet, key_value, key_with_slot
from .live_switch import SoftswitchTarget
from .nocache_tables import CLIENT, PORTS, REQUESTS, SERVER1, all_entries
from .targets import CommandFailedError, Target

REQUEST = bytes(Packet(payload=key_value(GETREQ, key_with_slot(0))))
OTHER = bytes(Packet(dst_port=53))


@pytest.fixture(scope="module")
def tracing(
    build_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SoftswitchTarget]:
    """NoCache, with requests traced."""
    if os.geteuid() != 0:
        pytest.skip("the target softswitch makes network namespaces: it needs root")
    program = build_dir / "lib" / "p4" / "nocache.so"
    directory = tmp_path_factory.mktemp("switch")
    binary = build_dir / "bin" / "softswitch"
    target = SoftswitchTarget(binary, program, directory, PORTS, "udp=1152")
    target.command("table_write", updates=all_entries())
    yield target
    target.close()


def test_only_chosen_packets_are_traced_to_their_port(tracing: SoftswitchTarget) -> None:
    [(port, received)] = tracing.send(CLIENT.port, REQUEST)
    tracing.send(CLIENT.port, OTHER)
    answer = tracing.command("trace_read")
    [trace] = answer["traces"]
    assert (answer["waiting"], answer["lost"]) == (0, 0)
    assert bytes.fromhex(trace["data"]) == REQUEST
    ingress, queued, sent = trace["steps"]
    [applied] = [event for event in ingress["events"] if event.get("table") == REQUESTS]
    assert applied["key"] == {"slot": 0}
    assert applied["action"] == "SwitchIngress.request_partition.to_server"
    assert queued["port"] == port == SERVER1.port
    assert sent == {"step": "sent", "frame": 1, "port": port, "bytes": len(received)}


def test_tracing_starts_and_stops_while_the_switch_runs(tracing: SoftswitchTarget) -> None:
    def traced(frame: bytes) -> int:
        tracing.send(CLIENT.port, frame)
        return len(tracing.command("trace_read")["traces"])

    tracing.command("trace_stop")
    assert traced(REQUEST) == 0
    tracing.command("trace_start", filter="udp=53,count=1")
    assert [traced(frame) for frame in (REQUEST, OTHER, OTHER)] == [0, 1, 0]
    tracing.command("trace_start", filter="udp=1152")
    assert traced(REQUEST) == 1


def test_frame_that_a_link_loses(tracing: SoftswitchTarget) -> None:
    port = SERVER1.port
    tracing.command("impair", port=port, direction="tx", rules=[{"action": "drop"}])
    tracing.send(CLIENT.port, REQUEST)
    tracing.command("impair", port=port, direction="tx", rules=[])
    [trace] = tracing.command("trace_read")["traces"]
    assert trace["steps"][-1] == {
        "step": "dropped", "frame": 1, "port": port, "reason": "impaired"
    }  # fmt: skip


def test_switch_without_the_option_says_so(switch: Target, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--p4-trace") or type(switch) is not SoftswitchTarget:
        pytest.skip("about a switch started without --trace")
    with pytest.raises(CommandFailedError) as error:
        switch.command("trace_start")
    assert error.value.code == "wrong_state"
    assert "was started without --trace" in error.value.message

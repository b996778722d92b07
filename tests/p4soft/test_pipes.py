"""`--pipes N`: each pipe has a state of its own. A packet's ingress is that of its port's pipe, its
egress that of the port it leaves by; port 5 is of pipe 0, port 133 of pipe 1.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from p4_programs import EGRESS as NO_EGRESS
from p4_programs import egress_of_data, program
from packet.targets import CommandFailedError, MemoryTarget, Target

FIRST, SECOND = 5, 133
EGRESS = egress_of_data(
    "        hdr.data.b = count.execute(0);",
    local="""
    Register<bit<16>, bit<1>>(1) sent;
    RegisterAction<bit<16>, bit<1>, bit<16>>(sent) count = {
        void apply(inout bit<16> value, out bit<16> rv) { value = value + 1; rv = value; }
    };
""",
)
# `c` is how many packets came to the pipe, `b` how many left by it. The table says where to; kind 7
# is learnt, 6 mirrored, 5 gets a random number.
PROGRAM = program(
    """
        hdr.data.c = count.execute(0);
        if (hdr.data.kind == 5) { hdr.data.a = random.get(); }
        if (hdr.data.kind == 6) { ig_dprsr_md.mirror_type = 1; }
        if (hdr.data.kind == 7) { ig_dprsr_md.digest_type = 1; }
        t.apply();
        ig_tm_md.bypass_egress = 0;
    """,
    top="""
header mirrored_h { bit<8> kind; bit<8> a; bit<16> b; bit<32> c; }
struct learnt_t { bit<32> c; }
""",
    local="""
    Random<bit<8>>() random;
    Register<bit<32>, bit<1>>(1) cells;
    RegisterAction<bit<32>, bit<1>, bit<32>>(cells) count = {
        void apply(inout bit<32> value, out bit<32> rv) { value = value + 1; rv = value; }
    };
    DirectCounter<bit<32>>(CounterType_t.PACKETS) packets;
    action go(PortId_t port) { packets.count(); ig_tm_md.ucast_egress_port = port; }
    action back() { packets.count(); ig_tm_md.ucast_egress_port = ig_intr_md.ingress_port; }
    table t {
        key = { hdr.data.mac: exact; }
        actions = { go; back; }
        default_action = back();
        counters = packets;
        size = 4;
    }
""",
    deparser_local="    Digest<learnt_t>() learn;\n    Mirror() mirror;",
    deparser="""
        if (ig_dprsr_md.digest_type == 1) { learn.pack({hdr.data.c}); }
        if (ig_dprsr_md.mirror_type == 1) {
            mirror.emit<mirrored_h>(10w1, {8w6, 8w0, 16w0, hdr.data.c});
        }
        pkt.emit(hdr);""",
    egress=NO_EGRESS + EGRESS,
    blocks=(
        "IngressParser",
        "Ingress",
        "IngressDeparser",
        "EgressParser",
        "Egress",
        "EgressDeparser",
    ),
)


@pytest.fixture
def switch(start_anywhere: Callable[[str, list[int], list[str]], Target]) -> Any:
    """Of two pipes."""
    return start_anywhere(PROGRAM, [FIRST, SECOND], ["--pipes", "2"])


def send(switch: Any, port: int, kind: int = 9, mac: int = 0) -> tuple[int, int, int]:
    """Port, and the counts of ingress and egress, of what comes out."""
    ((out_port, out),) = switch.send(port, bytes([kind]) + bytes(7) + mac.to_bytes(6, "big"))
    return out_port, int.from_bytes(out[4:8], "big"), int.from_bytes(out[2:4], "big")


def entry(mac: int, port: int, **more: Any) -> dict[str, Any]:
    return {
        "op": "insert",
        "table": "Ingress.t",
        "key": {"mac": mac},
        "action": "go",
        "data": {"port": port},
    } | more


def test_each_pipe_counts_its_packets(switch: Any) -> None:
    assert [send(switch, port)[1] for port in (FIRST, FIRST, SECOND, FIRST, SECOND)] == [
        1, 2, 1, 3, 2,
    ]  # fmt: skip
    read = switch.command("register_read", table="Ingress.cells")
    assert read["pipes"] == [{"pipe": 0, "values": [3]}, {"pipe": 1, "values": [2]}]


def test_egress_is_that_of_the_port_a_packet_leaves_by(switch: Any) -> None:
    switch.command("table_write", updates=[entry(1, SECOND)])
    assert send(switch, FIRST, mac=1) == (SECOND, 1, 1)
    assert send(switch, SECOND) == (SECOND, 1, 2)
    assert send(switch, FIRST) == (FIRST, 2, 1)


def test_one_state_is_for_all_ports(
    start_anywhere: Callable[[str, list[int], list[str]], Target],
) -> None:
    switch = start_anywhere(PROGRAM, [FIRST, SECOND], [])
    assert [send(switch, port)[1] for port in (FIRST, SECOND)] == [1, 2]
    assert switch.command("register_read", table="Ingress.cells")["values"] == [2]


def test_entries_may_differ(switch: Any) -> None:
    switch.command("scope_write", table="Ingress.t", scopes=[[0], [1]])
    switch.command("table_write", updates=[entry(1, SECOND, pipes=[0]), entry(1, FIRST, pipes=[1])])
    assert send(switch, FIRST, mac=1)[0] == SECOND
    assert send(switch, SECOND, mac=1)[0] == FIRST
    read = switch.command("table_read", table="Ingress.t", pipes=[1])["entries"]
    assert [each["data"] for each in read] == [{"port": FIRST, "$COUNTER_SPEC_PKTS": 1}]


def test_counts_of_an_entry_are_added_up(switch: Any) -> None:
    switch.command("table_write", updates=[entry(1, FIRST)])
    for port in (FIRST, SECOND, SECOND):
        send(switch, port, mac=1)
    (counter,) = switch.command("counter_read", table="Ingress.t")["counters"]
    assert counter["$COUNTER_SPEC_PKTS"] == 3


def test_digests_come_from_both_pipes(switch: Any) -> None:
    send(switch, SECOND, kind=7)
    send(switch, FIRST, kind=7)
    send(switch, FIRST, kind=7)
    read = switch.command("digest_read", max=2)
    assert read["waiting"] == 1
    digests = read["digests"] + switch.command("digest_read")["digests"]
    learnt = sorted((each["pipe"], each["fields"]["c"]) for each in digests)
    assert learnt == [(0, 1), (0, 2), (1, 1)]


def test_a_mirrored_copy_is_that_of_its_pipe(switch: Any) -> None:
    session = {"$session_enable": True, "$direction": "BOTH", "$ucast_egress_port": FIRST}
    session |= {"$ucast_egress_port_valid": True, "$max_pkt_len": 100}
    update = {"op": "insert", "table": "$mirror.cfg", "key": {"$sid": 1}, "data": session}
    switch.command("table_write", updates=[update])
    send(switch, FIRST)
    left = switch.send(SECOND, bytes([6]) + bytes(13))
    copies = [out for port, out in left if port == FIRST]
    assert [int.from_bytes(out[4:8], "big") for out in copies] == [1]


def test_pipes_have_random_numbers_of_their_own(switch: Any) -> None:
    def numbers() -> list[list[int]]:
        return [
            [switch.send(port, bytes([5]) + bytes(13))[0][1][1] for _ in range(8)]
            for port in (FIRST, SECOND)
        ]

    first, second = numbers()
    assert first != second
    switch.command("random_seed", seed=3)
    again = numbers()
    switch.command("random_seed", seed=3)
    assert numbers() == again


def test_a_program_that_is_loaded_begins_in_every_pipe(
    switch: Any, library_of: Callable[[str], Path]
) -> None:
    if isinstance(switch, MemoryTarget):
        pytest.skip("p4run keeps its program")
    switch.command("scope_write", table="Ingress.t", scopes=[[0], [1]])
    switch.command("table_write", updates=[entry(1, FIRST, pipes=[1])])
    assert [send(switch, port)[1] for port in (FIRST, SECOND, SECOND)] == [1, 1, 2]
    switch.command("program_load", library=str(library_of(PROGRAM)))
    assert switch.command("info")["pipes"] == 2
    assert switch.command("scope_read", table="Ingress.t")["scopes"] == [[0, 1]]
    assert switch.command("table_read", table="Ingress.t")["entries"] == []
    assert [send(switch, port)[1] for port in (FIRST, SECOND, SECOND)] == [1, 1, 2]


def test_a_recirculated_packet_comes_by_a_port_of_its_pipe(switch: Any) -> None:
    """Port 196 is a recirculation port of pipe 1; from there the packet goes on to port 5."""
    switch.command("scope_write", table="Ingress.t", scopes=[[0], [1]])
    switch.command("table_write", updates=[entry(1, 196, pipes=[0]), entry(1, FIRST, pipes=[1])])
    assert send(switch, FIRST, mac=1) == (FIRST, 1, 1)
    cells = switch.command("register_read", table="Egress.sent")["pipes"]
    assert [each["values"] for each in cells] == [[1], [1]]


def test_a_pipe_that_is_not_there_is_refused(switch: Any) -> None:
    with pytest.raises(CommandFailedError) as refused:
        switch.command("register_write", table="Ingress.cells", values=[1], pipes=[2])
    assert refused.value.message == (
        '"pipes" is [2]; expected numbers of pipes from 0 to 1, each once, for instance [0]'
    )


def test_traces_are_of_the_pipe_that_a_packet_passed(
    build_dir: Path, traced_library_of: Callable[[str], Path]
) -> None:
    runner = build_dir / "bin" / "p4run"
    library = traced_library_of(PROGRAM)
    switch = MemoryTarget(runner, library, "count=10", options=["--pipes", "2"])
    send(switch, FIRST)
    for _ in range(2):
        send(switch, SECOND)
    traces = switch.command("trace_read")["traces"]
    switch.close()
    events = [
        event
        for trace in traces
        for event in trace["steps"][0]["events"]
        if "Ingress.cells" in str(event)
    ]
    assert len(events) == 3
    assert events[0] == events[1], "each is the first of its pipe"
    assert events[1] != events[2]


def test_a_port_of_no_pipe_is_refused(
    build_dir: Path, library_of: Callable[[str], Path], tmp_path: Path
) -> None:
    library = library_of(PROGRAM)
    binary = build_dir / "bin" / "softswitch"
    if os.geteuid() != 0:
        pytest.skip("opening ports needs root")
    ended = subprocess.run(
        [binary, "--directory", tmp_path, "--program", library, "--pipes", "2", "--port=261=lo"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode not in (0, -signal.SIGSEGV)
    assert ended.stderr.strip() == (
        "softswitch: port 261 (lo): is of pipe 2, and the switch has 2 pipes of 128 ports; "
        "expected a number below 256, or more --pipes"
    )

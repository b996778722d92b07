"""A client sends every packet type that there is from its port, to a server's UDP port and from
one: only its own requests pass. What pretends to come from a server is counted as forged.

`pytest -s` prints what was tried, what happened and which counter saw it.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .cache_frames import ADMITTED, GETRES_DELETED_SEQ, LATEST, SUPERSEDED, fragment, payload
from .cache_switch import KEY, OTHER_CLIENT, SLOT, CacheSwitch
from .conftest import TARGETS
from .frames import Packet
from .nocache_tables import (
    CLIENT,
    DROPS,
    FIRST_PORT,
    FORGED,
    MALFORMED,
    PARTITIONS,
    SERVER0,
    SERVER1,
    UNKNOWN_OPERATION,
    all_entries,
)
from .packet_types import PACKET_TYPES, REQUESTS
from .targets import Target

VERDICTS = {UNKNOWN_OPERATION: "unknown_operation", FORGED: "forged", MALFORMED: "malformed"}
OLD, FORGERY = b"a record", b"forgery!"
# Cells that a forged record could be taken by: LATEST and SUPERSEDED with the number of the slot's
# record, and the epoch of its admission.
CELLS = (LATEST | 3, SUPERSEDED | 3, ADMITTED | 3)
REGISTERS = ("slot_seq", "vallen", "value_30", "value_31", "valid")
SOURCES = {  # of a packet from a server's UDP port: who the client says it is
    "its own address": CLIENT.ip,
    "its server's address": SERVER1.ip,
    "the first server's address": SERVER0.ip,
}


class Switch:
    """A switch whose program forwards for 16 partitions; one with a cache has KEY in a slot."""

    def __init__(self, target: Target, program: str) -> None:
        self.target, self.program = target, program
        self.cache = None if program == "nocache" else CacheSwitch(target)
        if self.cache is None:
            target.command("table_write", updates=all_entries())
            target.command("counter_clear")

    def put_in_slot(self, cell: int) -> list[int]:
        """The state of KEY's slot -> its registers."""
        if self.cache is None:
            return []
        self.cache.admit(cell, vallen=len(OLD), value=OLD)
        return self.registers()

    def registers(self) -> list[int]:
        if self.cache is None:
            return []
        return [self.cache.cell(f"{name}.cells", SLOT) for name in REGISTERS]

    def drops(self) -> list[str]:
        counters = self.target.command("counter_read", table=DROPS)["counters"]
        self.target.command("counter_clear", table=DROPS)
        counted = {c["key"]["verdict"]: c["$COUNTER_SPEC_PKTS"] for c in counters}
        return [VERDICTS.get(v, f"verdict {v}") for v, packets in counted.items() if packets]


@pytest.fixture(
    params=[(program, kind) for program in REQUESTS for kind in TARGETS],
    ids="-".join,
)
def switch(request: pytest.FixtureRequest, running: Callable[[str, str], Target]) -> Switch:
    program, kind = request.param
    return Switch(running(program, kind), program)


def body_of(optype: int, token: int) -> bytes:
    """A packet of this type with a record for KEY's slot, as its receiver would believe it."""
    large = optype in (0x02D0, 0x0310, 0x0300, 0x0350)
    rest = fragment(0) if large else b""
    value = b"" if optype == GETRES_DELETED_SEQ else FORGERY
    return payload(optype, KEY, value=value, seq=(3, token), stat=(1, 3), rest=rest)


def happens(switch: Switch, frame: Packet, cell: int) -> str:
    """What becomes of a client's frame while the slot has this cell."""
    before = switch.put_in_slot(cell)
    switch.drops()
    out = switch.target.send(CLIENT.port, bytes(frame))
    drops = switch.drops()
    if switch.registers() != before:
        return "TAKEN into the slot"
    if out:
        return "passed to port " + ", ".join(str(port) for port, _ in out)
    return "dropped, counted as " + " and ".join(drops)


def table_of(switch: Switch, what: str, frames: dict[str, Callable[[int], Packet]]) -> list[str]:
    """One line for each way to send it."""
    lines = []
    for how, frame in frames.items():
        for cell in CELLS if switch.cache else CELLS[:1]:
            state = f", slot {cell >> 30:02b}" if switch.cache else ""
            lines.append(f"{switch.program}: {what} {how}{state}: "
                         f"{happens(switch, frame(cell), cell)}")  # fmt: skip
    print("\n".join(dict.fromkeys(lines)))
    return [line.rpartition(": ")[2] for line in lines]


def test_what_pretends_to_come_from_a_server_is_forged(switch: Switch) -> None:
    happened = set()
    for optype, name in PACKET_TYPES.items():
        frames = {
            f"from UDP port {port}, {who}": lambda cell, ip=ip, port=port, optype=optype: Packet(
                src_ip=ip, dst_ip=OTHER_CLIENT.ip if switch.cache else CLIENT.ip,
                src_port=port, dst_port=40000, payload=body_of(optype, cell),
            )
            for who, ip in SOURCES.items()
            for port in (FIRST_PORT, FIRST_PORT + 3)
        }  # fmt: skip
        happened |= set(table_of(switch, name, frames))
    assert happened == {"dropped, counted as forged"}


def test_clients_send_requests_and_nothing_else(switch: Switch) -> None:
    for optype, name in PACKET_TYPES.items():
        if optype in REQUESTS[switch.program]:
            continue
        frames = {
            f"to UDP port {port}": lambda cell, port=port, optype=optype: Packet(
                dst_port=port, payload=body_of(optype, cell)
            )
            for port in (FIRST_PORT, FIRST_PORT + PARTITIONS - 1)
        }
        happened = set(table_of(switch, name, frames))
        assert happened == {"dropped, counted as unknown_operation"}, name


def test_nothing_reaches_a_server_behind_options_or_in_fragments(switch: Switch) -> None:
    """Where the switch does not find the UDP ports that the server's kernel will find."""
    hidden = {"behind options": {"options": bytes(4)}, "a fragment": {"flags_and_fragment": 0x00B9}}
    for optype, name in PACKET_TYPES.items():
        frames = {
            how: lambda cell, change=change, optype=optype: Packet(
                dst_ip=SERVER1.ip, payload=body_of(optype, cell)
            ).change(**change)
            for how, change in hidden.items()
        }
        happened = set(table_of(switch, name, frames))
        assert happened == {"dropped, counted as malformed"}, name


def test_servers_answer_through_their_ports(switch: Switch) -> None:
    """Both of them; the same packet that is forged from a client's port."""
    optype = 0x0009 if switch.cache is None else 0x006B
    for server in (SERVER0, SERVER1):
        sent = Packet(src_mac=server.mac, src_ip=server.ip, dst_ip=CLIENT.ip, src_port=FIRST_PORT,
                      dst_port=40000, payload=body_of(optype, 0))  # fmt: skip
        assert [port for port, _ in switch.target.send(server.port, bytes(sent))] == [CLIENT.port]

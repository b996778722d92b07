"""Another program. Rules and codes: P4Runtime 1.4, "SetForwardingPipelineConfig RPC"."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from bfrt.conftest import Server
from packet.live_switch import DEADLINE_S, SoftswitchTarget

from .client import CallError, Client, code
from .conftest import Programs
from .test_replication import group, read, replica, update
from .test_tables import EXACT, forward, frame, refused

ELF = b"\x7fELF\x02\x01\x01"


def program_of(client: Client) -> set[str]:
    return {table.preamble.alias for table in client.get_config().p4info.tables}


def set_program(client: Client, action: str, config: Any) -> None:
    client.set_config(action, config)
    client.info = client.get_config().p4info


def test_another_program_takes_over(
    primary: Client, reloading: tuple[SoftswitchTarget, Server], programs: Programs
) -> None:
    switch, server = reloading
    primary.write(
        primary.update("INSERT", table_entry=forward(primary)),
        update(primary, "INSERT", group(primary, 1, replica(primary, 2))),
    )
    primary.set_config("VERIFY", programs.config("packets"))
    assert [port for port, _ in switch.send(1, frame())] == [2]
    config = programs.config("packets")
    config.cookie.cookie = 5
    old = primary.entry("constants", ether_type=EXACT)  # a table that the next one has not
    set_program(primary, "VERIFY_AND_COMMIT", config)
    assert program_of(primary) == {"forward"}
    assert primary.get_config() == config
    assert switch.command("info")["program"] == server.command("stats")["program"] == "packets"
    # Nothing of the program before is left, and clients stay.
    assert refused(primary, primary.update("DELETE", table_entry=old)) == code("NOT_FOUND")
    assert read(primary, group(primary, 0)) == []
    assert switch.send(1, frame()) == []
    primary.write(primary.update("INSERT", table_entry=forward(primary, b"\x03")))
    assert switch.send(1, frame()) == [(3, frame())]
    set_program(primary, "VERIFY_AND_COMMIT", programs.config("everything"))
    assert list(primary.entries("forward")) == []


def test_a_saved_configuration_waits(
    primary: Client, reloading: tuple[SoftswitchTarget, Server], programs: Programs
) -> None:
    switch, _ = reloading
    with pytest.raises(CallError) as failed:
        primary.set_config("COMMIT", None)
    assert failed.value.code.name == "NOT_FOUND"
    primary.write(primary.update("INSERT", table_entry=forward(primary)))
    primary.set_config("VERIFY_AND_SAVE", programs.config("packets"))
    assert [port for port, _ in switch.send(1, frame())] == [2]
    with pytest.raises(CallError) as failed:
        primary.write(primary.update("INSERT", table_entry=forward(primary)))
    assert failed.value.code.name == "UNIMPLEMENTED"
    with pytest.raises(CallError) as failed:
        primary.set_config("COMMIT", programs.config("packets"))
    assert failed.value.code.name == "INVALID_ARGUMENT"
    set_program(primary, "COMMIT", None)
    assert switch.command("info")["program"] == "packets"
    primary.write(primary.update("INSERT", table_entry=forward(primary)))
    with pytest.raises(CallError) as failed:
        primary.set_config("COMMIT", None)
    assert failed.value.code.name == "NOT_FOUND"


def test_wrong_configurations_change_nothing(
    primary: Client, reloading: tuple[SoftswitchTarget, Server], programs: Programs
) -> None:
    switch, _ = reloading
    primary.write(primary.update("INSERT", table_entry=forward(primary)))
    unknown, machine_code, other = (programs.config("packets") for _ in range(3))
    unknown.p4_device_config = b"0" * 64
    machine_code.p4_device_config = ELF
    other.p4info.tables[0].size += 1
    for config, complaint in (
        (unknown, "no registered program has the hash 0000"),
        (machine_code, "expected the SHA-256"),
        (other, "tables[0].size"),
    ):
        for action in ("VERIFY", "VERIFY_AND_SAVE", "VERIFY_AND_COMMIT", "RECONCILE_AND_COMMIT"):
            with pytest.raises(CallError) as failed:
                primary.set_config(action, config)
            assert failed.value.code.name == "INVALID_ARGUMENT"
            assert complaint in failed.value.message
    assert [port for port, _ in switch.send(1, frame())] == [2]
    primary.set_config("RECONCILE_AND_COMMIT", programs.config("everything"))
    assert len(list(primary.entries("forward"))) == 1


class Traffic:
    """Frames to one port as fast as it takes them."""

    def __init__(self, switch: SoftswitchTarget, port: int) -> None:
        self._switch = switch
        self._port = port
        self.sent = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._switch.send_blindly(self._port, frame())
            self.sent += 1

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()


def counted(switch: SoftswitchTarget) -> dict[str, int]:
    """Of all ports: frames that left by port 2, and those that did not leave at all."""
    ports = switch.command("port_stats")["ports"]
    return {
        "forwarded": sum(each["tx_packets"] for each in ports if each["port"] == 2),
        "dropped": sum(sum(each["drops"].values()) for each in ports),
    }


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < end, "it does not come about"


def test_a_reload_under_traffic_loses_only_what_finds_no_entry(
    primary: Client, reloading: tuple[SoftswitchTarget, Server], programs: Programs
) -> None:
    """Every frame is seen by the program before or by the one after: it leaves, or is a counted
    drop of one without entries. Links and counters of ports go on. The same program again, too.
    `pytest -s` shows how many found no entry (docs/p4runtime.md).
    """
    switch, _ = reloading
    primary.write(primary.update("INSERT", table_entry=forward(primary)))
    traffic = Traffic(switch, 1)
    try:
        for name in ("packets", "packets", "everything", "everything"):
            for saves in (False, True):
                before = counted(switch)["forwarded"]
                wait_until(lambda before=before: counted(switch)["forwarded"] > before + 100)
                dropped, sent, began = counted(switch)["dropped"], traffic.sent, time.monotonic()
                if saves:
                    primary.set_config("VERIFY_AND_SAVE", programs.config(name))
                    set_program(primary, "COMMIT", None)
                else:
                    set_program(primary, "VERIFY_AND_COMMIT", programs.config(name))
                primary.write(primary.update("INSERT", table_entry=forward(primary)))
                took_ms, sent = 1000 * (time.monotonic() - began), traffic.sent - sent
                dropped = counted(switch)["dropped"] - dropped
                print(f"{name}, saved {saves}: {took_ms:.1f} ms, {sent} sent, {dropped} dropped")
        before = counted(switch)["forwarded"]
        wait_until(lambda: counted(switch)["forwarded"] > before + 100)
    finally:
        traffic.stop()
    wait_until(lambda: sum(counted(switch).values()) == traffic.sent)
    ports = {each["port"]: each for each in switch.command("port_stats")["ports"]}
    assert ports[1]["rx_packets"] == traffic.sent
    assert all(each["enabled"] and each["link"] == "up" for each in switch.command("info")["ports"])
    assert primary.entry("forward", dst_addr=EXACT).table_id == primary.id_of("tables", "forward")

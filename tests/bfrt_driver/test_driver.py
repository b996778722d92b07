"""bfrt-driver at bfrt-server: what it says and does where something is in its way. The commands
themselves are tested by tests/packet with the target `bfrt`.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from packet.bfrt_target import BfrtTarget, Node
from packet.nocache_tables import all_entries
from packet.targets import CommandFailedError

DEADLINE_S = 60.0


def start_driver(build_dir: Path, directory: Path, address: str, *options: str) -> Any:
    """A driver that is expected to end by itself."""
    argv = [
        str(build_dir / "bin" / "bfrt-driver"), "--directory", str(directory), "--name", "other",
        "--switch", address, "--start-deadline", "3", *options,
    ]  # fmt: skip
    return subprocess.run(argv, capture_output=True, text=True, timeout=DEADLINE_S, check=False)


def test_another_program_is_refused_with_both_names(
    switch: BfrtTarget, build_dir: Path, tmp_path: Path
) -> None:
    ended = start_driver(
        build_dir, tmp_path, switch.address, "--program", "farreach", "--client-id", "2"
    )
    assert ended.returncode == 1
    assert "runs program nocache; expected farreach" in ended.stderr


def test_another_version_of_the_program_is_refused(
    switch: BfrtTarget, build_dir: Path, tmp_path: Path
) -> None:
    schema = json.loads((build_dir / "lib" / "p4" / "nocache.bfrt.json").read_text())
    schema["tables"][0]["name"] += "_renamed"
    other = tmp_path / "other.json"
    other.write_text(json.dumps(schema))
    ended = start_driver(
        build_dir, tmp_path, switch.address,
        "--program", "nocache", "--client-id", "2", "--schema", str(other),
    )  # fmt: skip
    assert ended.returncode == 1
    assert "runs another version of nocache" in ended.stderr
    assert f"the switch lacks table {schema['tables'][0]['name']}" in ended.stderr


@pytest.mark.parametrize("client_id", ["1", "2"], ids=["same id", "same program"])
def test_owner_of_the_switch_is_named(
    switch: BfrtTarget, build_dir: Path, tmp_path: Path, client_id: str
) -> None:
    ended = start_driver(
        build_dir, tmp_path, switch.address, "--program", "nocache", "--client-id", client_id
    )
    assert ended.returncode == 1
    assert "another client has" in ended.stderr
    # The switch is still the first driver's.
    assert switch.command("table_info", table="ipv4_lpm")["entries"] == 0


def test_silent_address_is_named(build_dir: Path, tmp_path: Path) -> None:
    ended = start_driver(build_dir, tmp_path, "127.0.0.1:1", "--program", "nocache")
    assert ended.returncode == 1
    assert "switch 127.0.0.1:1: nobody answers there" in ended.stderr


def test_driver_answers_once_it_has_reached_the_switch(
    switch: BfrtTarget, build_dir: Path, tmp_path: Path
) -> None:
    """What starts a node takes it for ready when it answers `ping` (docs/architecture.md §2)."""
    switch.driver.end()  # else the program is its own
    switch.kill_switch()
    argv = [build_dir / "bin" / "bfrt-driver", "--switch", switch.address, "--program", "nocache"]
    driver = Node("other", tmp_path, argv)
    try:
        driver.ask("ping")
        assert not driver.has_answered(within_s=0.5)
        switch.start_switch()
        assert driver.answer()["state"] == "bound"
        assert driver.command("table_info", table="ipv4_lpm")["entries"] == 0
    finally:
        driver.close()


def test_driver_goes_on_when_the_server_was_started_again(switch: BfrtTarget) -> None:
    switch.command("table_write", updates=all_entries())
    entries = switch.command("table_info", table="ipv4_lpm")["entries"]
    assert entries > 0
    switch.restart_server()
    # softswitch kept its tables; the driver has checked the program and is bound again.
    assert switch.command("table_info", table="ipv4_lpm")["entries"] == entries
    assert switch.command("info")["bfrt"]["bound"] == 2


def test_driver_says_that_the_switch_is_gone(switch: BfrtTarget) -> None:
    switch.command("info")  # else it would still be waiting for the switch to be there at all
    switch.stop_server()
    with pytest.raises(CommandFailedError) as error:
        switch.command("table_read", table="ipv4_lpm")
    assert error.value.code == "unavailable"
    assert switch.address in error.value.message


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("impair", {}),
        ("trace_start", {"filter": "count=1"}),
        ("random_seed", {"seed": 1}),
        ("pipeline_thread_clear", {}),
        ("settings", {"processing_delay_ns": 1000}),
    ],
)
def test_what_a_tofino_does_not_have_is_refused(
    switch: BfrtTarget, command: str, arguments: dict[str, Any]
) -> None:
    with pytest.raises(CommandFailedError) as error:
        switch.command(command, **arguments)
    assert error.value.code == "wrong_state"
    assert "Tofino" in error.value.message


def test_a_port_of_a_tofino_is_a_link_already(switch: BfrtTarget) -> None:
    with pytest.raises(CommandFailedError) as error:
        switch.command("tm_write", updates=[{"port": 1, "link_bps": 1_000_000}])
    assert error.value.code == "bad_argument"
    assert "link_bps" in error.value.message
    assert "$PORT" in error.value.message


def test_settings_that_ask_for_nothing_are_granted(switch: BfrtTarget) -> None:
    assert switch.command("settings", processing_delay_ns=0, realtime=False)["realtime"] is False


def test_ports_and_queues(switch: BfrtTarget) -> None:
    ports = {port["port"]: port["link"] for port in switch.command("info")["ports"]}
    assert set(ports.values()) == {"up"}
    port = min(ports)
    updates = [
        {"port": port, "max_rate_bps": 8_000_000},
        {"port": port, "queue": 3, "max_rate_bps": 4_000_000, "max_burst_bytes": 3000},
    ]
    switch.command("tm_write", updates=updates)
    [read] = switch.command("tm_read", port=port)["ports"]
    assert read["max_rate_bps"] == 8_000_000
    assert read["queues"][3]["max_rate_bps"] == 4_000_000
    assert read["queues"][3]["max_burst_bytes"] == 3000
    assert read["queues"][2]["max_rate_bps"] is None
    # softswitch itself has them.
    [own] = switch.softswitch("tm_read", port=port)["ports"]
    assert own["max_rate_bps"] == 8_000_000
    assert own["queues"][3]["max_rate_bps"] == 4_000_000


def test_first_digest_is_waited_for_until_the_deadline(switch: BfrtTarget) -> None:
    assert switch.command("digest_wait", deadline_s=0)["digests"] == []


def test_node_ends_on_sigterm(switch: BfrtTarget) -> None:
    switch.command("info")
    assert switch.driver.end() == 0

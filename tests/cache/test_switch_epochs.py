"""What a switch that was started again may be asked before it has got back what it had
(docs/kvcache.md §9): on real nodes, without traffic, so that every step is in order.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.kv.nodes import NodeError
from tests.packet.live_switch import Links

from .test_control_plane import eventually
from .test_recovery import CACHED, CLIENT_PORT, CPU_PORT, REPOSITORY, SERVER_PORTS, WORKLOAD, Rack

LATEST = 0
NUMBER = 9  # of a record that only the switch has


@pytest.fixture
def rack(tmp_path: Path) -> Iterator[Rack]:
    """One that runs FarReach and has the hottest keys with their servers' records."""
    if os.geteuid() != 0:
        pytest.skip("the software switch needs network namespaces: it needs root")
    build_dir = Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build"))
    with ExitStack() as stack:
        links = Links([CLIENT_PORT, *SERVER_PORTS, CPU_PORT])
        stack.callback(links.remove)
        subprocess.run(["ip", "-n", links.namespace, "link", "set", "lo", "up"], check=True)
        rack = Rack(build_dir, tmp_path, links, "farreach")
        stack.callback(rack.close)
        rack.controller.call("warm_up", workload=WORKLOAD, count=CACHED)
        rack.controller.call("readmit", partitions=[0, 1, 2, 3], prefill=True)
        yield rack


def write(rack: Rack, key: bytes) -> None:
    """As if the switch had acknowledged a PUT of what the slot holds."""
    slot = rack.slots()[key]
    rack.switch.call("register_write", table="slot_seq.cells", first=slot, values=[LATEST | NUMBER])


def until_known(rack: Rack) -> None:
    """The controller is connected with the agent of this epoch."""
    epoch = rack.agent.call("stats")["epoch"]
    eventually(
        lambda: (
            rack.controller.call("stats").items()
            >= {"agent_connected": True, "epoch": epoch}.items()
        )
    )


def test_a_snapshot_of_an_empty_switch_is_refused_and_the_last_one_stays(rack: Rack) -> None:
    key = min(rack.slots())
    write(rack, key)
    rack.controller.call("snapshot")
    rack.kill_switch()
    # The clients' copies are released by now: the record is in the controller's file alone.
    until_known(rack)
    with pytest.raises(NodeError, match="has not got back what it had"):
        rack.controller.call("snapshot")
    rack.recover()
    assert rack.stored(key)[0] == NUMBER
    again = rack.controller.call("snapshot")
    assert again["records"] == CACHED


def test_a_restarted_agent_knows_whether_its_switch_serves(rack: Rack) -> None:
    def restart_agent() -> bool:
        rack.restart_agent()
        rack.configure_agent(fresh=False)
        return rack.agent.call("stats")["serves"]

    epoch = rack.agent.call("stats")["epoch"]
    assert restart_agent()
    assert rack.agent.call("stats")["epoch"] > epoch
    until_known(rack)
    rack.controller.call("snapshot")
    rack.kill_switch()
    assert not restart_agent()
    until_known(rack)
    with pytest.raises(NodeError, match="has not got back what it had"):
        rack.controller.call("snapshot")
    rack.recover()
    assert restart_agent()
    until_known(rack)
    rack.controller.call("snapshot")


def test_a_restarted_controller_knows_it_too(rack: Rack) -> None:
    key = min(rack.slots())
    write(rack, key)
    rack.controller.call("snapshot")
    rack.kill_switch()
    rack.restart_controller()
    until_known(rack)
    with pytest.raises(NodeError, match="has not got back what it had"):
        rack.controller.call("snapshot")
    rack.recover()
    assert rack.stored(key)[0] == NUMBER


def test_readmission_into_an_empty_switch_is_refused(rack: Rack) -> None:
    key = min(rack.slots())
    write(rack, key)
    rack.controller.call("snapshot")
    rack.kill_switch()
    with pytest.raises(NodeError, match="has not got back what it had"):
        rack.controller.call("readmit", partitions=[0, 1, 2, 3], prefill=True)
    rack.recover()
    assert rack.stored(key)[0] == NUMBER


def test_a_warm_up_of_an_empty_switch_begins_anew(rack: Rack) -> None:
    """It forgets the records of stores that are no more: here they live, which shows it."""
    key = min(rack.slots())
    write(rack, key)
    rack.controller.call("snapshot")
    rack.kill_switch()
    rack.controller.call("warm_up", workload=WORKLOAD, count=CACHED)
    assert rack.agent.call("stats")["serves"]
    rack.kill_switch()
    rack.recover()
    assert rack.stored(key)[0] == 0

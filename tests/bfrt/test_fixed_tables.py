"""Ports, packet replication, mirror sessions, queues, the device."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from packet.live_switch import SoftswitchTarget

from .client import CallError, Client
from .conftest import PORTS, SPEED, Server
from .test_tables import EXISTS, FRAME, INVALID, MAC, NOT_FOUND, UNIMPLEMENTED, failing, to


def port(client: Client, number: int) -> dict[str, Any]:
    (entry,) = client.read("$PORT", {"$DEV_PORT": number})
    return entry.data


def test_a_port_tells_what_it_is(client: Client) -> None:
    data = port(client, 2)
    assert data["$SPEED"] == "BF_SPEED_25G"
    assert data["$PORT_UP"] is True
    assert data["$IS_INTERNAL"] is False
    assert data["$PORT_NAME"] == "1/2"
    assert (data["$CONN_ID"], data["$CHNL_ID"]) == (1, 2)


def test_ports_that_are_there_are_listed(client: Client) -> None:
    """Those of the front panel, as an SDE's port manager goes through them."""
    assert {entry.key["$DEV_PORT"] for entry in client.read("$PORT")} == set(PORTS)
    assert {entry.key["$DEV_PORT"] for entry in client.read("$PORT_STAT")} == set(PORTS)
    for recirculation in (68, 196):
        assert port(client, recirculation)["$IS_INTERNAL"] is True


def test_a_disabled_or_deleted_port_passes_nothing(
    client: Client, switch: SoftswitchTarget
) -> None:
    client.insert("forward", to(MAC), "send", {"port": 2})
    client.modify("$PORT", {"$DEV_PORT": 2}, data={"$PORT_ENABLE": False})
    assert port(client, 2)["$PORT_UP"] is False
    assert switch.send(1, FRAME) == []
    client.modify("$PORT", {"$DEV_PORT": 2}, data={"$PORT_ENABLE": True})
    assert switch.send(1, FRAME) == [(2, FRAME)]
    client.delete("$PORT", {"$DEV_PORT": 2})
    assert switch.send(1, FRAME) == []
    with pytest.raises(CallError) as failed:
        port(client, 2)
    assert failed.value.codes() == [NOT_FOUND]


def test_what_a_disabled_port_receives_is_gone(client: Client, switch: SoftswitchTarget) -> None:
    client.insert("forward", to(MAC), "send", {"port": 2})
    client.modify("$PORT", {"$DEV_PORT": 1}, data={"$PORT_ENABLE": False})
    assert switch.send(1, FRAME) == []


@pytest.mark.parametrize(
    ("number", "data", "code"),
    [
        (9, SPEED, INVALID),
        (2, {"$SPEED": "BF_SPEED_25G"}, INVALID),
        (2, {"$FEC": "BF_FEC_TYP_RS"}, INVALID),
        (2, {"$SPEED": "BF_SPEED_10G", "$FEC": "BF_FEC_TYP_RS"}, EXISTS),
        (2, SPEED | {"$SPEED": "25G"}, INVALID),
        (2, SPEED | {"$PORT_UP": True}, INVALID),
        (2, SPEED | {"$LOOPBACK_MODE": "BF_LPBK_MAC_NEAR"}, UNIMPLEMENTED),
        (2, SPEED | {"$TX_MTU": 1500}, UNIMPLEMENTED),
        (2, SPEED | {"$RX_PAUSE_FRAME_EN": True}, UNIMPLEMENTED),
    ],
)
def test_a_wrong_port_is_refused(client: Client, number: int, data: Any, code: int) -> None:
    entry = client.entry("$PORT", {"$DEV_PORT": number}, data=data)
    assert failing(client, client.update("INSERT", entry)).codes() == [code]


def test_an_internal_port_stays(client: Client) -> None:
    entry = client.entry("$PORT", {"$DEV_PORT": 68})
    assert failing(client, client.update("DELETE", entry)).codes() == [INVALID]
    client.delete("$PORT")
    assert port(client, 68)["$IS_INTERNAL"] is True


def test_port_counters_count_and_are_cleared(client: Client, switch: SoftswitchTarget) -> None:
    client.insert("forward", to(MAC), "send", {"port": 2})
    key = {"$DEV_PORT": 1}
    before = client.read("$PORT_STAT", key)[0].data
    switch.send(1, FRAME)
    after = client.read("$PORT_STAT", key)[0].data
    assert after["$FramesReceivedOK"] == before["$FramesReceivedOK"] + 1
    assert after["$OctetsReceived"] >= before["$OctetsReceived"] + len(FRAME)
    assert after["$FramesReceivedwithFCSError"] == 0
    client.modify("$PORT_STAT", key, data={"$FramesReceivedOK": 0})
    assert client.read("$PORT_STAT", key)[0].data["$FramesReceivedOK"] == 0


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ("$PORT_STR_INFO", {"$PORT_NAME": "17/3"}),
        ("$PORT_HDL_INFO", {"$CONN_ID": 17, "$CHNL_ID": 3}),
    ],
)
def test_places_have_ports_added_or_not(client: Client, table: str, key: dict[str, Any]) -> None:
    (entry,) = client.read(table, key, from_hw=False)
    assert entry.data == {"$DEV_PORT": 131}  # the first connector of pipe 1
    with pytest.raises(CallError) as failed:
        client.read(table, key)
    assert failed.value.codes() == [UNIMPLEMENTED]


def test_a_change_of_a_port_is_told(client: Client) -> None:
    update = client.proto.Update(type="INSERT")
    attribute = update.entity.table_attribute
    attribute.table_id = client.table("$PORT")["id"]
    attribute.port_status_notify.enable = True
    client.write_updates([update])
    question = client.proto.TableAttribute(table_id=attribute.table_id)
    question.port_status_notify.SetInParent()
    answer = client.read_entities([client.proto.Entity(table_attribute=question)])
    assert answer.entities[0].table_attribute.port_status_notify.enable
    for enabled in (False, True):
        client.modify("$PORT", {"$DEV_PORT": 3}, data={"$PORT_ENABLE": enabled})
        message = client.message()
        while message.HasField("digest"):  # of frames that other tests sent
            message = client.message()
        change = message.port_status_change_notification
        assert change.table_entry.table_id == attribute.table_id
        assert int.from_bytes(change.table_entry.key.fields[0].exact.value, "big") == 3
        assert change.port_up is enabled
    attribute.port_status_notify.enable = False
    client.write_updates([update])


def test_any_interval_of_polling_will_do(client: Client) -> None:
    update = client.proto.Update(type="INSERT")
    attribute = update.entity.table_attribute
    attribute.table_id = client.table("$PORT_STAT")["id"]
    attribute.intvl_ms.intvl_val = 600
    client.write_updates([update])
    attribute.table_id = client.table("$PORT")["id"]
    assert failing(client, update).codes() == [INVALID]


def node(client: Client, number: int, ports: list[int], kind: str = "INSERT") -> None:
    data = {"$MULTICAST_RID": 1, "$DEV_PORT": ports, "$MULTICAST_LAG_ID": []}
    client.write(kind, "$pre.node", {"$MULTICAST_NODE_ID": number}, data=data)


def group(nodes: list[int]) -> dict[str, Any]:
    return {
        "$MULTICAST_NODE_ID": nodes,
        "$MULTICAST_NODE_L1_XID_VALID": [False for _ in nodes],
        "$MULTICAST_NODE_L1_XID": [0 for _ in nodes],
    }


def test_groups_and_their_nodes(client: Client) -> None:
    node(client, 10, [2, 3])
    client.insert("$pre.mgid", {"$MGID": 5}, data=group([10]))
    (entry,) = client.read("$pre.mgid", {"$MGID": 5})
    assert entry.data["$MULTICAST_NODE_ID"] == [10]
    (entry,) = client.read("$pre.node", {"$MULTICAST_NODE_ID": 10})
    assert (entry.data["$DEV_PORT"], entry.data["$MULTICAST_RID"]) == ([2, 3], 1)
    assert client.usage("$pre.node") == 1


def test_members_are_added_to_a_group_and_taken_out(client: Client) -> None:
    node(client, 10, [2])
    node(client, 11, [3])
    client.insert("$pre.mgid", {"$MGID": 5}, data=group([10]))
    client.write("MODIFY_INC", "$pre.mgid", {"$MGID": 5}, data=group([11]))
    assert client.read("$pre.mgid", {"$MGID": 5})[0].data["$MULTICAST_NODE_ID"] == [10, 11]
    flags = client.proto.TableFlags(mod_del=True)
    client.write("MODIFY_INC", "$pre.mgid", {"$MGID": 5}, data=group([10]), table_flags=flags)
    assert client.read("$pre.mgid", {"$MGID": 5})[0].data == group([11]) | {
        "$MULTICAST_ECMP_ID": [],
        "$MULTICAST_ECMP_L1_XID_VALID": [],
        "$MULTICAST_ECMP_L1_XID": [],
    }


def test_a_node_that_is_deleted_leaves_its_groups(client: Client) -> None:
    node(client, 10, [2])
    node(client, 11, [3])
    client.insert("$pre.mgid", {"$MGID": 5}, data=group([10, 11]))
    client.delete("$pre.node", {"$MULTICAST_NODE_ID": 10})
    assert client.read("$pre.mgid", {"$MGID": 5})[0].data["$MULTICAST_NODE_ID"] == [11]
    client.delete("$pre.node")
    assert client.read("$pre.mgid", {"$MGID": 5})[0].data["$MULTICAST_NODE_ID"] == []


def test_lists_of_nodes_and_groups_may_be_left_out(client: Client) -> None:
    key = {"$MULTICAST_NODE_ID": 10}
    client.insert("$pre.node", key, data={"$MULTICAST_RID": 1, "$DEV_PORT": [2]})
    assert client.read("$pre.node", key)[0].data["$MULTICAST_LAG_ID"] == []
    client.insert("$pre.mgid", {"$MGID": 5})
    client.write("MODIFY_INC", "$pre.mgid", {"$MGID": 5}, data=group([10]))
    assert client.read("$pre.mgid", {"$MGID": 5})[0].data["$MULTICAST_NODE_ID"] == [10]
    entry = client.entry("$pre.node", {"$MULTICAST_NODE_ID": 11}, data={"$DEV_PORT": [2]})
    assert failing(client, client.update("INSERT", entry)).codes() == [INVALID]


def test_exclusions_are_always_there(client: Client) -> None:
    assert client.usage("$pre.prune") == 288

    def excluded() -> dict[int, list[int]]:
        entries = client.read("$pre.prune")
        return {e.key["$MULTICAST_L2_XID"]: e.data["$DEV_PORT"] for e in entries}

    nothing: dict[int, list[int]] = {number: [] for number in range(288)}
    assert excluded() == nothing
    key = {"$MULTICAST_L2_XID": 7}
    client.modify("$pre.prune", key, data={"$DEV_PORT": [2]})
    client.insert("$pre.prune", key, data={"$DEV_PORT": [1, 3]})
    assert excluded() == nothing | {7: [1, 3]}
    client.delete("$pre.prune", key)
    assert client.read("$pre.prune", key)[0].data["$DEV_PORT"] == []
    client.delete("$pre.prune", key)


def test_any_port_may_be_told_whether_it_is_the_cpus(client: Client) -> None:
    key = {"$DEV_PORT": 3}

    def is_cpu() -> bool:
        return bool(client.read("$pre.port", key)[0].data["$COPY_TO_CPU_PORT_ENABLE"])

    assert not is_cpu()
    client.modify("$pre.port", key, data={"$COPY_TO_CPU_PORT_ENABLE": True})
    assert is_cpu()
    client.delete("$pre.port", key)
    assert not is_cpu()


def configuration(client: Client) -> tuple[Any, Any]:
    """An update that sets the replication engine's attribute, and what it sets."""
    update = client.proto.Update(type="INSERT")
    attribute = update.entity.table_attribute
    attribute.table_id = client.table("$pre.mgid")["id"]
    return update, attribute.pre_device_config


def test_the_global_rid_is_set(client: Client, switch: SoftswitchTarget) -> None:
    update, config = configuration(client)
    config.pre_global_rid.global_rid = 0x4322
    client.write_updates([update])
    config.pre_global_rid.global_rid = 0x10000
    assert failing(client, update).codes() == [INVALID]
    (entry,) = switch.command("table_read", table="$pre.device_config")["entries"]
    assert entry["data"] == {"$GLOBAL_RID": 0x4322}
    config.pre_global_rid.global_rid = 0
    client.write_updates([update])


def test_settings_that_the_replication_engine_has_not(client: Client) -> None:
    update, config = configuration(client)
    config.pre_port_protection.enable = False
    config.pre_max_nodes_before_yield.count = 16
    client.write_updates([update])
    config.pre_fast_failover.enable = True
    assert failing(client, update).codes() == [UNIMPLEMENTED]


def test_what_replication_has_not_is_unimplemented(client: Client) -> None:
    data = {"$MULTICAST_RID": 1, "$DEV_PORT": [], "$MULTICAST_LAG_ID": [4]}
    entry = client.entry("$pre.node", {"$MULTICAST_NODE_ID": 1}, data=data)
    assert failing(client, client.update("INSERT", entry)).codes() == [UNIMPLEMENTED]


MIRROR = {"$session_enable": True, "$direction": "BOTH", "$ucast_egress_port": 2,
          "$ucast_egress_port_valid": True, "$max_pkt_len": 100}  # fmt: skip


def test_a_mirror_session(client: Client) -> None:
    client.insert("$mirror.cfg", {"$sid": 5}, "$normal", MIRROR)
    (entry,) = client.read("$mirror.cfg", {"$sid": 5})
    assert entry.action == "$normal"
    assert MIRROR.items() <= entry.data.items()
    client.modify("$mirror.cfg", {"$sid": 5}, "$normal", {"$session_enable": False})
    assert client.read("$mirror.cfg", {"$sid": 5})[0].data["$session_enable"] is False
    client.delete("$mirror.cfg", {"$sid": 5})
    assert client.usage("$mirror.cfg") == 0
    data = MIRROR | {"$packet_color": "RED"}
    entry = client.entry("$mirror.cfg", {"$sid": 5}, "$normal", data)
    assert failing(client, client.update("INSERT", entry)).codes() == [UNIMPLEMENTED]


QUEUE = {"pg_id": 0, "pg_queue": 2 * 8 + 5}  # port 2, queue 5


def test_a_queue_is_shaped_when_its_rate_is_enabled(
    client: Client, switch: SoftswitchTarget
) -> None:
    def rate() -> Any:
        (described,) = switch.command("tm_read", port=2)["ports"]
        return described["queues"][5]["max_rate_bps"]

    shaping = {"unit": "BPS", "provisioning": "UPPER", "max_rate": 8000, "max_burst_size": 9000}
    client.modify("tf1.tm.queue.sched_shaping", QUEUE, data=shaping, pipe=0)
    assert rate() is None
    client.modify(
        "tf1.tm.queue.sched_cfg", QUEUE, data={"max_rate_enable": True, "max_priority": "5"}, pipe=0
    )
    assert rate() == 8_000_000
    (entry,) = client.read("tf1.tm.queue.sched_shaping", QUEUE, pipe=0)
    assert entry.data["max_rate"] == 8000
    client.modify("tf1.tm.queue.sched_cfg", QUEUE, data={"max_rate_enable": False}, pipe=0)
    assert rate() is None


@pytest.mark.parametrize(
    ("table", "data", "pipe", "code"),
    [
        ("tf1.tm.queue.sched_cfg", {"max_priority": "1"}, 0, UNIMPLEMENTED),
        ("tf1.tm.queue.sched_cfg", {"min_rate_enable": True}, 0, UNIMPLEMENTED),
        ("tf1.tm.queue.sched_cfg", {"dwrr_weight": 7}, 0, UNIMPLEMENTED),
        ("tf1.tm.queue.sched_cfg", {"scheduling_enable": False}, 0, UNIMPLEMENTED),
        ("tf1.tm.queue.sched_cfg", {"max_rate_enable": True}, 0xFFFF, INVALID),
        ("tf1.tm.queue.sched_cfg", {"max_rate_enable": True}, 1, INVALID),
        ("tf1.tm.queue.sched_shaping", {"unit": "PPS"}, 0, UNIMPLEMENTED),
        ("tf1.tm.queue.sched_shaping", {"min_rate": 5}, 0, UNIMPLEMENTED),
    ],
)
def test_what_the_traffic_manager_has_not_is_refused(
    client: Client, table: str, data: Any, pipe: int, code: int
) -> None:
    update = client.update("MODIFY", client.entry(table, QUEUE, data=data))
    assert failing(client, update, pipe=pipe).codes() == [code]


def test_a_port_says_its_group_and_a_queue_its_port(client: Client) -> None:
    (entry,) = client.read("tf1.tm.port.cfg", {"dev_port": 2}, from_hw=False)
    assert (entry.data["pg_id"], entry.data["pg_port_nr"]) == (0, 2)
    (entry,) = client.read("tf1.tm.queue.map", QUEUE, pipe=0)
    assert entry.data == {"dev_port": 2, "queue_nr": 5}


def test_queue_counters_are_read(client: Client) -> None:
    client.delete("tf1.tm.counter.queue")
    (entry,) = client.read("tf1.tm.counter.queue", QUEUE, pipe=0)
    assert entry.data == {"drop_count_packets": 0, "usage_cells": 0, "watermark_cells": 0}
    (entry,) = client.read("tf1.tm.counter.eg_port", {"dev_port": 2})
    assert entry.data["drop_count_packets"] == 0


def test_facts_of_the_device(client: Client) -> None:
    (entry,) = client.read("tf1.dev.device_configuration", is_default_entry=True)
    assert entry.data["num_stages"] == 12
    assert entry.data["recirc_port_list"] == [68, 69, 70, 71, 196, 197, 198, 199]
    change = client.entry("tf1.dev.device_configuration", None, None, {"num_stages": 20})
    failed = failing(client, client.update("MODIFY", change))
    assert failed.codes() == [INVALID]
    assert "num_stages is read-only" in failed.details[0][1]
    for kind in ("MODIFY", "DELETE"):
        cell = client.update(kind, client.entry("tf1.tm.cfg", is_default_entry=True))
        assert failing(client, cell).codes() == [UNIMPLEMENTED]


# As bf_rt_dev_tf1.json has them.
SETTINGS = {
    "flow_learn_intr_mode": False,
    "lrt_dr_timeout_usec": 0,
    "flow_learn_timeout_usec": 500,
    "inactive_node_delete": False,
    "selector_member_order": False,
}


@pytest.mark.parametrize("kind", ["DELETE", "RESET"])
def test_settings_of_the_device_are_kept_until_they_are_reset(client: Client, kind: str) -> None:
    def settings() -> dict[str, Any]:
        (entry,) = client.read("tf1.dev.device_configuration", is_default_entry=True)
        return {name: entry.data[name] for name in SETTINGS}

    table, default = "tf1.dev.device_configuration", {"is_default_entry": True}
    assert settings() == SETTINGS
    changed = {"selector_member_order": True, "flow_learn_timeout_usec": 70}
    client.modify(table, None, None, changed, **default)
    assert settings() == SETTINGS | changed
    client.write(kind, table, **default)
    assert settings() == SETTINGS
    insertion = client.update("INSERT", client.entry(table, **default))
    assert failing(client, insertion).codes() == [UNIMPLEMENTED]


def test_ports_are_absent_if_the_server_should_begin_so(
    build_dir: Path, switch: SoftswitchTarget, proto: SimpleNamespace, tmp_path: Path
) -> None:
    board = tmp_path / "board.json"
    board.write_text('{"9/0": 2}')
    options = ["--ports", "absent", "--port-map", str(board)]
    other = Server(build_dir / "bin" / "bfrt-server", switch.directory, *options, name="absent")
    try:
        client = Client(other.address, proto)
        client.open()
        client.bind()
        assert client.read("$PORT") == []
        assert client.read("$PORT_STR_INFO", {"$PORT_NAME": "9/0"}, from_hw=False)[0].data == {
            "$DEV_PORT": 2
        }
        client.insert("$PORT", {"$DEV_PORT": 2}, data=SPEED | {"$PORT_ENABLE": True})
        assert port(client, 2)["$PORT_NAME"] == "9/0"
        client.close()
    finally:
        other.close()


def test_a_program_needs_a_client_that_speaks_to_device_0(client: Client) -> None:
    request = client.proto.ReadRequest(client_id=client.client_id)
    request.target.device_id = 1
    with pytest.raises(grpc.RpcError) as refused:
        list(client.calls.read(request))
    assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT

"""Subscribing, binding, closing."""

from __future__ import annotations

import json
from collections.abc import Callable

import grpc
import pytest
from packet.live_switch import SoftswitchTarget

from .client import CallError, Client
from .conftest import Server

Connect = Callable[[int], Client]


def test_a_subscription_is_answered_with_status_ok(connect: Connect) -> None:
    answer = connect(5).open()
    assert answer.HasField("status")
    assert answer.status.code == 0


def test_a_second_client_with_the_same_id_is_refused_and_the_first_stays(connect: Connect) -> None:
    first, second = connect(5), connect(5)
    first.open()
    with pytest.raises(CallError) as refused:
        second.open()
    assert refused.value.code == grpc.StatusCode.INVALID_ARGUMENT
    assert "two clients with the same client id" in refused.value.message
    first.bind()


def test_a_second_subscription_of_a_stream_is_left_alone(connect: Connect) -> None:
    client = connect(5)
    client.open()
    again = client.proto.Subscribe(device_id=0)
    client.send(subscribe=again)
    client.bind()
    assert client.messages.empty()


def test_who_has_not_subscribed_cannot_bind(connect: Connect) -> None:
    with pytest.raises(CallError) as refused:
        connect(5).bind()
    assert refused.value.code == grpc.StatusCode.UNAVAILABLE
    assert "Unknown client. Client_id:5" in refused.value.message


def test_a_program_has_one_owner_until_its_stream_closes(connect: Connect) -> None:
    owner, other = connect(5), connect(6)
    owner.open()
    other.open()
    owner.bind()
    with pytest.raises(CallError) as refused:
        other.bind()
    assert refused.value.code == grpc.StatusCode.ALREADY_EXISTS
    assert refused.value.message == (
        "Client ID 6 trying to bind but Client ID 5 already owns this P4 Already exists"
    )
    owner.close()
    other.bind()


def test_an_unknown_program_is_not_found(connect: Connect) -> None:
    client = connect(5)
    client.open()
    with pytest.raises(CallError) as refused:
        client.bind("another_program")
    assert refused.value.code == grpc.StatusCode.NOT_FOUND
    assert "another_program" in refused.value.message


def test_exactly_one_config_is_bound(connect: Connect) -> None:
    client = connect(5)
    client.open()
    request = client.proto.SetForwardingPipelineConfigRequest(client_id=5)
    with pytest.raises(grpc.RpcError) as refused:
        client.calls.set_config(request)
    assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize("action", [1, 2, 3, 4, 5])
def test_another_program_is_not_loaded_and_the_server_says_so(
    connect: Connect, action: int
) -> None:
    request = connect(5).proto.SetForwardingPipelineConfigRequest(client_id=5, action=action)
    with pytest.raises(grpc.RpcError) as refused:
        connect(5).calls.set_config(request)
    assert refused.value.code() == grpc.StatusCode.UNIMPLEMENTED
    assert "start softswitch with it" in (refused.value.details() or "")


def test_who_is_subscribed_but_not_bound_cannot_write(connect: Connect) -> None:
    client = connect(5)
    client.open()
    with pytest.raises(CallError) as refused:
        client.delete("forward")
    assert refused.value.code == grpc.StatusCode.UNKNOWN
    assert "Unable to get bound_program" in refused.value.message


def test_without_a_stream_a_call_names_its_program(connect: Connect) -> None:
    client = connect(5)
    name = client.config().config[0].p4_name
    usage = client.proto.TableUsage(table_id=client.table("forward")["id"])
    entities = [client.proto.Entity(table_usage=usage)]
    assert len(client.read_entities(entities, p4_name=name).entities) == 1
    with pytest.raises(CallError) as refused:
        client.read_entities(entities)
    assert refused.value.code == grpc.StatusCode.NOT_FOUND


def test_the_config_has_both_schemas(connect: Connect, switch: SoftswitchTarget) -> None:
    config = connect(5).config()
    schema = json.loads(config.config[0].bfruntime_info)
    assert schema == switch.command("schema")
    assert [each["name"] for each in schema["learn_filters"]] == ["pipe.IngressDeparser.learn"]
    fixed = {t["name"]: t["id"] for t in json.loads(config.non_p4_config.bfruntime_info)["tables"]}
    # Ids of the public schemas.
    assert fixed["$PORT"] == 0xFF010001
    assert fixed["$PORT_STAT"] == 0xFF010002
    assert fixed["$PORT_HDL_INFO"] == 0xFF010003
    assert fixed["$PORT_STR_INFO"] == 0xFF010005
    assert fixed["$pre.mgid"] == 0xFF020001
    assert fixed["$pre.node"] == 0xFF020002
    assert fixed["$pre.port"] == 0xFF020006
    assert fixed["$mirror.cfg"] == 0xFF040001
    assert fixed["tf1.tm.queue.sched_cfg"] == 0xFF050025


def test_acknowledging_a_digest_ends_the_stream(connect: Connect) -> None:
    client = connect(5)
    client.open()
    client.send(digest_ack=client.proto.DigestListAck(digest_id=1))
    end = client.message()
    assert isinstance(end, grpc.RpcError)
    assert end.code() == grpc.StatusCode.UNIMPLEMENTED


def test_stats_name_the_clients(connect: Connect, server: Server) -> None:
    client = connect(77)
    client.open()
    assert {"client_id": 77, "program": None} in server.command("stats")["clients"]

"""Requests of each phase."""

from __future__ import annotations

from dataclasses import replace

import pytest

from turntable_core import components
from turntable_core.context import Context

Contexts = dict[str, Context]


def asked(context: Context, component: str, verb: str) -> list[tuple[str, str, dict]]:
    """(host, command, arguments) in order."""
    batches = components.batches([component], verb, context)
    return [(host, r.command, dict(r.args)) for host, sent in batches.items() for r in sent]


@pytest.mark.parametrize("method", ["basic", "homa-p8"])
def test_all_nodes_are_told_the_same_transport(contexts: Contexts, method: str) -> None:
    prepared = [
        args["transport"]
        for component in ("msgclient", "msgserver")
        for _, _, args in asked(contexts[method], component, "prepare")
    ]
    assert len(prepared) == 4
    assert all(transport == prepared[0] for transport in prepared)
    expected = {"basic": ("basic", 1), "homa-p8": ("homa", 8)}[method]
    assert (prepared[0]["kind"], prepared[0]["levels"]) == expected
    # What the simulation has made of sizes and links.
    assert prepared[0]["cutoffs"] == [469, 5521, 15267]
    assert (prepared[0]["unscheduled_levels"], prepared[0]["degree"]) == (4, 4)
    assert prepared[0]["rtt_bytes"] == 8820
    assert prepared[0]["link_bps"] == 20_000_000


def test_connections_of_tcp_have_the_links_alone(contexts: Contexts) -> None:
    """Its packets are the kernel's."""
    prepared = [
        args["transport"]
        for component in ("msgclient", "msgserver")
        for _, _, args in asked(contexts["tcp"], component, "prepare")
    ]
    expected = {
        "kind": "tcp",
        "connections": 8,
        "link_bps": 20_000_000,
        "link_overhead_bytes": 24,
    }
    assert prepared == [expected] * 4


def test_transports_are_offered_the_same_calls(contexts: Contexts) -> None:
    def calls(method: str) -> list[tuple]:
        names = ("client", "seed", "sizes", "payload_bps", "arrivals", "servers")
        return [
            tuple(str(args[name]) for name in names)
            for _, _, args in asked(contexts[method], "msgclient", "prepare")
        ]

    assert calls("basic") == calls("homa-p8") == calls("tcp")
    assert len(set(calls("basic"))) == 2  # clients differ


def test_rounds_differ(contexts: Contexts) -> None:
    context = contexts["basic"]
    second = replace(context, turn=replace(context.turn, round=1))
    (_, _, first), _ = asked(context, "msgclient", "prepare")
    (_, _, other), _ = asked(second, "msgclient", "prepare")
    assert (first["seed"], other["seed"]) == (7, 8)


def test_slowdowns_are_of_homa_on_the_idle_network_whatever_the_transport(
    contexts: Contexts,
) -> None:
    basic = asked(contexts["basic"], "msgclient", "prepare_baseline")
    assert [args["transport"]["kind"] for _, _, args in basic] == ["homa", "homa"]
    # Nobody waits for another one.
    assert [args["servers"] for _, _, args in basic] == [
        [{"address": "198.18.0.3", "port": 5001}],
        [{"address": "198.18.0.4", "port": 5001}],
    ]
    [(_, command, args), _] = asked(contexts["basic"], "msgclient", "measure_baseline")
    assert command == "idle"
    assert args["bytes"] == [3, 1_000_000, 3, 1_000_000]
    for _, _, prepared in asked(contexts["basic"], "msgclient", "prepare"):
        assert prepared["idle"] == "measured"


def test_a_table_of_sizes_reaches_hosts_that_have_no_file(contexts: Contexts) -> None:
    (_, _, args), _ = asked(contexts["homa-p8"], "msgclient", "prepare")
    assert args["sizes"]["table"].startswith("2927.354\n3 0.06488")
    assert args["sizes"]["cap"] == 1_000_000


def test_the_switch_gets_queues_routes_and_links(contexts: Contexts) -> None:
    requests = components.batches(["switch"], "configure", contexts["homa-p8"])["switch0"]
    by_command = {request.command: request.args for request in requests}
    assert list(by_command) == ["table_write", "tm_write", "settings"]
    queues = {
        update["key"]["dscp"]: update["data"]["queue"]
        for update in by_command["table_write"]["updates"]
        if update["op"] == "insert" and "dscp" in update["key"]
    }
    assert queues == {0: 0, 8: 1, 16: 2, 24: 3, 32: 4, 40: 5, 48: 6, 56: 7}


@pytest.mark.parametrize("verb", ["start", "configure", "prepare", "begin", "collect"])
def test_nothing_is_asked_of_a_vendors_switch(contexts: Contexts, verb: str) -> None:
    driven = contexts["homa-p8"]
    assert asked(driven, "switch", verb), "otherwise this would say nothing"
    testbed = replace(driven.testbed, switch=None, vendors_switch="switch0")
    assert asked(replace(driven, testbed=testbed), "switch", verb) == []

"""Requests of each phase."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from turntable_core import components
from turntable_core.context import Context
from turntable_core.ownership.owner import Owner
from turntable_systems.swan import server

Contexts = dict[str, Context]


def asked(context: Context, component: str, verb: str) -> list[tuple[str, str, dict]]:
    """(host, command, arguments) in order."""
    batches = components.batches([component], verb, context)
    return [(host, r.command, dict(r.args)) for host, sent in batches.items() for r in sent]


def with_parameters(context: Context, **changes: object) -> Context:
    turn = context.turn
    cell = replace(turn.cell, parameters={**turn.cell.parameters, **changes})
    return replace(context, turn=replace(turn, cell=cell))


def test_both_nodes_work_the_placement_out_of_the_same_request(contexts: Contexts) -> None:
    context = contexts["none"]
    ((_, _, of_server),) = asked(context, "colocator", "prepare")
    ((_, _, of_client),) = asked(context, "generator", "prepare")
    assert of_client["placement"] == of_server["placement"] | {"use": "generator"}
    assert of_server["placement"]["layout"] == "same-core"
    assert of_server["placement"]["one_machine"] is True


def test_a_mechanism_has_its_own_setting_alone(contexts: Contexts) -> None:
    ((_, _, none),) = asked(contexts["none"], "colocator", "prepare")
    ((_, _, quota),) = asked(contexts["quota"], "colocator", "prepare")
    assert none["isolation"] == {"mechanism": "none"}
    assert quota["isolation"] == {"mechanism": "quota", "quota_share": 0.1}
    context = with_parameters(contexts["none"], isolation="nice", be_nice=19)
    ((_, _, nice),) = asked(context, "colocator", "prepare")
    assert nice["isolation"] == {"mechanism": "nice", "be_nice": 19}


def test_connections_are_those_of_a_host_and_dealt_to_its_threads(contexts: Contexts) -> None:
    context = with_parameters(contexts["none"], connections=128, client_threads=8)
    ((_, _, args),) = asked(context, "generator", "prepare")
    assert (args["threads"], args["connections"]) == (8, 16)
    ((_, _, tune),) = asked(context, "generator", "tune")
    assert tune["load"]["connections"] == 16


def test_memcached_is_where_the_generator_looks_for_it(contexts: Contexts) -> None:
    for transport, keys in (("tcp", ("address", "port")), ("unix", ("socket",))):
        context = with_parameters(contexts["none"], transport=transport)
        ((_, _, server),) = asked(context, "colocator", "prepare")
        ((_, _, client),) = asked(context, "generator", "prepare")
        assert {key: server["memcached"][key] for key in keys} == client["server"]


def test_the_job_runs_with_the_python_that_has_what_it_needs(contexts: Contexts) -> None:
    context = contexts["none"]
    job = {"name": "training", "command": ["{python}", "x"], "version": ["{python}", "--version"]}
    data = {**context.iteration.data, "job": job}
    context = replace(context, iteration=replace(context.iteration, data=data))
    ((_, _, args),) = asked(context, "colocator", "prepare")
    assert args["aggressor"]["command"] == [sys.executable, "x"]
    assert args["aggressor"]["version"] == [sys.executable, "--version"]


def test_loads_are_shares_of_a_peak_that_was_given_or_searched(contexts: Contexts) -> None:
    searched = contexts["none"]
    given = with_parameters(searched, peak_load=30_000)
    ((_, _, args),) = asked(given, "generator", "prepare")
    assert args["rate_per_s"] == 15_000
    assert asked(given, "generator", "tune") == []
    ((_, _, args),) = asked(searched, "generator", "prepare")
    assert args["peak_share"] == 0.5
    ((_, _, tune),) = asked(searched, "generator", "tune")
    assert args["peak_key"] == tune["key"]
    assert tune["search"]["limit_us"] == 5000


def test_the_peak_is_that_of_memcached_alone(contexts: Contexts) -> None:
    """It does not depend on what runs beside it, nor on what keeps that apart."""

    def key(context: Context) -> str:
        ((_, _, args),) = asked(context, "generator", "tune")
        return args["key"]

    none = contexts["none"]
    assert key(none) == key(contexts["quota"])
    assert key(none) == key(with_parameters(none, aggressors="placebo", loads="1"))
    for changes in ({"threads": 2}, {"value_size": "fb_value"}, {"slo_us": 500}):
        assert key(none) != key(with_parameters(none, **changes))


def test_what_a_node_keeps_is_of_one_run(contexts: Contexts) -> None:
    """Its experiment and name are not enough: it may have been deleted, and made anew."""
    owner = Owner("somebody", "here", 1, "night", "swan_sensitivity", 0)

    def keys(created_at: str) -> set[str]:
        context = replace(contexts["none"], owner=owner, created_at=created_at)
        ((_, _, tune),) = asked(context, "generator", "tune")
        probe = asked(context, "colocator", "survey")[-1][2]
        return {tune["key"], probe["key"]}

    first, second = keys("2026-11-27T08:00:00+00:00"), keys("2026-11-27T09:00:00+00:00")
    assert len(first | second) == 4


def test_a_fresh_memcached_for_each_iteration_is_a_parameter(contexts: Contexts) -> None:
    for fresh, expected in (("block", False), ("iteration", True)):
        context = with_parameters(contexts["none"], fresh=fresh)
        ((_, _, args),) = asked(context, "colocator", "prepare")
        assert args["memcached"]["fresh"] is expected
    ((_, _, alone),) = asked(contexts["none"], "colocator", "prepare_alone")
    assert alone["memcached"]["fresh"] is True
    assert alone["aggressor"] is None


def test_no_two_units_have_the_same_arrivals(contexts: Contexts) -> None:
    context = contexts["none"]
    seeds = set()
    for unit in context.turn.iterations:
        ((_, _, args),) = asked(replace(context, iteration=unit), "generator", "prepare")
        seeds.add(args["seed"])
    assert len(seeds) == len(context.turn.iterations)


@pytest.mark.parametrize(
    ("records", "power"),
    # 2^16 · 1.5 = 98,304; 2^17 · 1.5 = 196,608; 2^22 · 1.5 = 6,291,456; one key is the generator's
    [(1, 16), (98_303, 16), (98_304, 17), (196_607, 17), (200_000, 18), (5_000_000, 22)],
)
def test_the_table_of_memcached_never_grows(records: int, power: int) -> None:
    assert server.hash_power(records) == power

"""What the run asks is what the nodes know: each request is sent to a real one.

Each has one argument that is out of its range, so that the node reads all of them and then
refuses; one that it does not know, or misses, it would name instead.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from small_experiment import experiment, experiments, scale  # noqa: F401  # fixtures
from tests.kv.nodes import Node, NodeError, running
from tests.systems.swan.conftest import (
    DOCUMENT,
    contexts,  # noqa: F401  # fixtures
    document,  # noqa: F401
    made,  # noqa: F401
)
from turntable_core import components
from turntable_core.context import Context
from turntable_core.requests import Request
from turntable_systems.swan.isolation import SETTINGS

Contexts = dict[str, Context]
PROGRAMS = {"generator": "mcload-node", "colocator": "colocator"}
# Command -> an argument, and a value that it cannot have.
OUT_OF_RANGE: Mapping[tuple[str, str], tuple[tuple[str, ...], Any]] = {
    ("generator", "populate"): (("deadline_s",), -1),
    ("generator", "tune"): (("deadline_s",), -1),
    ("generator", "prepare"): (("peak_share",), -1),
    ("colocator", "prepare_alone"): (("memcached", "threads"), 0),
    ("colocator", "prepare"): (("memcached", "threads"), 0),
    ("colocator", "settle"): (("deadline_s",), -1),
    ("colocator", "begin"): (("start_at_ns",), -1),
    ("generator", "begin"): (("start_at_ns",), -1),
    ("generator", "wait"): (("deadline_s",), -1),
    ("colocator", "finish"): (("deadline_s",), -1),
}


def with_parameters(context: Context, **changes: object) -> Context:
    turn = context.turn
    cell = replace(turn.cell, parameters={**turn.cell.parameters, **changes})
    return replace(context, turn=replace(turn, cell=cell))


def request_of(component: str, verb: str, context: Context) -> Request:
    ((request,),) = components.batches([component], verb, context).values()
    return request


def spoilt(args: Mapping[str, Any], path: Sequence[str], value: object) -> dict[str, Any]:
    whole = copy.deepcopy(dict(args))
    inner = whole
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    return whole


def refuses(node: Node, component: str, verb: str, context: Context) -> None:
    """The request, spoilt, is refused for what was spoilt in it."""
    request = request_of(component, verb, context)
    path, value = OUT_OF_RANGE[component, verb]
    with pytest.raises(NodeError, match=f'"{path[-1]}" is {value}'):
        node.call(request.command, **spoilt(request.args, path, value))


@pytest.mark.parametrize("component", ["generator", "colocator"])
def test_the_nodes_know_what_each_phase_asks(
    build_dir: Path,
    tmp_path: Path,
    testbed: str,
    contexts: Contexts,  # noqa: F811
    component: str,
) -> None:
    with running(build_dir / "bin" / PROGRAMS[component], tmp_path) as node:
        for each, verb in OUT_OF_RANGE:
            if each == component:
                refuses(node, component, verb, contexts["none"])


def test_the_colocator_knows_each_mechanism(
    build_dir: Path,
    tmp_path: Path,
    testbed: str,
    contexts: Contexts,  # noqa: F811
) -> None:
    with running(build_dir / "bin" / "colocator", tmp_path) as node:
        for mechanism, settings in SETTINGS.items():
            own = {name: DOCUMENT["constants"][name] for name in settings}
            context = with_parameters(contexts["none"], isolation=mechanism, **own)
            refuses(node, "colocator", "prepare", context)

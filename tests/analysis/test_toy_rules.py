"""Each rule of a toy system, broken alone: what docs/add-a-system.md asks of every system."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from turntable import systems
from turntable.measurement import HostLoad, Measurement
from turntable.verdict import Case, judge

TOYS = Path(__file__).resolve().parents[1] / "toys"
BOUNDS = yaml.safe_load((TOYS / "experiments/echo/defaults.yml").read_text())["validity"]


@pytest.fixture(scope="module", autouse=True)
def _toys_are_known() -> None:
    if (path := str(TOYS / "analysis")) not in systems.__path__:
        systems.__path__.append(path)


def module(name: str) -> ModuleType:
    return importlib.import_module(f"turntable.systems.echo.{name}")


def healthy() -> Measurement:
    return module("measurement").EchoMeasurement(
        iteration=0,
        seconds=2.0,
        start_lateness_us=100.0,
        hosts=(HostLoad("server0", steal_share=0.0, nic_drops=0),),
        offered=2000,
        delivered=2000,
        requests=2400,
        unanswered=0,
        socket_drops=0,
        latency="",
        send_late_max_us=100.0,
        wait_share=0.1,
        per_second=(),
    )


def reasons(measurement: Measurement) -> tuple[str, ...]:
    case = Case([measurement], 1, BOUNDS, {}, "emulated")
    return judge(module("rules").RULES, case).reasons


def test_a_healthy_load_is_valid() -> None:
    assert reasons(healthy()) == ()
    assert reasons(replace(healthy(), delivered=1980)) == ()


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ({"delivered": 1979}, "98.95% of the offered load was delivered (at least 99%)"),
        ({"offered": 0}, "0.00% of the offered load was delivered"),
        ({"errors": {"client malformed": 1}}, "errors were counted: client malformed 1"),
        ({"unanswered": 3}, "requests stayed unanswered"),
        ({"socket_drops": 3}, "sockets dropped packets"),
        ({"hosts": (HostLoad("h", 0.0, nic_drops=3),)}, "network interfaces dropped packets"),
        ({"start_lateness_us": 1e5 + 1}, "clients started late"),
        ({"send_late_max_us": 1e5 + 1}, "the client sent late"),
        ({"wait_share": 0.51}, "the client waited for a processor"),
        ({"hosts": (HostLoad("h", 0.06, nic_drops=0),)}, "processors of a host were stolen"),
    ],
)
def test_a_broken_rule_is_the_only_reason(broken: dict[str, Any], reason: str) -> None:
    (given,) = reasons(replace(healthy(), **broken))
    assert given.startswith(reason)

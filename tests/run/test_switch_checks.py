"""Whether a run's switch can do what is wanted of it is asked when the run is planned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from turntable_core import systems
from turntable_core.errors import InputError, TurntableError
from turntable_core.overrides import ExtraVars
from turntable_core.proposal import propose
from turntable_core.testbed import Testbed

from .conftest import changed, write_experiment
from .testbeds import over_bfrt

OTHER = "choose an inventory whose turntable_switch_target is soft"


def plan(experiments: Path, made: Testbed, document: dict | None = None, **extra: Any) -> None:
    file = write_experiment(experiments, changed(document or {}))
    given = ExtraVars({"profile": "smoke"} | extra)
    places = {("switch0", "turntable_switch_trace"): "switches.yml:4"}
    propose(file, given, made, experiments / "results", lambda *what: places[what])


def test_the_unchanged_experiment_is_accepted(experiments: Path) -> None:
    plan(experiments, over_bfrt())


IMPAIR = {"host": "sender0", "direction": "rx", "rules": []}


@pytest.mark.parametrize("event", [{"impair": IMPAIR}, {"heal": "sender0"}], ids=["impair", "heal"])
def test_faults_of_links_are_refused(experiments: Path, event: dict) -> None:
    document = {"timeline": [{"at_s": 1, **event}]}
    (verb,) = event
    expected = (
        rf"tiny\.yml:\d+: timeline\.{verb}: .*no such event where turntable_switch_target is bfrt: "
        rf"BF Runtime has nothing for faults of links\. Take it out, or {OTHER}"
    )
    with pytest.raises(InputError, match=expected):
        plan(experiments, over_bfrt(), document)
    plan(experiments, over_bfrt(turntable_switch_target="soft"), document)


def test_a_switch_that_dies_is_accepted(experiments: Path) -> None:
    verbs = ("kill", "start")
    timeline = [{"at_s": at_s, verb: "switch0"} for at_s, verb in enumerate(verbs)]
    plan(experiments, over_bfrt(), {"timeline": timeline})


def test_traces_are_refused(experiments: Path) -> None:
    traced = {"turntable_switch_trace": "udp=1152"}
    expected = (
        "^inventory: switch0: turntable_switch_trace is 'udp=1152'; expected none where "
        "turntable_switch_target is bfrt: BF Runtime has nothing for traces of packets. Leave it "
        rf"out, or {OTHER} \[switches.yml:4\]$"
    )
    with pytest.raises(TurntableError, match=expected):
        plan(experiments, over_bfrt(**traced))
    plan(experiments, over_bfrt(turntable_switch_target="soft", **traced))


def give(monkeypatch: pytest.MonkeyPatch, **by_method: dict[str, Any]) -> None:
    def settings(_: object, parameters: dict) -> dict[str, Any]:
        return by_method[parameters["method"]]

    monkeypatch.setattr(type(systems.find("fake")), "switch_settings", settings)


def test_settings_without_a_way_to_the_switch_are_refused(
    experiments: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(monkeypatch, plain={"processing_delay_ns": 5})
    expected = (
        "the switch's settings: processing_delay_ns: 5 is not accepted; expected 0: BF Runtime has "
        f"nothing for the setting processing_delay_ns. Or {OTHER}"
    )
    with pytest.raises(InputError, match=expected):
        plan(experiments, over_bfrt())
    plan(experiments, over_bfrt(turntable_switch_target="soft"))


@pytest.mark.parametrize("other", [{"realtime": False}, {}], ids=["other value", "none"])
def test_settings_of_the_start_are_those_of_all_cells(
    experiments: Path, monkeypatch: pytest.MonkeyPatch, other: dict[str, Any]
) -> None:
    give(monkeypatch, plain={"realtime": True}, slow=other)
    document = {"factors.method": ["plain", "slow"]}
    expected = r"realtime: False is not accepted; expected True in every cell of a run: .*"
    with pytest.raises(InputError, match=expected):
        plan(experiments, over_bfrt(), document)
    plan(experiments, over_bfrt())
    plan(experiments, over_bfrt(turntable_switch_target="soft"), document)


def test_a_chip_cannot_be_killed_by_a_run(experiments: Path) -> None:
    document = {"timeline": [{"at_s": 1, "kill": "switch0"}]}
    expected = (
        r"timeline\.kill: 'switch0' .*no such event where turntable_switch_target is tofino: the "
        rf"switch is no node of the run\. Take it out, or {OTHER}"
    )
    with pytest.raises(InputError, match=expected):
        plan(experiments, over_bfrt(turntable_switch_target="tofino"), document)
    for other in ("sender0", "agent@switch0"):
        others = {"timeline": [{"at_s": 1, "kill": other}]}
        plan(experiments, over_bfrt(turntable_switch_target="tofino"), others)


def test_a_chip_runs_one_program(experiments: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def program(_: object, parameters: dict) -> str:
        return {"plain": "toy", "slow": "other"}[parameters["method"]]

    give(monkeypatch, plain={}, slow={})
    monkeypatch.setattr(type(systems.find("fake")), "switch_program", program)
    document = {"factors.method": ["plain", "slow"]}
    tofino = over_bfrt(turntable_switch_target="tofino")
    expected = (
        r"^the cells of this run need the P4 programs other, toy, and switch0 .* runs the one that "
        r"playbooks/switch\.yml started; expected cells of one program.*-e program=NAME"
    )
    with pytest.raises(TurntableError, match=expected):
        plan(experiments, tofino, document)
    plan(experiments, tofino)
    plan(experiments, over_bfrt(), document)


def test_a_target_without_a_driver_is_refused(experiments: Path) -> None:
    expected = r"turntable_switch_target: 'p4runtime' .*one of soft, bfrt, tofino"
    with pytest.raises(InputError, match=expected):
        plan(experiments, over_bfrt(turntable_switch_target="p4runtime"))

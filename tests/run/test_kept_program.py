"""What a run asks of a switch that keeps its program, of the record and sources that are there."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible.playbook.play_context import PlayContext
from ansible.plugins.loader import init_plugin_loader

from turntable_core import systems
from turntable_core.connections import HostConnections
from turntable_core.errors import TurntableError
from turntable_core.kept_program import require_program, source_files
from turntable_core.testbed import read_testbed

from .testbeds import GROUPS, hostvars

CELLS: Any = [SimpleNamespace(parameters={})]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with the program of the fake system, which a switch in `switch` runs."""
    init_plugin_loader()
    monkeypatch.setattr(type(systems.find("fake")), "switch_program", lambda *_: "toy")
    for name in ("toy/toy.p4", "toy/parts/more.h", "shared/ipv4.p4", "other/other.p4"):
        path = tmp_path / "checkout/p4" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    start(tmp_path, "toy")
    return tmp_path / "checkout"


def start(directory: Path, program: str) -> None:
    """As p4_compile and switchd leave it."""
    compiled = directory / "switch/p4" / f"{program}-0123"
    for name in (program, "shared"):
        source = directory / "checkout/p4" / name
        shutil.copytree(source, compiled / "source" / name, dirs_exist_ok=True)
    argv = ["bf_switchd", "--conf-file", str(compiled / f"output/{program}.conf"), "--background"]
    record = directory / "switch/run/switchd/switchd.json"
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text(json.dumps({"pid": 1, "wanted": {"argv": argv}}))


def require(repository: Path, target: str = "tofino") -> None:
    variables = hostvars()
    variables["switch0"] |= {
        "inventory_hostname": "switch0",
        "ansible_connection": "local",
        "turntable_switch_target": target,
        "turntable_run_dir": str(repository.parent / "switch/run"),
    }
    testbed = read_testbed(variables, GROUPS)
    connections = HostConnections(PlayContext(), variables)
    require_program(connections, testbed, systems.find("fake"), CELLS, repository)


def test_sources_are_what_the_program_may_include(repository: Path) -> None:
    found = source_files(repository / "p4/toy/toy.p4")
    assert [path.name for path in found] == ["ipv4.p4", "more.h", "toy.p4"]


def test_the_program_of_this_checkout_is_accepted(repository: Path) -> None:
    require(repository)


def test_changed_sources_are_named(repository: Path) -> None:
    (repository / "p4/shared/ipv4.p4").write_text("changed")
    (repository / "p4/toy/new.p4").write_text("new")
    (repository / "p4/other/other.p4").write_text("none of this program's")
    expected = (
        r"^switch0 runs toy of other sources than this checkout's: shared/ipv4\.p4, toy/new\.p4; "
        r"expected the same\. Run playbooks/switch\.yml -e program=toy "
    )
    with pytest.raises(TurntableError, match=expected):
        require(repository)
    require(repository, target="soft")


def test_another_program_is_named(repository: Path) -> None:
    start(repository.parent, "other")
    expected = r"^switch0 runs the P4 program other; expected toy, .* -e program=toy "
    with pytest.raises(TurntableError, match=expected):
        require(repository)


@pytest.mark.parametrize("record", [None, "", "{}", '{"wanted": {"argv": ["bf_switchd"]}}'])
def test_what_somebody_else_has_started_is_left_to_the_driver(
    repository: Path, record: str | None
) -> None:
    (repository / "p4/toy/toy.p4").write_text("changed")
    file = repository.parent / "switch/run/switchd/switchd.json"
    file.unlink() if record is None else file.write_text(record)
    require(repository)

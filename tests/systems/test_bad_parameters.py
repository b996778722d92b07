"""Parameters that do not fit are refused with a message that helps, before anything starts: what
each system lists in its bad_parameters.yml.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import yaml

from small_experiment import with_changes, write_experiment
from turntable_core.errors import TurntableError
from turntable_core.overrides import ExtraVars
from turntable_core.proposal import Proposal, propose
from turntable_core.testbed import read_testbed

from .farreach import conftest as farreach
from .farreach import testbeds as farreach_testbeds
from .homa import conftest as homa
from .homa import testbeds as homa_testbeds
from .netclone import conftest as netclone
from .netclone import testbeds as netclone_testbeds
from .shadowfax import conftest as shadowfax
from .shadowfax import testbeds as shadowfax_testbeds
from .swan import conftest as swan
from .swan import testbeds as swan_testbeds

HERE = Path(__file__).parent
# Its small experiment, how many cells that has, and its testbed.
SYSTEMS = {
    "farreach": (farreach.DOCUMENT, 2, farreach_testbeds),
    "homa": (homa.DOCUMENT, 3, homa_testbeds),
    "netclone": (netclone.DOCUMENT, 3, netclone_testbeds),
    "shadowfax": (shadowfax.DOCUMENT, 2, shadowfax_testbeds),
    "swan": (swan.DOCUMENT, 2, swan_testbeds),
}


LISTED = {
    system: yaml.safe_load((HERE / system / "bad_parameters.yml").read_text()) for system in SYSTEMS
}
CASES = [
    pytest.param(system, case, id=f"{system}, {case['name']}")
    for system, listed in LISTED.items()
    for case in listed
]


def proposal(
    directory: Path,
    system: str,
    changes: dict[str, Any],
    extra: dict[str, Any],
    of_switch: Mapping[str, Any] = MappingProxyType({}),
) -> Proposal:
    document, _, testbeds = SYSTEMS[system]
    (directory / "experiments" / "tests").mkdir(parents=True)
    file = write_experiment(directory / "experiments", with_changes(document, changes))
    variables = testbeds.hostvars()
    variables["switch0"] |= of_switch
    testbed = read_testbed(variables, testbeds.GROUPS)
    given = ExtraVars({"profile": "smoke"} | extra)
    return propose(file, given, testbed, directory / "results")


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_unchanged_experiment_is_accepted(tmp_path: Path, system: str) -> None:
    """Otherwise every case below would pass for a wrong reason."""
    assert len(proposal(tmp_path, system, {}, {}).cells) == SYSTEMS[system][1]


OVER_BFRT = {"turntable_switch_target": "bfrt"}


@pytest.mark.parametrize("system", ["farreach", "netclone"])
def test_a_switch_over_bf_runtime_is_accepted(tmp_path: Path, system: str) -> None:
    assert len(proposal(tmp_path, system, {}, {}, OVER_BFRT).cells) == SYSTEMS[system][1]


def test_links_are_not_asked_of_a_switch_over_bf_runtime(tmp_path: Path) -> None:
    said = (
        "^switch0: turntable_switch_target is bfrt, and cells of homa ask for links of its ports: "
        "BF Runtime has nothing for links that are slower or longer than they are; choose an "
        "inventory whose turntable_switch_target is soft$"
    )
    with pytest.raises(TurntableError, match=said):
        proposal(tmp_path, "homa", {}, {}, OVER_BFRT)


@pytest.mark.parametrize(("system", "case"), CASES)
def test_bad_parameters_are_refused(tmp_path: Path, system: str, case: dict[str, Any]) -> None:
    given = (case.get("set", {}), case.get("extra", {}), case.get("switch", {}))
    with pytest.raises(TurntableError) as caught:
        proposal(tmp_path, system, *given)
    file = tmp_path / "experiments" / "tests" / "tiny.yml"
    for text in case["says"]:
        assert text.replace("FILE", str(file)) in str(caught.value)


def test_loads_are_one_cell_where_a_target_takes_their_place(tmp_path: Path) -> None:
    changes = {"factors.load": [0.3, 0.5]}
    cells = proposal(tmp_path, "netclone", changes, {"target_rps": 1500}).cells
    assert len(cells) == 3
    assert not any("load" in cell.parameters for cell in cells)


@pytest.mark.parametrize("system", SYSTEMS)
def test_no_case_is_there_twice(system: str) -> None:
    names = [case["name"] for case in LISTED[system]]
    assert sorted(set(names)) == sorted(names)

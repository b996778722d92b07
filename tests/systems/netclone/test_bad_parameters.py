"""Parameters that do not fit are refused with a message that helps, before anything starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from turntable_core.errors import TurntableError
from turntable_core.overrides import ExtraVars
from turntable_core.proposal import propose
from turntable_core.testbed import read_testbed

from .conftest import changed, write_experiment
from .testbeds import GROUPS, hostvars

CASES = yaml.safe_load((Path(__file__).parent / "bad_parameters.yml").read_text())
TESTBED = read_testbed(hostvars(), GROUPS)


def test_the_unchanged_experiment_is_accepted(experiments: Path) -> None:
    """Otherwise every case below would pass for a wrong reason."""
    file = write_experiment(experiments, changed({}))
    proposal = propose(file, ExtraVars({"profile": "smoke"}), TESTBED, experiments / "results")
    assert len(proposal.cells) == 3


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_bad_parameters_are_refused(experiments: Path, case: dict[str, Any]) -> None:
    file = write_experiment(experiments, changed(case.get("set", {})))
    extra = ExtraVars({"profile": "smoke"} | case.get("extra", {}))
    with pytest.raises(TurntableError) as caught:
        propose(file, extra, TESTBED, experiments / "results")
    for text in case["says"]:
        assert text.replace("FILE", str(file)) in str(caught.value)


def test_loads_are_one_cell_where_a_target_takes_their_place(experiments: Path) -> None:
    file = write_experiment(experiments, changed({"factors.load": [0.3, 0.5]}))
    extra = ExtraVars({"profile": "smoke", "target_rps": 1500})
    proposal = propose(file, extra, TESTBED, experiments / "results")
    assert len(proposal.cells) == 3
    assert not any("load" in cell.parameters for cell in proposal.cells)

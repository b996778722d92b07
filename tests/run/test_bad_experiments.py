"""Bad experiments and extra variables are refused with a message that helps, and leave nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from turntable_core.errors import TurntableError
from turntable_core.overrides import ExtraVars
from turntable_core.proposal import propose
from turntable_core.testbed import read_testbed

from .conftest import DELETE, changed, write_experiment
from .testbeds import GROUPS, hostvars

CASES = yaml.safe_load((Path(__file__).parent / "bad_experiments.yml").read_text())
TESTBED = read_testbed(hostvars(), GROUPS)


def write_case(experiments: Path, case: dict[str, Any]) -> Path:
    """tests/tiny.yml with the mistake in it, and the published results that it names."""
    values = case.get("set", {}) | dict.fromkeys(case.get("remove", ()), DELETE)
    file = write_experiment(experiments, changed(values))
    if "text" in case:
        file.write_text(case["text"])
    with file.open("a") as text:
        text.write(case.get("append", ""))
    if "reference" in case:
        (experiments / "reference").mkdir()
        (experiments / "reference" / "tiny.csv").write_text(case["reference"])
    return file


def test_the_unchanged_experiment_is_accepted(experiments: Path) -> None:
    """Otherwise every case below would pass for a wrong reason."""
    file = write_case(experiments, {})
    results = experiments.parent / "results"
    proposal = propose(file, ExtraVars({"profile": "smoke"}), TESTBED, results)
    assert proposal.is_new
    assert len(proposal.cells) == 2
    assert not results.exists()


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_bad_input_is_refused(experiments: Path, case: dict[str, Any]) -> None:
    file = write_case(experiments, case)
    before = sorted(experiments.parent.rglob("*"))
    extra = ExtraVars({"profile": "smoke"} | case.get("extra", {}))
    with pytest.raises(TurntableError) as caught:
        propose(file, extra, TESTBED, experiments.parent / "results")
    for text in case["says"]:
        assert text.replace("FILE", str(file)) in str(caught.value)
    assert sorted(experiments.parent.rglob("*")) == before


def test_an_extra_variable_of_a_file_is_named_with_its_line(experiments: Path) -> None:
    extra = ExtraVars(
        {"profile": "smoke", "worload": "x"}, {"worload": "extra variable, vars.yml:3"}
    )
    with pytest.raises(TurntableError, match=r"^extra variable, vars\.yml:3: worload: 'x'"):
        propose(write_case(experiments, {}), extra, TESTBED, experiments.parent / "results")


def test_what_means_nothing_to_any_cell_is_told(experiments: Path) -> None:
    # Only the method `slow` has a delay (tests/run/fakes).
    file, results = write_case(experiments, {}), experiments.parent / "results"
    given = {"profile": "smoke", "delay_us": 3}
    notes = propose(file, ExtraVars(given), TESTBED, results).notes()
    assert notes == ["delay_us: given, but without a meaning for any cell of this run, and ignored"]
    of_slow = ExtraVars(given | {"method": ["plain", "slow"]})
    assert propose(file, of_slow, TESTBED, results).notes() == []


def test_catalogue_has_no_case_twice() -> None:
    names = [case["name"] for case in CASES]
    assert sorted(set(names)) == sorted(names)

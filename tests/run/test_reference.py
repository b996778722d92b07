"""Published values are found for exactly the parameters that they were published for."""

from __future__ import annotations

from pathlib import Path

import pytest

from turntable_core.errors import InputError
from turntable_core.reference import Reference

TABLE = """\
keys,theta,metric,value,unit,source
uniform,,rate,10,1/s,these tests
zipfian,0.9,rate,20,1/s,these tests
"""


@pytest.fixture
def reference(tmp_path: Path) -> Reference:
    file = tmp_path / "table.csv"
    file.write_text(TABLE)
    return Reference(file)


def test_every_condition_has_to_be_met(reference: Reference) -> None:
    assert reference.value("rate", {"keys": "zipfian", "theta": 0.9}) == 20
    assert reference.value("rate", {"keys": "zipfian", "theta": 0.99}) is None
    assert reference.value("delay", {"keys": "zipfian", "theta": 0.9}) is None


def test_an_empty_condition_is_met_without_the_parameter_alone(reference: Reference) -> None:
    assert reference.value("rate", {"keys": "uniform"}) == 10
    assert reference.value("rate", {"keys": "uniform", "theta": 0.9}) is None
    assert reference.value("rate", {"keys": "zipfian"}) is None


def test_a_condition_on_what_is_no_parameter_is_refused(reference: Reference) -> None:
    with pytest.raises(InputError, match=r"column: 'theta' is not accepted"):
        reference.check({"keys"})

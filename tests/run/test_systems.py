"""Systems are found by name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from turntable_core import systems
from turntable_core.errors import TurntableError


def test_a_system_is_found_by_its_name_and_by_the_one_it_had() -> None:
    assert systems.names() == ["fake"]
    assert systems.find("fake").name == "fake"
    assert systems.find("feint") is systems.find("fake")


def test_an_unknown_system_is_refused() -> None:
    with pytest.raises(TurntableError, match=r"'fkae': expected one of fake \(did you mean 'fake'"):
        systems.find("fkae")


def test_a_system_may_lie_outside_of_the_repository() -> None:
    fakes = Path(__file__).parent / "fakes"
    names = subprocess.run(
        [sys.executable, "-c", "from turntable_core import systems; print(*systems.names())"],
        env={"TURNTABLE_SYSTEMS": str(fakes)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert {"fake", "farreach"} <= set(names)

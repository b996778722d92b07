"""A run's directory that cannot be made."""

from __future__ import annotations

from pathlib import Path

import pytest

from turntable_core.errors import TurntableError
from turntable_core.plan import Composition, Prediction, cells_of, make_plan
from turntable_core.run_directory import RunDirectory
from turntable_core.spec import Scale


def test_a_place_for_results_that_cannot_be_made_is_named(tmp_path: Path, scale: Scale) -> None:
    (tmp_path / "results").write_text("a file")
    shares = Composition((0.25,) * 4, 4.0, 1.0)
    plan = make_plan(scale, cells_of(scale), lambda *_: Prediction(0, shares, shares))
    run = RunDirectory(tmp_path / "results" / "tiny" / "run")
    with pytest.raises(TurntableError, match="cannot be made: Not a directory; expected a dir"):
        run.create(plan, {})

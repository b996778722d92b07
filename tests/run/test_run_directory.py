"""A run's directory that cannot be made."""

from __future__ import annotations

from pathlib import Path

import pytest

from turntable_core.errors import TurntableError
from turntable_core.run_directory import RunDirectory
from turntable_core.spec import Scale

from .plans import make_plan


def test_a_place_for_results_that_cannot_be_made_is_named(tmp_path: Path, scale: Scale) -> None:
    (tmp_path / "results").write_text("a file")
    plan = make_plan(scale)
    run = RunDirectory(tmp_path / "results" / "tiny" / "run")
    with pytest.raises(TurntableError, match="cannot be made: Not a directory; expected a dir"):
        run.create(plan, {})

"""Experiment files: what is accepted. What is not: bad_experiments.yml."""

from __future__ import annotations

from pathlib import Path

import pytest

from turntable_core.errors import TurntableError
from turntable_core.spec import choose_profile, load_experiment

from .conftest import DOCUMENT, changed, write_experiment


def test_missing_file_lists_what_there_is(experiments: Path) -> None:
    with pytest.raises(
        TurntableError,
        match=r"no such experiment \(did you mean 'tiny\.yml'\?\); known: tests/tiny\.yml",
    ):
        load_experiment(experiments / "tests" / "tyni.yml")


def test_profile_replaces_constants_and_keeps_the_rest(experiments: Path) -> None:
    scale = choose_profile(load_experiment(experiments / "tests" / "tiny.yml"), "smoke")
    assert (scale.rounds, scale.constants["measure_s"]) == (2, 1)
    assert scale.constants["share"] == DOCUMENT["constants"]["share"]


def test_factor_of_a_profile_replaces_the_constant(experiments: Path) -> None:
    several = {"profiles.smoke.factors": {"share": [0.9, 0.95]}}
    scale = choose_profile(
        load_experiment(write_experiment(experiments, changed(several))), "smoke"
    )
    assert scale.factors["share"] == [0.9, 0.95]
    assert "share" not in scale.constants


def test_origin_is_the_line_of_the_value_that_counts(experiments: Path) -> None:
    file = write_experiment(experiments, changed({"profiles.smoke.constants.share": 0.5}))
    lines = file.read_text().splitlines()
    scale = choose_profile(load_experiment(file), "smoke")
    path, line = scale.origins["share"].rsplit(":", 1)
    assert (path, lines[int(line) - 1].strip()) == (str(file), "share: 0.5")

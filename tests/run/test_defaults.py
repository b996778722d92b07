"""What a system's experiments have in common: defaults.yml, and what goes before it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from turntable_core.errors import InputError, TurntableError
from turntable_core.overrides import ExtraVars, apply_overrides
from turntable_core.spec import choose_profile, experiment_files, load_experiment

from .conftest import DELETE, changed, write_experiment


def load(experiments: Path, defaults: dict, changes: dict):
    (experiments / "tests" / "defaults.yml").write_text(yaml.safe_dump(defaults, sort_keys=False))
    return load_experiment(write_experiment(experiments, changed(changes)))


def test_the_stronger_one_decides(experiments: Path) -> None:
    """The weakest first: defaults, defaults of the profile, experiment, experiment's profile."""
    defaults = {
        "constants": {"size": 5000, "share": 0.1, "bytes": 1, "users": 2, "lead_ms": 1},
        "profiles": {"smoke": {"constants": {"lead_ms": 2, "share": 0.2, "measure_s": 7}}},
    }
    removed = {f"constants.{name}": DELETE for name in ("size", "bytes")}
    scale = choose_profile(load(experiments, defaults, removed), "smoke")
    wanted = {
        "size": 5000,  # the defaults'
        "lead_ms": 2,  # of their profile
        "share": 0.99,  # the experiment's own, whatever the defaults say at any profile
        "measure_s": 1,  # of its profile
    }
    assert {name: scale.constants[name] for name in wanted} == wanted
    where = {name: scale.origins[name].rsplit("/", 1)[1].split(":")[0] for name in wanted}
    assert where == {
        "size": "defaults.yml",
        "lead_ms": "defaults.yml",
        "share": "tiny.yml",
        "measure_s": "tiny.yml",
    }


def test_profiles_may_be_those_of_the_defaults(experiments: Path) -> None:
    defaults = {"profiles": {"big": {"rounds": 5, "constants": {"measure_s": 9}}}}
    experiment = load(experiments, defaults, {"profiles": DELETE})
    assert experiment.profiles == ["big"]
    scale = choose_profile(experiment, "big")
    assert (scale.rounds, scale.constants["measure_s"]) == (5, 9)


def test_deadlines_and_rules_may_be_those_of_the_defaults(experiments: Path) -> None:
    defaults = {
        "deadlines": {"start_nodes": 1, "configure": 2, "command": 3},
        "validity": {"utilization": [0, 1], "loss_share_max": 0.5},
    }
    changes = {"deadlines": {"command": 9}, "validity": DELETE}
    scale = choose_profile(load(experiments, defaults, changes), "smoke")
    assert scale.deadlines == {"start_nodes": 1, "configure": 2, "command": 9}
    assert scale.validity == defaults["validity"]


def test_a_factor_takes_the_place_of_a_constant_of_the_defaults(experiments: Path) -> None:
    defaults = {"constants": {"pause_s": 3}}
    changes = {"constants.pause_s": DELETE, "factors.pause_s": [0, 1]}
    scale = choose_profile(load(experiments, defaults, changes), "smoke")
    assert scale.factors["pause_s"] == [0, 1]
    assert "pause_s" not in scale.constants


@pytest.mark.parametrize(
    ("defaults", "message"),
    [
        ({"constants": {"siez": 1}}, r"defaults\.yml:2: constants\.siez.*did you mean 'size'"),
        ({"constants": {"size": 1}}, r"defaults\.yml:2: constants\.size: 1 .*at least 1000"),
        ({"experiment": "tiny"}, r"defaults\.yml:1: experiment: 'tiny'.*a known key"),
        (
            {"validity": {"utilization": [2, 1]}},
            r"defaults\.yml:2: validity\.utilization.*low <= high",
        ),
    ],
)
def test_wrong_defaults_are_refused_where_they_are(
    experiments: Path, defaults: dict, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        load(experiments, defaults, {})


def test_defaults_are_no_experiment(experiments: Path) -> None:
    (experiments / "tests" / "defaults.yml").write_text("constants: {}\n")
    assert [path.name for path in experiment_files(experiments)] == ["tiny.yml"]
    with pytest.raises(TurntableError, match=r"known: tests/tiny\.yml$"):
        load_experiment(experiments / "tests" / "none.yml")


def test_precision_repeats_rounds_up_to_a_number(experiments: Path) -> None:
    wanted = {"precision": {"rate": 0.02}, "max_rounds": 20}
    scale = choose_profile(load(experiments, {}, wanted), "smoke")
    assert (scale.rounds, scale.precision) == (20, {"rate": 0.02})
    assert apply_overrides(scale, ExtraVars({"rounds": 2})).rounds == 2
    assert apply_overrides(scale, ExtraVars({"rounds": 2})).precision == {}


@pytest.mark.parametrize("rounds", [{}, {"max_rounds": 2}])
def test_precision_needs_three_rounds(experiments: Path, rounds: dict) -> None:
    experiment = load(experiments, {}, {"precision": {"rate": 0.02}} | rounds)
    with pytest.raises(InputError, match=r"max_rounds.*at least 3"):
        choose_profile(experiment, "smoke")

"""Experiment files: what is accepted; errors name file, key, value and expectation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from turntable_core.errors import InputError, TurntableError
from turntable_core.spec import choose_profile, load_experiment

from .conftest import DELETE, DOCUMENT, REPOSITORY, changed, write_experiment

SHIPPED = sorted((REPOSITORY / "experiments").glob("*/*.yml"))


@pytest.mark.parametrize("file", SHIPPED, ids=lambda path: path.stem)
def test_shipped_experiments_are_accepted(file: Path) -> None:
    experiment = load_experiment(file)
    for profile in experiment.document["profiles"]:
        choose_profile(experiment, profile)


BAD = {
    "unknown key": ("factor", ["x"], r"factor: \['x'\].*known key \(did you mean 'factors'\?\)"),
    "missing key": ("validity", DELETE, r"validity: None.*the key is missing"),
    "factor that is no list": ("factors.servers", 16, r"factors\.servers: 16.*expected a list"),
    "factor listed twice": ("factors.servers", [16, 16], r"factors\.servers"),
    "unknown factor": ("factors.server", [16], r"factors: server: \[16\].*did you mean 'servers'"),
    "level out of range": ("factors.servers", [17], r"servers: .*17.*one of 2, 4, 8, 16"),
    "unknown method": ("factors.method", ["netcache"], r"method: .*'netcache'.*one of nocache"),
    "unknown workload": (
        "factors.workload",
        ["workloade"],
        r"workload: .*'workloade'.*one of workloada",
    ),
    "unknown constant": ("constants.record", 5, r"constants: record: 5.*did you mean 'records'"),
    "wrong type": ("constants.records", "many", r"records: .*'many'.*expected an integer"),
    "theta of 1": (
        "constants.theta",
        1,
        r"theta: .*1 is not accepted; expected a number more than 0 and less than 1",
    ),
    "value too long": ("constants.value_bytes", 129, r"value_bytes: .*129.*at most 128"),
    "by without values": ("constants.measure_s", {"by": "servers"}, r"values: None.*missing"),
    "bad value behind by": (
        "constants.operations.otherwise",
        3,
        r"operations: .*3 .*at least 1000",
    ),
    "deadline of zero": ("deadlines.load", 0, r"deadlines\.load: 0.*more than 0"),
    "deadline missing": ("deadlines.load", DELETE, r"deadlines: load: None"),
    "unknown rule": (
        "validity.retry_max",
        1,
        r"validity: retry_max: 1.*did you mean 'retries_max'",
    ),
    "rounds missing": ("profiles.smoke.rounds", DELETE, r"profiles\.smoke\.rounds: None"),
    "no rounds": ("profiles.smoke.rounds", 0, r"rounds: 0.*at least 1"),
    "unknown system": ("system", "netclone", r"system: 'netclone'.*one of"),
    "name with a slash": ("experiment", "a/b", r"experiment: 'a/b'"),
}


@pytest.mark.parametrize(("path", "value", "message"), BAD.values(), ids=BAD.keys())
def test_bad_values_are_named(experiments: Path, path: str, value: object, message: str) -> None:
    file = write_experiment(experiments, changed(path, value))
    with pytest.raises(InputError, match=message) as caught:
        load_experiment(file)
    assert str(file) in str(caught.value)


def test_broken_yaml_is_an_error_with_its_line(experiments: Path) -> None:
    file = experiments / "tests" / "tiny.yml"
    file.write_text("experiment: [tiny\n", encoding="utf-8")
    with pytest.raises(TurntableError, match=r"tiny\.yml: not valid YAML(.|\n)*line 2"):
        load_experiment(file)


def test_missing_file_lists_what_there_is(experiments: Path) -> None:
    with pytest.raises(
        TurntableError,
        match=r"no such experiment \(did you mean 'tiny\.yml'\?\); known: tests/tiny\.yml",
    ):
        load_experiment(experiments / "tests" / "tyni.yml")


def test_unknown_profile_suggests_one(experiments: Path) -> None:
    experiment = load_experiment(experiments / "tests" / "tiny.yml")
    with pytest.raises(
        InputError, match=re.escape("one of smoke, unfinished (did you mean 'smoke'?)")
    ):
        choose_profile(experiment, "smok")


def test_profile_replaces_constants_and_keeps_the_rest(experiments: Path) -> None:
    scale = choose_profile(load_experiment(experiments / "tests" / "tiny.yml"), "smoke")
    assert (scale.rounds, scale.constants["measure_s"]) == (2, 1)
    assert scale.constants["theta"] == DOCUMENT["constants"]["theta"]

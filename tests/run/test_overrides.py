"""Extra variables: texts become typed levels and constants, and nothing unknown passes."""

from __future__ import annotations

import pytest

from turntable_core.errors import InputError
from turntable_core.overrides import apply_overrides, read_options
from turntable_core.spec import Scale


def override(scale: Scale, **extra_vars: object) -> Scale:
    return apply_overrides(scale, extra_vars, lambda name: name.startswith("turntable_"))


def test_texts_of_the_command_line_become_typed_values(scale: Scale) -> None:
    changed = override(
        scale,
        servers="32",
        workload="workloada, workloadf",
        theta="0.9",
        rounds="3",
        capacity_ops_per_s="0",
        measure_s="4",
    )
    assert changed.factors == {
        "method": ["nocache"],
        "workload": ["workloada", "workloadf"],
        "servers": [32],
    }
    assert changed.rounds == 3
    assert {
        name: changed.constants[name] for name in ("theta", "capacity_ops_per_s", "measure_s")
    } == {
        "theta": 0.9,
        "capacity_ops_per_s": 0,
        "measure_s": 4,
    }


def test_typed_values_of_a_vars_file_are_taken_as_they_are(scale: Scale) -> None:
    changed = override(scale, servers=[16, 32], theta=0.5)
    assert (changed.factors["servers"], changed.constants["theta"]) == ([16, 32], 0.5)


def test_a_constant_by_factor_is_replaced_by_one_value(scale: Scale) -> None:
    assert override(scale, operations="3000").constants["operations"] == 3000


def test_nothing_given_changes_nothing(scale: Scale) -> None:
    assert override(scale) == scale


def test_names_of_the_testbed_are_left_alone(scale: Scale) -> None:
    assert override(scale, turntable_testbed_id="x") == scale


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("worload", "workloada", r"worload: 'workloada'.*did you mean 'workload'"),
        ("measure_seconds", "4", r"measure_seconds.*did you mean 'measure_s'"),
        ("servers", "17", r"servers: .*17.*one of 2, 4"),
        ("servers", "sixteen", r"servers: 'sixteen'.*one of 2, 4"),
        ("servers", "16,16", r"servers: '16,16'.*each of them once"),
        ("servers", "", r"servers: ''"),
        ("workload", "workloadz", r"workload: .*'workloadz'"),
        ("method", "farreach", r"method: .*'farreach'.*one of nocache"),
        ("theta", "1.5", r"theta: .*1\.5.*less than 1"),
        ("theta", "high", r"theta: 'high'.*a number"),
        ("records", "1e9", r"records: '1e9'.*an integer"),
        ("records", "10.5", r"records: '10\.5'.*an integer"),
        ("capacity_ops_per_s", "-1", r"capacity_ops_per_s: .*-1.*at least 0"),
        ("measure_s", "0", r"measure_s: .*0.*at least 0\.1"),
        ("rounds", "0", r"rounds: .*0.*at least 1"),
        ("validity", "{}", r"validity.*a factor, constant or option"),
        ("fail_on_invalid", "perhaps", r"fail_on_invalid: 'perhaps'.*"),
        ("run", "../elsewhere", r"run: .*'\.\./elsewhere'"),
    ],
)
def test_bad_extra_variables_are_named(
    scale: Scale, name: str, value: object, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        override(scale, **{name: value})


def test_options_have_types_and_defaults() -> None:
    options = read_options(
        {"fail_on_invalid": "no", "run": "20261120-a", "profile": "smoke", "theta": "0.9"}
    )
    assert (options.fail_on_invalid, options.run, options.profile) == (False, "20261120-a", "smoke")
    assert read_options({}).fail_on_invalid is True

"""Extra variables: texts become typed levels and constants. Refused ones: bad_experiments.yml."""

from __future__ import annotations

import pytest

from turntable_core.errors import InputError
from turntable_core.overrides import ExtraVars, apply_overrides, read_options
from turntable_core.plan import cells_of
from turntable_core.spec import Scale


def override(scale: Scale, **extra_vars: object) -> Scale:
    return apply_overrides(scale, ExtraVars(extra_vars))


def test_texts_of_the_command_line_become_typed_values(scale: Scale) -> None:
    changed = override(
        scale,
        stations="32",
        load="light, steady",
        share="0.9",
        rounds="3",
        limit_per_s="0",
        measure_s="4",
    )
    assert changed.factors == {
        "method": ["plain"],
        "load": ["light", "steady"],
        "stations": [32],
    }
    assert changed.rounds == 3
    assert {name: changed.constants[name] for name in ("share", "limit_per_s", "measure_s")} == {
        "share": 0.9,
        "limit_per_s": 0,
        "measure_s": 4,
    }


def test_typed_values_of_a_vars_file_are_taken_as_they_are(scale: Scale) -> None:
    changed = override(scale, stations=[16, 32], share=0.5)
    assert (changed.factors["stations"], changed.constants["share"]) == ([16, 32], 0.5)


@pytest.mark.parametrize("size", ["1e6", "1000000.0", "1_000_000", 1e6, 1_000_000])
def test_a_whole_number_is_one_however_it_is_written(scale: Scale, size: object) -> None:
    changed = override(scale, size=size, measure_s="2.0", stations=[16.0])
    made = cells_of(changed)[0].parameters
    assert [(made[name], type(made[name])) for name in ("size", "measure_s", "stations")] == [
        (1_000_000, int), (2, int), (16, int),
    ]  # fmt: skip
    assert cells_of(changed) == cells_of(
        override(scale, size="1000000", measure_s="2", stations="16")
    )


def test_a_constant_by_factor_is_replaced_by_one_value(scale: Scale) -> None:
    assert override(scale, operations="3000").constants["operations"] == 3000


def test_nothing_given_changes_nothing(scale: Scale) -> None:
    assert override(scale) == scale


def test_names_of_the_testbed_are_left_alone(scale: Scale) -> None:
    assert override(scale, turntable_testbed_id="x") == scale


def test_options_have_types_and_defaults() -> None:
    given = {"fail_on_invalid": "no", "run": "20261120-a", "profile": "smoke", "share": "0.9"}
    options = read_options(ExtraVars(given))
    assert (options.fail_on_invalid, options.run, options.profile) == (False, "20261120-a", "smoke")
    assert read_options(ExtraVars({})).fail_on_invalid is True


def test_a_continued_run_keeps_what_it_was_begun_with() -> None:
    earlier = {"profile": "smoke", "rounds": "3", "share": "0.9", "run": "a"}
    steering = {"max_attempts": "9", "fail_on_invalid": "no", "turntable_testbed_id": "x"}
    merged = ExtraVars({"run": "a", "share": "0.8"}).on_top_of(earlier | steering)
    assert merged.values == {"profile": "smoke", "rounds": "3", "share": "0.8", "run": "a"}


def test_an_unknown_name_is_told_what_was_meant_or_else_all_there_are(scale: Scale) -> None:
    with pytest.raises(InputError) as close:
        override(scale, staions="16")
    assert "(did you mean 'stations'?); --check shows them" in str(close.value)
    assert "known:" not in str(close.value)
    with pytest.raises(InputError) as far:
        override(scale, zzz="16")
    assert "; known: " in str(far.value) and ", stations, " in str(far.value)

"""Extra variables -> run options and parameter overrides; anything unknown is refused by name.

`-e workload=workloada,workloadc -e theta=0.9` gives texts, `-e '{"servers": [16, 32]}'` gives typed
values: both are accepted and end up with the type of the parameter's schema.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from turntable_core.errors import InputError, did_you_mean
from turntable_core.spec import Scale, check, describe

WHERE = "extra variable"

# Extra variables that steer a run rather than set a parameter.
RUN_OPTIONS: Mapping[str, tuple[Mapping[str, Any], Any]] = {
    "profile": ({"type": "string", "description": "scale of the run"}, "embedded"),
    "run": (
        {
            "type": "string",
            "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$",
            "description": "name of the run; an existing one is continued",
        },
        None,
    ),
    "fail_on_invalid": (
        {"type": "boolean", "description": "end with an error when a verdict is invalid"},
        True,
    ),
    "max_attempts": (
        {"type": "integer", "minimum": 1, "maximum": 10, "description": "tries per iteration"},
        2,
    ),
    "rounds": (
        {"type": "integer", "minimum": 1, "maximum": 1000, "description": "repetitions of a cell"},
        None,
    ),
}


@dataclass(frozen=True)
class RunOptions:
    profile: str
    run: str | None
    fail_on_invalid: bool
    max_attempts: int
    rounds: int | None


def read_options(extra_vars: Mapping[str, Any]) -> RunOptions:
    """The run options among the extra variables, typed and checked."""
    values = {}
    for name, (schema, default) in RUN_OPTIONS.items():
        if name in extra_vars:
            values[name] = _typed(name, extra_vars[name], schema)
            check(values[name], schema, WHERE, root=name)
        else:
            values[name] = default
    return RunOptions(**values)


def apply_overrides(
    scale: Scale, extra_vars: Mapping[str, Any], is_testbed_variable: Callable[[str], bool]
) -> Scale:
    """`scale` with every factor and constant named by an extra variable replaced.

    is_testbed_variable: says whether a name belongs to Ansible or to the inventory; those are none
    of ours.
    """
    schemas = scale.experiment.parameter_schemas
    factors, constants = dict(scale.factors), dict(scale.constants)
    for name, value in extra_vars.items():
        if name in RUN_OPTIONS or is_testbed_variable(name):
            continue
        if name not in schemas:
            known = [*schemas, *RUN_OPTIONS]
            hint = f"{did_you_mean(name, known)}; known: {', '.join(known)}"
            expected = f"a factor, constant or option of {scale.experiment.id}{hint}"
            raise InputError(WHERE, name, value, expected)
        if name in factors:
            factors[name] = _levels(name, value, schemas[name])
        else:
            constants[name] = _checked(name, value, schemas[name])
    options = read_options(extra_vars)
    return replace(
        scale, factors=factors, constants=constants, rounds=options.rounds or scale.rounds
    )


def _levels(name: str, value: Any, schema: Mapping[str, Any]) -> list[Any]:
    items = (
        value
        if isinstance(value, list)
        else [part.strip() for part in value.split(",")]
        if isinstance(value, str)
        else [value]
    )
    levels = [_checked(name, item, schema) for item in items]
    if not levels or len(set(levels)) != len(levels):
        raise InputError(WHERE, name, value, "at least one level, each of them once")
    return levels


def _checked(name: str, value: Any, schema: Mapping[str, Any]) -> Any:
    typed = _typed(name, value, schema)
    check(typed, schema, WHERE, root=name)
    return typed


def _typed(name: str, value: Any, schema: Mapping[str, Any]) -> Any:
    """A text turned into the schema's type; other values stay as they are (the check follows)."""
    if not isinstance(value, str):
        return value
    try:
        return _CONVERSIONS[_kind(schema)](value)
    except (ValueError, KeyError):
        raise InputError(WHERE, name, value, describe(schema)) from None


def _kind(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "integer" if all(isinstance(level, int) for level in schema["enum"]) else "string"
    return schema["type"]


def _number(text: str) -> int | float:
    number = float(text)
    return int(number) if number.is_integer() and "." not in text else number


_CONVERSIONS: Mapping[str, Callable[[str], Any]] = {
    "integer": int,
    "number": _number,
    "string": str,
    "boolean": lambda text: {"true": True, "yes": True, "false": False, "no": False}[text.lower()],
}

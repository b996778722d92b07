"""Extra variables -> run options and parameter overrides; anything unknown is refused by name.

`-e method=one,other -e rate=0.9` gives texts, `-e '{"method": ["one", "other"]}'` gives typed
values: both are accepted and end up with the type of the parameter's schema.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from turntable_core.errors import InputError, did_you_mean
from turntable_core.plan import whole
from turntable_core.schema_check import check, describe
from turntable_core.spec import Scale

WHERE = "extra variable"

# Variables of Ansible and of the inventory, which have their own checks.
TESTBED_PREFIXES = ("ansible_", "turntable_")

# Extra variables that steer a run rather than set a parameter.
RUN_OPTIONS: Mapping[str, tuple[Mapping[str, Any], Any]] = {
    "profile": ({"type": "string", "minLength": 1, "description": "scale of the run"}, None),
    "run": (
        {
            "type": "string",
            "pattern": r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}(?!\n)$",
            "description": "name of the run: letters, digits, `.`, `_` and `-`",
        },
        None,
    ),
    "only": ({"type": "string", "description": "what to measure again, such as iteration=0"}, None),
    "fail_on_invalid": (
        {"type": "boolean", "description": "end with an error when a verdict is invalid"},
        True,
    ),
    "max_attempts": (
        {"type": "integer", "minimum": 1, "maximum": 10, "description": "tries per iteration"},
        2,
    ),
    "repeats": (
        {
            "type": "integer",
            "minimum": 0,
            "maximum": 10,
            "description": "times that an iteration is measured again which the machine disturbed",
        },
        2,
    ),
    "long": (
        {"type": "boolean", "description": "begin even if it takes hours or much disk"},
        False,
    ),
    "share_rounds": (
        {
            "type": "boolean",
            "description": "take over what another experiment's run of this name has measured",
        },
        None,
    ),
    "rounds": (
        {"type": "integer", "minimum": 1, "maximum": 1000, "description": "repetitions of a cell"},
        None,
    ),
}

# What Ansible calls a word of -e without `=`.
NAMELESS = "_raw_params"

# Options that say what is measured: a run that is continued keeps them.
_KEPT = ("profile", "rounds", "long", "share_rounds")
DEFAULT_PROFILE = "embedded"


@dataclass(frozen=True)
class ExtraVars:
    """The extra variables of a play; `places` says of some which file and line they are from."""

    values: Mapping[str, Any]
    places: Mapping[str, str] = field(default_factory=dict)

    def where(self, name: str) -> str:
        return self.places.get(name) or WHERE

    def with_defaults(self, values: Mapping[str, Any]) -> ExtraVars:
        """With those of `values` that were not given."""
        return replace(self, values={**values, **self.values})

    def on_top_of(self, earlier: Mapping[str, Any]) -> ExtraVars:
        """With what `earlier` ones chose for the same run, where these say nothing."""
        kept = {
            name: value
            for name, value in earlier.items()
            if name in _KEPT or (name not in RUN_OPTIONS and not name.startswith(TESTBED_PREFIXES))
        }
        return replace(self, values={**kept, **self.values})


@dataclass(frozen=True)
class RunOptions:
    profile: str | None
    run: str | None
    only: str | None
    fail_on_invalid: bool
    max_attempts: int
    repeats: int
    long: bool
    share_rounds: bool | None  # None: as the playbook has it
    rounds: int | None


def read_options(extra: ExtraVars) -> RunOptions:
    """The run options among the extra variables, typed and checked."""
    values = {name: default for name, (_, default) in RUN_OPTIONS.items()}
    for name in RUN_OPTIONS.keys() & extra.values.keys():
        values[name] = _checked(extra, name, extra.values[name], RUN_OPTIONS[name][0])
    return RunOptions(**values)


def apply_overrides(scale: Scale, extra: ExtraVars) -> Scale:
    """`scale` with every factor and constant named by an extra variable replaced."""
    schemas = scale.experiment.parameter_schemas
    factors, constants, origins = dict(scale.factors), dict(scale.constants), dict(scale.origins)
    for name, value in _by_first_names(extra, schemas).items():
        if name in RUN_OPTIONS or name.startswith(TESTBED_PREFIXES):
            continue
        if name == NAMELESS:
            expected = "NAME=VALUE, such as -e profile=smoke; of several in one -e, all"
            raise InputError(extra.where(name), "-e", value, expected)
        if name not in schemas:
            known = [*schemas, *RUN_OPTIONS]
            hint = did_you_mean(name, known) or f"; known: {', '.join(known)}"
            expected = (
                f"a factor, constant or option of {scale.experiment.id}{hint}; "
                "--check shows them in the plan"
            )
            raise InputError(extra.where(name), name, value, expected)
        if name in factors:
            factors[name] = _levels(extra, name, value, schemas[name])
        else:
            constants[name] = _checked(extra, name, _one(extra, name, value), schemas[name])
        origins[name] = extra.where(name)
    scale = replace(scale, factors=factors, constants=constants, origins=origins)
    rounds = read_options(extra).rounds
    # So many, whatever is known after fewer.
    return replace(scale, rounds=rounds, precision={}) if rounds else scale


def _by_first_names(extra: ExtraVars, schemas: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Parameters may have other names in their schema; the values by the first one of each."""
    others = {
        other: name for name, schema in schemas.items() for other in schema.get("other_names", ())
    }
    values: dict[str, Any] = {}
    for given, value in extra.values.items():
        name = others.get(given, given)
        if name in values:
            raise InputError(extra.where(given), given, value, f"not beside {name}: it is the same")
        values[name] = value
    return values


def _one(extra: ExtraVars, name: str, value: Any) -> Any:
    if isinstance(value, list) or (isinstance(value, str) and "," in value):
        expected = (
            "one value: it is a constant here, only factors have several levels. Where a value is "
            "a list, its parts are joined with +"
        )
        raise InputError(extra.where(name), name, value, expected)
    return value


def _levels(extra: ExtraVars, name: str, value: Any, schema: Mapping[str, Any]) -> list[Any]:
    items = (
        value
        if isinstance(value, list)
        else [part.strip() for part in value.split(",")]
        if isinstance(value, str)
        else [value]
    )
    levels = [_checked(extra, name, item, schema) for item in items]
    if not levels or len(set(levels)) != len(levels):
        raise InputError(extra.where(name), name, value, "at least one level, each of them once")
    return levels


def _checked(extra: ExtraVars, name: str, value: Any, schema: Mapping[str, Any]) -> Any:
    try:
        typed = _typed(value, schema)
    except (ValueError, KeyError):
        raise InputError(extra.where(name), name, value, describe(schema)) from None
    if isinstance(typed, float) and not math.isfinite(typed):
        raise InputError(extra.where(name), name, value, describe(schema))
    typed = whole(typed)
    check(typed, schema, lambda _: extra.where(name), (name,))
    return typed


def _typed(value: Any, schema: Mapping[str, Any]) -> Any:
    """A text turned into the schema's type; other values stay as they are (the check follows).

    An alias that the schema has for a level is that level.
    """
    value = schema.get("aliases", {}).get(value, value) if isinstance(value, str) else value
    return _CONVERSIONS[_kind(schema)](value) if isinstance(value, str) else value


def _kind(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "integer" if all(isinstance(level, int) for level in schema["enum"]) else "string"
    return schema["type"]


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _integer(text: str) -> int | float:
    number = _number(text)
    if not isinstance(number, int) and not number.is_integer():
        raise ValueError(text)
    return number


_CONVERSIONS: Mapping[str, Callable[[str], Any]] = {
    "integer": _integer,
    "number": _number,
    "string": str,
    "boolean": lambda text: {"true": True, "yes": True, "false": False, "no": False}[text.lower()],
}

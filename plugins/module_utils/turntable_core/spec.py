"""Reading an experiment: YAML -> checked Experiment -> one profile with overrides.

Shapes are in experiments/schema/: experiment.schema.json for every experiment, <system>.schema.json
for the parameters, deadlines and validity rules of one system.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator

from turntable_core.errors import InputError, TurntableError, did_you_mean


@dataclass(frozen=True)
class Experiment:
    """An experiment file as written; `file` is what messages quote."""

    file: Path
    document: Mapping[str, Any]

    @property
    def id(self) -> str:
        return self.document["experiment"]

    @property
    def system(self) -> str:
        return self.document["system"]

    @property
    def directory(self) -> Path:
        """experiments/, which holds the systems' directories, schema/ and reference/."""
        return self.file.parent.parent

    @cached_property
    def system_schema(self) -> Mapping[str, Any]:
        return _read_schema(self.directory / "schema" / f"{self.system}.schema.json", self.file)

    @property
    def parameter_schemas(self) -> Mapping[str, Mapping[str, Any]]:
        """Name -> JSON schema of every parameter the system knows."""
        return self.system_schema["$defs"]["parameters"]["properties"]


@dataclass(frozen=True)
class Scale:
    """An experiment at one profile, overrides applied: what the plan is made from."""

    experiment: Experiment
    profile: str
    rounds: int
    factors: Mapping[str, list[Any]]
    constants: Mapping[str, Any]
    deadlines: Mapping[str, float]
    validity: Mapping[str, Any]


def load_experiment(file: Path) -> Experiment:
    """Reads and checks an experiment file, without choosing a profile."""
    try:
        document = yaml.safe_load(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        known = sorted(file.parent.parent.glob("*/*.yml"))
        names = ", ".join(str(path.relative_to(file.parent.parent)) for path in known)
        hint = did_you_mean(file.name, [path.name for path in known])
        raise TurntableError(f"{file}: no such experiment{hint}; known: {names}") from None
    except yaml.YAMLError as error:
        raise TurntableError(f"{file}: not valid YAML: {error}") from None
    check(
        document,
        _read_schema(file.parent.parent / "schema" / "experiment.schema.json", file),
        str(file),
    )
    experiment = Experiment(file, document)
    definitions = experiment.system_schema["$defs"]
    check(document["validity"], definitions["validity"], f"{file}: validity")
    check(document["deadlines"], definitions["deadlines"], f"{file}: deadlines")
    for where, part in _parts(document):
        _check_parameters(experiment, f"{file}: {where}", part)
    return experiment


def choose_profile(experiment: Experiment, profile: str) -> Scale:
    """The experiment at one profile, before overrides."""
    profiles = experiment.document["profiles"]
    if profile not in profiles:
        expected = f"one of {', '.join(profiles)}{did_you_mean(str(profile), profiles)}"
        raise InputError(str(experiment.file), "profile", profile, expected)
    chosen = profiles[profile]
    document = experiment.document
    return Scale(
        experiment=experiment,
        profile=profile,
        rounds=chosen["rounds"],
        factors={**document["factors"], **chosen.get("factors", {})},
        constants={**document["constants"], **chosen.get("constants", {})},
        deadlines={**document["deadlines"], **chosen.get("deadlines", {})},
        validity=document["validity"],
    )


def check(
    value: Any, schema: Mapping[str, Any], where: str, root: str = "(whole document)"
) -> None:
    """Raises InputError for the first (in document order) violation of `schema`.

    `root` is what a message calls `value` itself.
    """
    errors = sorted(
        Draft202012Validator(schema).iter_errors(value),
        key=lambda error: [str(p) for p in error.absolute_path],
    )
    if not errors:
        return
    error = errors[0]
    path = ".".join(str(part) for part in error.absolute_path)
    if error.validator == "additionalProperties" and isinstance(error.schema, Mapping):
        known = error.schema.get("properties", {})
        unknown = next(key for key in error.instance if key not in known)
        raise InputError(
            where,
            f"{path}.{unknown}".lstrip("."),
            error.instance[unknown],
            f"a known key{did_you_mean(unknown, known)}; known: {', '.join(known)}",
        )
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        raise InputError(
            where, f"{path}.{missing}".lstrip("."), None, "a value: the key is missing"
        )
    raise InputError(where, path or root, error.instance, describe(error.schema))


def describe(schema: Mapping[str, Any]) -> str:
    """What a value has to look like, in words."""
    if "enum" in schema:
        text = "one of " + ", ".join(str(level) for level in schema["enum"])
    else:
        bounds = [
            f"{words} {schema[key]}"
            for key, words in (
                ("minimum", "at least"),
                ("exclusiveMinimum", "more than"),
                ("maximum", "at most"),
                ("exclusiveMaximum", "less than"),
                ("minItems", "at least that many items:"),
                ("pattern", "matching"),
                ("minLength", "length at least"),
            )
            if key in schema
        ]
        kind = {
            "integer": "an integer",
            "number": "a number",
            "string": "a text",
            "object": "a mapping",
            "array": "a list",
        }.get(str(schema.get("type")), "a valid value")
        text = " ".join([kind, " and ".join(bounds)]).strip()
    return f"{text} ({schema['description']})" if "description" in schema else text


def _parts(document: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    parts = [("", document)]
    parts += [(f"profiles.{name}.", profile) for name, profile in document["profiles"].items()]
    return [
        (f"{prefix}{kind}", part[kind])
        for prefix, part in parts
        for kind in ("factors", "constants")
        if kind in part
    ]


def _check_parameters(experiment: Experiment, where: str, values: Mapping[str, Any]) -> None:
    schemas = experiment.parameter_schemas
    for name, value in values.items():
        if name not in schemas:
            raise InputError(
                where,
                name,
                value,
                f"a parameter of system {experiment.system}{did_you_mean(name, schemas)}",
            )
        for level in levels_of(value):
            check(level, schemas[name], f"{where}: {name}")


def levels_of(value: Any) -> list[Any]:
    """Every value that a factor or a constant can take.

    A list's items, the values of a by-factor mapping, or the value itself.
    """
    if isinstance(value, list):
        return value
    if isinstance(value, Mapping):
        return [*value["values"].values(), *([value["otherwise"]] if "otherwise" in value else [])]
    return [value]


def _read_schema(path: Path, file: Path) -> Mapping[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        known = sorted(
            p.name.removesuffix(".schema.json") for p in path.parent.glob("*.schema.json")
        )
        name = path.name.removesuffix(".schema.json")
        raise InputError(str(file), "system", name, f"one of {', '.join(known)}") from None

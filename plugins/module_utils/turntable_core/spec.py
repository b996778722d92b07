"""Reading an experiment: YAML -> checked Experiment -> one profile with overrides.

Shapes are in experiments/schema/: experiment.schema.json for every experiment, <system>.schema.json
for the parameters, deadlines and validity rules of one system.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from turntable_core.errors import MISSING, InputError, TurntableError, did_you_mean
from turntable_core.yaml_document import KeyPath, YamlDocument, read_yaml


@dataclass(frozen=True)
class Experiment:
    """An experiment file as written; messages quote its lines."""

    source: YamlDocument

    @property
    def file(self) -> Path:
        return self.source.file

    @property
    def document(self) -> Mapping[str, Any]:
        return self.source.value

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
        return _read_schema(self.directory / "schema" / f"{self.system}.schema.json", self.source)

    @property
    def parameter_schemas(self) -> Mapping[str, Mapping[str, Any]]:
        """Name -> JSON schema of every parameter the system knows."""
        return self.system_schema["$defs"]["parameters"]["properties"]


@dataclass(frozen=True)
class Scale:
    """An experiment at one profile, overrides applied: what the plan is made from.

    `origins` says for every factor and constant where its value was given, for messages.
    """

    experiment: Experiment
    profile: str
    rounds: int
    factors: Mapping[str, list[Any]]
    constants: Mapping[str, Any]
    deadlines: Mapping[str, float]
    validity: Mapping[str, Any]
    origins: Mapping[str, str]


def load_experiment(file: Path) -> Experiment:
    """Reads and checks an experiment file, without choosing a profile."""
    try:
        source = read_yaml(file)
    except FileNotFoundError:
        known = sorted(file.parent.parent.glob("*/*.yml"))
        names = ", ".join(str(path.relative_to(file.parent.parent)) for path in known)
        hint = did_you_mean(file.name, [path.name for path in known])
        raise TurntableError(f"{file}: no such experiment{hint}; known: {names}") from None
    except OSError as error:
        raise TurntableError(f"{file}: cannot be read: {error.strerror}") from None
    experiment = Experiment(source)
    check(source.value, _experiment_schema(file), source.where)
    definitions = experiment.system_schema["$defs"]
    for part in ("validity", "deadlines"):
        check(source.value[part], definitions[part], source.where, (part,))
    _check_ranges(source)
    for path, values in _parts(source.value):
        _check_parameters(experiment, path, values)
    return experiment


def choose_profile(experiment: Experiment, profile: str) -> Scale:
    """The experiment at one profile, before overrides."""
    document, where = experiment.document, experiment.source.where
    profiles = document["profiles"]
    if profile not in profiles:
        expected = f"one of {', '.join(profiles)}{did_you_mean(profile, profiles)}"
        raise InputError(where(("profiles",)), "profile", profile, expected)
    chosen = profiles[profile]
    factors = {**document["factors"], **chosen.get("factors", {})}
    constants = {**document["constants"], **chosen.get("constants", {})}
    origins = {
        name: where((*path, name))
        for path, values in _parts(document)
        if path[0] != "profiles" or path[1] == profile
        for name in values
    }
    return Scale(
        experiment=experiment,
        profile=profile,
        rounds=chosen["rounds"],
        factors=factors,
        constants={name: value for name, value in constants.items() if name not in factors},
        deadlines={**document["deadlines"], **chosen.get("deadlines", {})},
        validity=document["validity"],
        origins=origins,
    )


def check(
    value: Any,
    schema: Mapping[str, Any],
    where: Callable[[KeyPath], str],
    root: KeyPath = (),
) -> None:
    """Raises InputError for the first (by name) violation of `schema`.

    root: the path of `value` itself; where: says in which file and line a path is.
    """
    errors = sorted(
        Draft202012Validator(schema).iter_errors(value),
        key=lambda error: [str(p) for p in error.absolute_path],
    )
    if not errors:
        return
    error, path = errors[0], (*root, *errors[0].absolute_path)
    if error.validator == "additionalProperties" and isinstance(error.schema, Mapping):
        known = error.schema.get("properties", {})
        unknown = next(key for key in error.instance if key not in known)
        here = (*path, unknown)
        expected = f"a known key{did_you_mean(unknown, known)}; known: {', '.join(known)}"
        raise InputError(where(here), _name(here), error.instance[unknown], expected)
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        schema_of_missing = error.schema.get("properties", {}).get(missing, {})
        expected = describe(schema_of_missing)
        raise InputError(where(path), _name((*path, missing)), MISSING, expected)
    raise InputError(where(path), _name(path), error.instance, describe(error.schema))


def _name(path: KeyPath) -> str:
    return ".".join(str(part) for part in path) or "(whole document)"


def describe(schema: Mapping[str, Any]) -> str:
    """What a value has to look like, in words."""
    if "enum" in schema:
        text = "one of " + ", ".join(str(level) for level in schema["enum"])
    else:
        bounds = [
            words.format(schema[key])
            for key, words in (
                ("minimum", "at least {}"),
                ("exclusiveMinimum", "more than {}"),
                ("maximum", "at most {}"),
                ("exclusiveMaximum", "less than {}"),
                ("minItems", "of at least {} level(s)"),
                ("uniqueItems", "each of them once"),
                ("pattern", "matching {}"),
                ("minLength", "of at least {} character(s)"),
            )
            if key in schema
        ]
        kind = {
            "integer": "an integer",
            "number": "a number",
            "string": "a text",
            "boolean": "true or false",
            "object": "a mapping",
            "array": "a list",
        }.get(str(schema.get("type")), "a value")
        text = " ".join([kind, " and ".join(bounds)]).strip()
    return f"{text} ({schema['description']})" if "description" in schema else text


def levels_of(value: Any) -> list[Any]:
    """Every value that a factor or a constant can take.

    A list's items, the values of a by-factor mapping, or the value itself.
    """
    if isinstance(value, list):
        return value
    if isinstance(value, Mapping):
        return [*value["values"].values(), *([value["otherwise"]] if "otherwise" in value else [])]
    return [value]


def _parts(document: Mapping[str, Any]) -> list[tuple[KeyPath, Mapping[str, Any]]]:
    """Every place that gives parameters their values, those of profiles last."""
    parts = [((), document)]
    parts += [(("profiles", name), profile) for name, profile in document["profiles"].items()]
    return [
        ((*path, kind), part[kind])
        for path, part in parts
        for kind in ("factors", "constants")
        if kind in part
    ]


def _check_parameters(experiment: Experiment, path: KeyPath, values: Mapping[str, Any]) -> None:
    schemas, where = experiment.parameter_schemas, experiment.source.where
    for name, value in values.items():
        here = (*path, name)
        if name not in schemas:
            expected = f"a parameter of system {experiment.system}{did_you_mean(name, schemas)}"
            raise InputError(where(here), _name(here), value, expected)
        if path[-1] == "constants" and name in _factors(experiment.document, path):
            expected = f"no constant of this name: {name} is a factor"
            raise InputError(where(here), _name(here), value, expected)
        for level in levels_of(value):
            check(level, schemas[name], where, here)


def _factors(document: Mapping[str, Any], path: KeyPath) -> set[str]:
    """Names that constants at `path` may not have. A profile's factor replaces a constant."""
    in_profile = document["profiles"][path[1]] if path[0] == "profiles" else {}
    return {*document["factors"], *in_profile.get("factors", {})}


def _check_ranges(source: YamlDocument) -> None:
    """A validity rule that is a range: [low, high]."""
    for name, value in source.value["validity"].items():
        if isinstance(value, list) and len(value) == 2 and value[0] > value[1]:
            where = source.where(("validity", name))
            raise InputError(where, f"validity.{name}", value, "[low, high] with low <= high")


def _experiment_schema(file: Path) -> Mapping[str, Any]:
    path = file.parent.parent / "schema" / "experiment.schema.json"
    return json.loads(path.read_text(encoding="utf-8"))


def _read_schema(path: Path, source: YamlDocument) -> Mapping[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        known = sorted(
            p.name.removesuffix(".schema.json")
            for p in path.parent.glob("*.schema.json")
            if p.name != "experiment.schema.json"
        )
        name = path.name.removesuffix(".schema.json")
        expected = f"one of {', '.join(known)}"
        raise InputError(source.where(("system",)), "system", name, expected) from None

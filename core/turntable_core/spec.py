"""Reading an experiment: YAML -> checked Experiment -> one profile with overrides.

`defaults.yml` beside the experiments of a system has what they have in common: constants,
deadlines, validity rules, and the same by profile. An experiment says what it is about and what
differs; whatever it says, at any profile, goes before the defaults.

Shapes are in experiment.schema.json for every experiment, and in the system's own schema for its
parameters, deadlines and validity rules.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from turntable_core import systems, timeline
from turntable_core.errors import MISSING, InputError, TurntableError, did_you_mean
from turntable_core.plan_limits import LEAST_ROUNDS
from turntable_core.schema_check import check, name_of
from turntable_core.system import System
from turntable_core.timeline import Event
from turntable_core.yaml_document import KeyPath, YamlDocument, read_yaml

DEFAULTS = "defaults.yml"
_SCHEMA = Path(__file__).with_name("experiment.schema.json")


@dataclass(frozen=True)
class Experiment:
    """An experiment file as written, and its system's defaults; messages quote their lines."""

    source: YamlDocument
    defaults: YamlDocument | None

    @property
    def file(self) -> Path:
        return self.source.file

    @property
    def document(self) -> Mapping[str, Any]:
        """Of the experiment itself."""
        return self.source.value

    @property
    def id(self) -> str:
        return self.document["experiment"]

    @cached_property
    def system(self) -> System:
        name = self.document["system"]
        try:
            return systems.find(name)
        except systems.BrokenSystemError:
            raise
        except TurntableError:
            where = self.source.where(("system",))
            raise InputError(where, "system", name, systems.expected(name)) from None

    @property
    def directory(self) -> Path:
        """experiments/, which holds the systems' directories and reference/."""
        return self.file.parent.parent

    @cached_property
    def system_schema(self) -> Mapping[str, Any]:
        return json.loads(self.system.schema.read_text(encoding="utf-8"))

    @property
    def parameter_schemas(self) -> Mapping[str, Mapping[str, Any]]:
        """Name -> JSON schema of every parameter the system knows."""
        return self.system_schema["$defs"]["parameters"]["properties"]

    @property
    def profiles(self) -> list[str]:
        """Its own, or those of the defaults if it names none."""
        for source in self.sources[::-1]:
            if source.value.get("profiles"):
                return list(source.value["profiles"])
        return []

    @property
    def sources(self) -> list[YamlDocument]:
        """What comes later goes before what came earlier."""
        return [self.defaults, self.source] if self.defaults else [self.source]

    def layers(self, profile: str | None, part: str) -> Iterator[tuple[YamlDocument, KeyPath]]:
        """Every place that says something of `part` at this profile, the weakest first."""
        for source in self.sources:
            if part in source.value:
                yield source, (part,)
            if part in (source.value.get("profiles", {}).get(profile) or {}):
                yield source, ("profiles", profile, part)

    def values(self, profile: str | None, part: str) -> dict[str, Any]:
        """A part such as `deadlines` with all its layers, the weakest first."""
        merged: dict[str, Any] = {}
        for source, path in self.layers(profile, part):
            merged |= _at(source, path)
        return merged

    def where(self, profile: str | None, part: str, name: str) -> str:
        """`file:line` of the layer that decides; of the experiment if none has it."""
        found = self.source.where()
        for source, path in self.layers(profile, part):
            if name in _at(source, path):
                found = source.where((*path, name))
        return found


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
    timeline: tuple[Event, ...]
    precision: Mapping[str, float]  # column -> share of the mean; empty: all rounds are measured
    origins: Mapping[str, str]


def experiment_files(directory: Path) -> list[Path]:
    """Of all systems. directory: experiments/."""
    return sorted(path for path in directory.glob("*/*.yml") if path.name != DEFAULTS)


def load_experiment(file: Path) -> Experiment:
    """Reads and checks an experiment file, without choosing a profile."""
    try:
        source = read_yaml(file)
    except FileNotFoundError:
        known = experiment_files(file.parent.parent)
        names = ", ".join(str(path.relative_to(file.parent.parent)) for path in known)
        hint = did_you_mean(file.name, [path.name for path in known])
        raise TurntableError(f"{file}: no such experiment{hint}; known: {names}") from None
    except OSError as error:
        raise TurntableError(f"{file}: cannot be read: {error.strerror}") from None
    schema = json.loads(_SCHEMA.read_text(encoding="utf-8"))
    check(source.value, schema, source.where)
    defaults = file.with_name(DEFAULTS)
    experiment = Experiment(source, _read_defaults(defaults, schema) if defaults.exists() else None)
    for each in experiment.sources:
        _check_ranges(each)
        for path in _parts(each):
            _check_parameters(experiment, each, path)
    for profile in experiment.profiles:
        for part in ("validity", "deadlines"):
            _check_complete(experiment, profile, part)
    return experiment


def choose_profile(experiment: Experiment, profile: str) -> Scale:
    """The experiment at one profile, before overrides."""
    profiles = experiment.profiles
    if profile not in profiles:
        expected = f"one of {', '.join(profiles)}{did_you_mean(profile, profiles)}"
        raise InputError(experiment.source.where(("profiles",)), "profile", profile, expected)
    precision = experiment.values(profile, "precision")
    factors, constants = (experiment.values(profile, part) for part in ("factors", "constants"))
    origins = {
        name: experiment.where(profile, part, name)
        for part, values in (("constants", constants), ("factors", factors))
        for name in values
    }
    return Scale(
        experiment=experiment,
        profile=profile,
        rounds=_rounds(experiment, profile, precision),
        factors=factors,
        constants={name: value for name, value in constants.items() if name not in factors},
        deadlines=experiment.values(profile, "deadlines"),
        validity=experiment.values(profile, "validity"),
        timeline=_timeline(experiment, profile),
        precision=precision,
        origins=origins,
    )


def levels_of(value: Any) -> list[Any]:
    """Every value that a factor or a constant can take.

    A list's items, the values of a by-factor mapping, or the value itself.
    """
    if isinstance(value, list):
        return value
    if isinstance(value, Mapping):
        return [*value["values"].values(), *([value["otherwise"]] if "otherwise" in value else [])]
    return [value]


def _at(source: YamlDocument, path: Sequence[Any]) -> Any:
    value = source.value
    for key in path:
        value = value[key]
    return value


def _read_defaults(file: Path, schema: Mapping[str, Any]) -> YamlDocument:
    source = read_yaml(file)
    check(source.value, {**schema["$defs"]["defaults"], "$defs": schema["$defs"]}, source.where)
    return source


def _timeline(experiment: Experiment, profile: str) -> tuple[Event, ...]:
    """A profile's own takes the place of the experiment's."""
    layers = list(experiment.layers(profile, "timeline"))
    if not layers:
        return ()
    source, path = layers[-1]
    return timeline.read(_at(source, path), lambda index: source.where((*path, index)))


def _rounds(experiment: Experiment, profile: str, precision: Mapping[str, float]) -> int:
    """At most, if they are repeated until something is known precisely."""
    name, least = ("max_rounds", LEAST_ROUNDS) if precision else ("rounds", 1)
    layers = list(experiment.layers(profile, name))
    rounds = _at(*layers[-1]) if layers else MISSING
    if rounds is MISSING or rounds < least:
        where = experiment.source.where(("profiles", profile))
        raise InputError(where, name, rounds, f"repetitions of every cell, at least {least}")
    return rounds


def _parts(source: YamlDocument) -> list[KeyPath]:
    """Every place of one file that gives parameters their values, those of profiles last."""
    above: list[KeyPath] = [()]
    above += [("profiles", name) for name in source.value.get("profiles", {})]
    return [
        (*path, kind)
        for path in above
        for kind in ("factors", "constants")
        if kind in (_at(source, path) or {})
    ]


def _check_parameters(experiment: Experiment, source: YamlDocument, path: KeyPath) -> None:
    schemas, where = experiment.parameter_schemas, source.where
    for name, value in _at(source, path).items():
        here = (*path, name)
        if name not in schemas:
            system = experiment.system.name
            expected = f"a parameter of system {system}{did_you_mean(name, schemas)}"
            raise InputError(where(here), name_of(here), value, expected)
        if path[-1] == "constants" and name in _factors(source, path):
            expected = f"no constant of this name: {name} is a factor"
            raise InputError(where(here), name_of(here), value, expected)
        for level in levels_of(value):
            check(level, schemas[name], where, here)


def _factors(source: YamlDocument, path: KeyPath) -> set[str]:
    """Names that constants at `path` of the same file may not have. A profile's factor replaces a
    constant.
    """
    in_profile = _at(source, path[:2]) if path[0] == "profiles" else {}
    return {*source.value.get("factors", {}), *in_profile.get("factors", {})}


def _check_complete(experiment: Experiment, profile: str, part: str) -> None:
    """A part as it is with all its layers, against the system's schema."""

    def where(path: KeyPath) -> str:
        return experiment.where(profile, part, path[1]) if path[1:] else experiment.source.where()

    values = experiment.values(profile, part)
    check(values, experiment.system_schema["$defs"][part], where, (part,))


def _check_ranges(source: YamlDocument) -> None:
    """A validity rule that is a range: [low, high]."""
    for name, value in source.value.get("validity", {}).items():
        if isinstance(value, list) and len(value) == 2 and value[0] > value[1]:
            where = source.where(("validity", name))
            raise InputError(where, f"validity.{name}", value, "[low, high] with low <= high")

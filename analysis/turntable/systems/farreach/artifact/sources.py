"""Statistics files of a directory -> which files are of one cell and round."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from turntable.systems.farreach.artifact import names
from turntable.systems.farreach.artifact.description import FILE_NAME, Description
from turntable_core.errors import MISSING, InputError, TurntableError
from turntable_core.systems import find
from turntable_core.yaml_document import shortened
from turntable_systems.farreach import popularity

# What all experiments of the artifact have in common, unless import.yml says otherwise; see
# docs/import.md. It has no limit of a server's capacity.
_COMMON: Mapping[str, Any] = {
    "records": 100_000_000,
    "theta": 0.99,
    "value_bytes": 128,
    "cache_size": 10_000,
    "clients": 128,
    "snapshot_period_s": 10,
    "client_copies": True,
    "capacity_ops_per_s": 0,
    "measure_s": 10,
}
_DYNAMIC: Mapping[str, Any] = {
    "rotation": False,
    "admission": True,
    "hot_list": popularity.HOT_LIST,
    "keys_changed": popularity.KEYS_CHANGED,
}


@dataclass(frozen=True)
class Round:
    """Of a cell: a file per client machine, in their order."""

    parameters: Mapping[str, Any]
    index: int
    files: tuple[Path, ...]

    @property
    def in_seconds(self) -> bool:
        return popularity.is_played(self.parameters)


@dataclass(frozen=True)
class _Source:
    path: PurePosixPath  # below the directory
    parameters: Mapping[str, Any]
    client: int
    round: int | None  # None: by where it lies

    @property
    def cell(self) -> str:
        return json.dumps(self.parameters, sort_keys=True)

    @property
    def place(self) -> PurePosixPath:
        """Where the artifact's directories of statistics were copied to."""
        parent = self.path.parent
        return parent.parent if parent.name.endswith("-statistics") else parent


def paths_of(directory: Path, description: Description) -> list[PurePosixPath]:
    """Files named as the artifact does, or meant by the description."""
    found = (
        PurePosixPath(path.relative_to(directory))
        for path in directory.rglob("*")
        if path.is_file() and path.name != FILE_NAME
    )
    every = sorted(found, key=lambda path: _natural(str(path)))
    return [path for path in every if _is_meant(names.said_by(path) | description.of(path))]


def _is_meant(said: Mapping[str, Any]) -> bool:
    return {"method", "client"} <= said.keys()


def rounds_of(
    directory: Path, paths: Sequence[PurePosixPath], description: Description
) -> list[Round]:
    """Raises TurntableError for files of which too little is said, and for what is missing."""
    sources = [_source(directory, path, description) for path in paths]
    by_cell: dict[str, list[_Source]] = {}
    for source in sources:
        by_cell.setdefault(source.cell, []).append(source)
    return [
        round_
        for of_cell in by_cell.values()
        for round_ in _rounds(directory, of_cell, description.client_machines)
    ]


def _source(directory: Path, path: PurePosixPath, description: Description) -> _Source:
    said = names.said_by(path) | description.of(path)
    client, round_ = said.pop("client", None), said.pop("round", None)
    throttled = said.pop("throttled", False)
    where = shortened(directory / path)
    for name in ("method", "workload", "servers"):
        if name not in said:
            expected = f"a path that says it ({names.EXPECTED}), or `files` of import.yml"
            raise InputError(where, name, MISSING, expected)
    if client is None:
        raise InputError(where, "client", MISSING, "a path that says it, or `files` of import.yml")
    if throttled and "target_ops_per_s" not in said:
        expected = "`files` of import.yml: no file of the artifact says at which target it ran"
        raise InputError(where, "target_ops_per_s", MISSING, expected)
    return _Source(path, _parameters(where, said, description), client, round_)


def _parameters(where: str, said: dict[str, Any], description: Description) -> Mapping[str, Any]:
    dynamic = dict(_DYNAMIC) | {"measure_s": description.seconds} if "pattern" in said else {}
    system = find("farreach")
    schema = json.loads(system.schema.read_text(encoding="utf-8"))
    known = schema["$defs"]["parameters"]["properties"]
    for name in ("method", "workload", "servers"):
        if said[name] not in known[name]["enum"]:
            expected = "one of " + ", ".join(map(str, known[name]["enum"]))
            raise InputError(where, name, said[name], expected)
    parameters = dict(_COMMON) | dynamic | said
    without = system.meaningless(parameters)
    return {name: value for name, value in parameters.items() if name not in without}


def _rounds(directory: Path, sources: Sequence[_Source], machines: int) -> list[Round]:
    """Of one cell: by `round` of the description, or else one per place, in their order."""
    if len({source.round is None for source in sources}) > 1:
        unsaid = next(source for source in sources if source.round is None)
        expected = f"said of it too, as of other files of its cell ({sources[0].path.name})"
        raise InputError(shortened(directory / unsaid.path), "round", MISSING, expected)
    by_round: dict[Any, list[_Source]] = {}
    for source in sorted(sources, key=lambda source: _natural(str(source.place))):
        key = source.place if source.round is None else source.round
        by_round.setdefault(key, []).append(source)
    return [
        Round(
            parameters=here[0].parameters,
            index=key if isinstance(key, int) else counted,
            files=_files(directory, here, machines),
        )
        for counted, (key, here) in enumerate(by_round.items())
    ]


def _files(directory: Path, sources: Sequence[_Source], machines: int) -> tuple[Path, ...]:
    by_client: dict[int, _Source] = {}
    for source in sources:
        if source.client in by_client:
            raise TurntableError(
                f"{shortened(directory / source.path)}: client {source.client} of the same cell "
                f"and round as {by_client[source.client].path}; expected one file each: say in "
                "import.yml in which parameter or round they differ"
            )
        by_client[source.client] = source
    some = sources[0].path
    for client in range(machines):
        if client not in by_client:
            raise TurntableError(
                f"{shortened(directory / some)}: the file of client {client} is missing beside it; "
                f"expected one of each of {machines} client machines, for their counts are added "
                "(`client_machines` of import.yml says how many there were)"
            )
    if extra := sorted(set(by_client) - set(range(machines))):
        where = shortened(directory / by_client[extra[0]].path)
        raise InputError(
            where, "client", extra[0], f"clients 0 to {machines - 1} (client_machines)"
        )
    return tuple(directory / by_client[client].path for client in range(machines))


def _natural(text: str) -> list[tuple[int, str]]:
    """round-10 after round-9."""
    parts = re.split(r"(\d+)", text)
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]

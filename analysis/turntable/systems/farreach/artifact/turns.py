"""Statistics files of a cell's round -> a turn, and the raw files of its iterations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from turntable.imported import ImportedIteration, ImportedTurn
from turntable.systems.farreach.artifact import answers
from turntable.systems.farreach.artifact.sources import Round
from turntable.systems.farreach.artifact.statistics import Statistics, read_statistics
from turntable_core.errors import InputError
from turntable_core.plan import Cell, Iteration, Turn, cell_id
from turntable_core.yaml_document import shortened
from turntable_systems.farreach import rotation
from turntable_systems.farreach.prediction import unknown


def turn_of(round_: Round) -> ImportedTurn:
    """Raises TurntableError, with line and reason, for malformed files."""
    servers = round_.parameters["servers"]
    files = [read_statistics(file, servers, seconds=round_.in_seconds) for file in round_.files]
    if round_.in_seconds:
        return _of_seconds(round_, [_from_zero(file, round_) for file in files])
    return _of_rotation(round_, files)


def _of_rotation(round_: Round, files: Sequence[Sequence[Statistics]]) -> ImportedTurn:
    bottleneck = _bottleneck(files)
    by_partitions = [{one.partitions: one for one in file} for file in files]
    iterations = rotation.iterations(round_.parameters["servers"], bottleneck)
    imported = []
    for iteration in iterations:
        partitions = tuple(rotation.partitions_of(iteration))
        found = {k: file[partitions] for k, file in enumerate(by_partitions) if partitions in file}
        if found:
            made = {f"client{k}": answers.of_iteration(one) for k, one in found.items()}
            imported.append(_iteration(round_, iteration, made))
    turn = _turn(round_, iterations, bottleneck)
    return ImportedTurn(turn, tuple(imported), round_.files)


def _of_seconds(round_: Round, files: Sequence[Sequence[Statistics]]) -> ImportedTurn:
    """One iteration; the busier server first, as in a rotation."""
    servers = range(round_.parameters["servers"])
    served = [sum(one.server_ops[k] for file in files for one in file) for k in servers]
    bottleneck = max(servers, key=lambda partition: served[partition])
    iterations = rotation.all_at_once(len(servers), bottleneck)
    made = {f"client{k}": answers.of_seconds(file) for k, file in enumerate(files)}
    imported = _iteration(round_, iterations[0], made)
    turn = _turn(round_, iterations, bottleneck)
    return ImportedTurn(turn, (imported,), round_.files)


def _turn(round_: Round, iterations: tuple[Iteration, ...], bottleneck: int) -> Turn:
    parameters = round_.parameters
    cell = Cell(cell_id(parameters), parameters)
    return Turn(cell, round_.index, iterations, unknown(bottleneck))


def _iteration(
    round_: Round, iteration: Iteration, made: Mapping[str, Mapping[str, Any]]
) -> ImportedIteration:
    absent = [
        shortened(file) for client, file in enumerate(round_.files) if f"client{client}" not in made
    ]
    strid = next(iter(made.values()))["strid"]
    missing = f"{', '.join(absent)}: no object {strid!r}, which the other client machine has"
    return ImportedIteration(
        index=iteration.index,
        answers={
            host: [{"node": answers.NODE, "command": answers.COMMAND, "result": result}]
            for host, result in made.items()
        },
        missing=missing if absent else None,
        written_at_ns=max(file.stat().st_mtime_ns for file in round_.files),
    )


def _bottleneck(files: Sequence[Sequence[Statistics]]) -> int:
    """The first object's first partition, which all must have."""
    first = files[0][0]
    for one in (one for file in files for one in file):
        if one.partitions[0] != first.partitions[0]:
            expected = f"the bottleneck {first.partitions[0]} first, as {first.where} has it"
            raise InputError(one.where, "strid", one.strid, expected)
    return first.partitions[0]


def _from_zero(seconds: Sequence[Statistics], round_: Round) -> list[Statistics]:
    """In order; those of a file that counts from one are counted from zero."""
    numbers = [one.second for one in seconds]
    length = round_.parameters["measure_s"]
    first = 1 if 0 not in numbers and length in numbers else 0
    for one in seconds:
        if one.second - first >= length:
            expected = f"seconds of a run of {length} s (`seconds` of import.yml says how long)"
            raise InputError(one.where, "strid", one.strid, expected)
    ordered = sorted(seconds, key=lambda one: one.second)
    return [replace(one, second=one.second - first) for one in ordered]

"""Value sets: a table of the runtime without actions, in which a select looks its subjects up."""

from __future__ import annotations

from p4soft.check import types
from p4soft.elaborate import ValueSetInstance
from p4soft.emit.externs.base import control_name
from p4soft.emit.state import Emission
from p4soft.emit.tables import Key, index_type
from p4soft.emit.text import Lines


def keys_of(instance: ValueSetInstance) -> list[Key]:
    """All are ternary, as in the parser of the ASIC."""
    keys: list[Key] = []
    offset = 0
    for field in instance.symbol.fields.values():
        width = types.width_of(types.underlying(field)) or 0
        keys.append(Key("ternary", offset, width))
        offset += width
    return keys


def declare(emission: Emission, instance: ValueSetInstance) -> None:
    index, argument = index_type(keys_of(instance))
    emission.members.add(
        f"IndexedTable<{index}> {instance.identifier}_"
        f"{{{instance.symbol.size}, 0, {{}}{argument}}};"
    )
    name = control_name(emission, instance.path)
    emission.setup.add(f'add_table("{name}", {instance.identifier}_);')


def go_if_found(instance: ValueSetInstance, subjects: list[str], go: str, lines: Lines) -> None:
    """The jump of a case, where the values of `subjects` are in the set."""
    keys = keys_of(instance)
    words = (sum(key.width for key in keys) + 63) // 64
    with lines.braces(""):
        lines.add(f"KeyWords<{words}> key_{{}};")
        for key, subject in zip(keys, subjects, strict=True):
            lines.add(f"put_key<{key.offset}, {key.width}>(key_, to_bit<{key.width}>({subject}));")
        lines.add(f"if ({instance.identifier}_.lookup(key_).hit) {go}")

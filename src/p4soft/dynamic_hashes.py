"""Hashes that the control plane can configure: which of their fields count, in which order, and by
which algorithm.

As for the Tofino compiler these are the instances of Hash with one call of `get`, once every
control, and every action in each table and call of it, has a copy of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from p4soft.check import types
from p4soft.check.symbols import ActionSymbol, VariableSymbol
from p4soft.elaborate import BlockInstance, ExternInstance, Pipeline
from p4soft.frontend import syntax
from p4soft.known_conditions import reached
from p4soft.tree import calls_action, walk

_PREFIXES = {2: "0b", 8: "0o", 16: "0x"}


@dataclass(frozen=True)
class HashField:
    name: str  # in the control plane
    width: int  # bits
    value: int | None  # of a constant


@dataclass(frozen=True)
class DynamicHash:
    call: syntax.Call  # of get
    width: int  # bits of its result
    used_low: int  # the program uses only `used_bits` bits of it, from this one on
    used_bits: int
    fields: list[HashField]  # empty: what is hashed is no list


@dataclass(frozen=True)
class _Use:
    """A place of the program that computes a hash."""

    block: BlockInstance
    call: syntax.Call
    around: syntax.Node | None  # a slice or cast of the result


def find_dynamic_hashes(pipeline: Pipeline) -> None:
    """Sets pipeline.dynamic_hashes: not those that the program hides, nor those that it computes at
    several places.
    """
    uses: dict[ExternInstance, list[_Use]] = defaultdict(list)
    for block in pipeline.all_blocks():
        for instance, use in _uses(block):
            uses[instance].append(use)
    for instance in pipeline.known_externs():
        if len(uses[instance]) == 1:
            pipeline.dynamic_hashes[instance] = _dynamic_hash(uses[instance][0])


def _dynamic_hash(use: _Use) -> DynamicHash:
    assert use.call.type is not None
    width = types.width_of(use.call.type) or 0
    low, bits = _used_part(use.around, width)
    return DynamicHash(use.call, width, low, bits, _fields(use))


# --- Where it is computed -----------------------------------------------------------------------


def _uses(block: BlockInstance) -> list[tuple[ExternInstance, _Use]]:
    """Of hashes; one for each copy that the compiler makes of the block and its actions."""
    if not isinstance(block.declaration, syntax.Control):
        return []
    found = []
    for part in _parts(block):
        around: dict[int, syntax.Node] = {}  # by the identity of what is in it
        for node in walk(part):
            if isinstance(node, syntax.Slice):
                around[id(node.base)] = node
            elif isinstance(node, syntax.Cast):
                around[id(node.operand)] = node
            elif (instance := _got(node, block)) is not None:
                found.append((instance, _Use(block, node, around.get(id(node)))))
    return found * _copies(block) if found else []


def _parts(block: BlockInstance) -> Iterator[syntax.Node]:
    """What a control executes: statements, and bodies of actions as often as they are used."""
    assert isinstance(block.declaration, syntax.Control)
    for part in reached(block.declaration.body, block.find):
        yield part
        yield from _called_bodies(part)
    for table in block.tables:
        for reference in table.declaration.actions:
            yield reference.symbol.declaration.body
            yield from _called_bodies(reference.symbol.declaration.body)


def _called_bodies(part: syntax.Node) -> Iterator[syntax.Node]:
    for node in walk(part):
        if calls_action(node):
            action: ActionSymbol = node.target.symbol
            yield action.declaration.body
            yield from _called_bodies(action.declaration.body)


def _got(node: syntax.Node, block: BlockInstance) -> ExternInstance | None:
    """The hash whose method `get` is called here."""
    if not isinstance(node, syntax.Call) or node.target is None or node.target.name != "get":
        return None
    base = node.target.base
    instance = block.find(base.symbol) if isinstance(base, syntax.Name) else None
    is_hash = isinstance(instance, ExternInstance) and instance.type.name == "Hash"
    return instance if is_hash else None


def _applications(block: BlockInstance) -> list[syntax.Call]:
    """The calls that apply a nested control."""
    parent = block.parent
    assert parent is not None and isinstance(parent.declaration, syntax.Control)
    return [
        node
        for part in reached(parent.declaration.body, parent.find)
        for node in walk(part)
        if isinstance(node, syntax.Call)
        and node.target is not None
        and node.target.kind == "control"
        and parent.find(node.target.symbol) is block
    ]


def _copies(block: BlockInstance) -> int:
    if block.parent is None:
        return 1
    return len(_applications(block)) * _copies(block.parent)


def _used_part(around: syntax.Node | None, width: int) -> tuple[int, int]:
    if isinstance(around, syntax.Slice):
        low = around.low.value
        return low, around.high.value - low + 1
    if isinstance(around, syntax.Cast) and around.type is not None:
        return 0, min(width, types.width_of(around.type) or width)
    return 0, width


# --- What is hashed -----------------------------------------------------------------------------


def _fields(use: _Use) -> list[HashField]:
    data = use.call.target.arguments[0]
    if isinstance(data, syntax.ListExpression):
        items = data.items
    elif isinstance(data, syntax.StructExpression):
        items = [item.expression for item in data.items]
    else:
        return []
    fields: list[HashField] = []
    for item in (part for each in items for part in _concatenated(each)):
        value = _constant(item, use.block)
        width = types.width_of(item.type) or 0
        number = sum(field.value is not None for field in fields)
        name = _text(item, use.block)
        if value is not None:
            name = f"constant{number}_{width}_{_constant_text(item, value, width)}"
        fields.append(HashField(name, width, value))
    return fields


def _concatenated(item: syntax.Expression) -> Iterator[syntax.Expression]:
    if isinstance(item, syntax.Binary) and item.operator == "++":
        yield from _concatenated(item.left)
        yield from _concatenated(item.right)
    else:
        yield item


def _constant(item: syntax.Expression, block: BlockInstance) -> int | None:
    value: Any = item.value
    if value is None and isinstance(item, syntax.Name) and item.symbol is not None:
        value = block.find(item.symbol)
    return int(value) if isinstance(value, int) else None


def _constant_text(item: syntax.Expression, value: int, width: int) -> str:
    written = item.symbol if isinstance(item, syntax.Name) else item
    base = getattr(written, "base", 10)
    digits = {2: f"{value:b}", 8: f"{value:o}", 16: f"{value:x}"}.get(base, str(value))
    letter = "s" if isinstance(types.underlying(item.type), types.Int) else "w"
    return f"{width}{letter}{_PREFIXES.get(base, '')}{digits}"


def _text(node: syntax.Expression, block: BlockInstance) -> str:
    """As the compiler writes it: a nested control's parameters are the arguments."""
    if isinstance(node, syntax.Name):
        argument = _argument(node, block)
        return node.name if argument is None else _text(argument, block.parent or block)
    if node.value is not None:
        return str(int(node.value))
    if isinstance(node, syntax.Member):
        return f"{_text(node.base, block)}.{node.name}"
    if isinstance(node, syntax.Index):
        return f"{_text(node.base, block)}[{node.index.value}]"
    if isinstance(node, syntax.Slice):
        return f"{_text(node.base, block)}[{node.high.value}:{node.low.value}]"
    if isinstance(node, syntax.Cast):
        return f"({node.type}){_text(node.operand, block)}"
    if isinstance(node, syntax.Unary):
        return f"{node.operator}{_text(node.operand, block)}"
    if isinstance(node, syntax.Binary):
        return f"{_text(node.left, block)} {node.operator} {_text(node.right, block)}"
    if isinstance(node, syntax.Call):
        return f"{_text(node.callee, block)}(...)"
    return "field"


def _argument(name: syntax.Name, block: BlockInstance) -> syntax.Expression | None:
    """What a nested control is given for a parameter."""
    symbol = name.symbol
    if block.parent is None or not isinstance(symbol, VariableSymbol):
        return None
    parameters = [parameter.symbol for parameter in block.declaration.parameters]
    if symbol not in parameters:
        return None
    [call] = _applications(block)
    argument: syntax.Expression | None = call.target.arguments[parameters.index(symbol)]
    return argument

"""The actions of a table."""

from __future__ import annotations

from p4soft.check.symbols import ActionSymbol
from p4soft.check.tables import action_scope
from p4soft.elaborate import BlockInstance, TableInstance, given_name, join_path
from p4soft.emit.bfrt.documents import Document, table_type
from p4soft.errors import P4Error
from p4soft.frontend import syntax


def action_specs(table: TableInstance) -> list[Document]:
    """Raises P4Error where two have one name."""
    taken: set[str] = set()
    for reference in table.declaration.actions:
        name = action_name(table.block, reference.symbol)
        if name in taken:
            raise P4Error(
                reference.position,
                f"another action of table '{table.declaration.name}' is '{name}' to the control "
                "plane; give one of them another @name",
            )
        taken.add(name)
    return [
        _action(table, number, reference)
        for number, reference in enumerate(table.declaration.actions, start=1)
    ]


def _action(table: TableInstance, number: int, reference: syntax.ActionReference) -> Document:
    symbol: ActionSymbol = reference.symbol
    return {
        "id": number,
        "name": action_name(table.block, symbol),
        "action_scope": action_scope(reference),
        "annotations": [{"name": f"@{a.name}"} for a in reference.annotations],
        "data": [
            {
                "id": i,
                "name": parameter.name,
                "repeated": False,
                "mandatory": True,
                "read_only": False,
                "annotations": [],
                "type": table_type(parameter.type),
            }
            for i, parameter in enumerate(symbol.data, start=1)
        ],
    }


def action_name(block: BlockInstance, symbol: ActionSymbol) -> str:
    """Of an action of this block, or of the whole program."""
    name = given_name(symbol.name, symbol.declaration.annotations)
    return join_path(block.path if symbol.owner else "", name)

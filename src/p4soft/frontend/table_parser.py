"""Tables: keys, actions, default action, entries and the other properties."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4soft.errors import P4Error, unsupported
from p4soft.frontend import syntax

if TYPE_CHECKING:
    from p4soft.frontend.program_parser import ProgramParser


def parse_table(parser: ProgramParser, annotations: list[syntax.Annotation]) -> syntax.Table:
    parser.take()
    position = parser.position
    name = parser.name("a table's name")
    table = syntax.Table(position, name, [], [], None, False, None, False, [], annotations)
    parser.expect("{", "after a table's name")
    given: set[str] = set()
    while not parser.accept("}"):
        parser.annotations()
        constant = parser.accept("const")
        given.add(_property(parser, table, constant))
    if "actions" not in given:
        expected = "expected a list of them, if only `actions = {}`"
        raise P4Error(position, f"table '{name}' has no actions; {expected}")
    parser.declare(name, is_type=False)
    return table


def _property(parser: ProgramParser, table: syntax.Table, constant: bool) -> str:
    """Its name."""
    position = parser.position
    name = parser.name("a table's property")
    parser.expect("=", f"after '{name}'")
    if name == "key":
        table.keys.extend(_keys(parser))
    elif name == "actions":
        table.actions.extend(_actions(parser))
    elif name == "default_action":
        if table.default_action is not None:
            raise P4Error(position, "default_action is given twice")
        table.default_action = _action_reference(parser)
        table.constant_default = constant
        parser.expect(";", "after default_action")
    elif name == "entries":
        table.entries = _entries(parser, constant)
        table.constant_entries = constant
    else:
        value = parser.expression()
        parser.expect(";", f"after '{name}'")
        table.properties.append(syntax.Property(position, name, constant, value))
    return name


def _keys(parser: ProgramParser) -> list[syntax.TableKey]:
    parser.expect("{", "before the keys")
    keys: list[syntax.TableKey] = []
    while not parser.accept("}"):
        expression = parser.expression()
        parser.expect(":", "between a key and its match kind")
        kind = parser.name("a match kind")
        annotations = parser.annotations()
        parser.expect(";", "after a key")
        keys.append(syntax.TableKey(expression.position, expression, kind, annotations))
    parser.accept(";")
    return keys


def _actions(parser: ProgramParser) -> list[syntax.ActionReference]:
    parser.expect("{", "before the actions")
    actions: list[syntax.ActionReference] = []
    while not parser.accept("}"):
        annotations = parser.annotations()
        actions.append(_action_reference(parser, annotations))
        parser.expect(";", "after an action")
    parser.accept(";")
    return actions


def _action_reference(
    parser: ProgramParser, annotations: list[syntax.Annotation] | None = None
) -> syntax.ActionReference:
    is_global = parser.accept(".")
    position = parser.position
    name = parser.name("an action's name")
    arguments = parser.arguments() if parser.at("(") else None
    return syntax.ActionReference(position, name, arguments, annotations or [], is_global)


def _entries(parser: ProgramParser, constant: bool) -> list[syntax.TableEntry]:
    """constant: all of them, whether each says it or not."""
    parser.expect("{", "before the entries")
    entries: list[syntax.TableEntry] = []
    while not parser.accept("}"):
        position = parser.position
        if parser.accept("const") and not constant:
            raise unsupported(position, "const of one entry", "const entries, of all of a table")
        priority = None
        if parser.at("priority") and parser.peek(1).text == "=":
            parser.take()
            parser.take()
            priority = parser.expression()
            parser.expect(":", "after an entry's priority")
        keys = parser.key_set()
        parser.expect(":", "between an entry's key and its action")
        action = _action_reference(parser)
        parser.annotations()
        parser.expect(";", "after an entry")
        entries.append(syntax.TableEntry(position, priority, keys, action))
    parser.accept(";")
    return entries

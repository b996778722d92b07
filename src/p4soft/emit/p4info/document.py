"""The P4Info of a program, with the objects and names that p4c's Tofino back end gives with
--p4runtime-force-std-externs.

There names have no pipe in front; ids are hashes of those that have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from p4soft.check import types
from p4soft.check.constants import raw_bits
from p4soft.check.symbols import ActionSymbol, Scope, TypeSymbol
from p4soft.check.tables import action_scope
from p4soft.elaborate import (
    BlockInstance,
    ExternInstance,
    Pipeline,
    TableInstance,
    ValueSetInstance,
    constant_name,
)
from p4soft.emit.bfrt.actions import action_name
from p4soft.emit.bfrt.match_tables import key_name
from p4soft.emit.externs.meters import meter_unit
from p4soft.emit.p4info.described_types import DescribedTypes
from p4soft.emit.p4info.names import Names, Prefix, Symbol, field_ids
from p4soft.emit.p4info.text import Field, Message, Name, text
from p4soft.emit.tables import size_of
from p4soft.errors import P4Error
from p4soft.frontend import syntax
from p4soft.tree import calls_action, walk

_SCOPES = {
    "TableAndDefault": None,  # the enum's zero is not written
    "TableOnly": Name("TABLE_ONLY"),
    "DefaultOnly": Name("DEFAULT_ONLY"),
}
_COUNTER_UNITS = {"BYTES": "BYTES", "PACKETS": "PACKETS", "PACKETS_AND_BYTES": "BOTH"}
_EXTERNS = {
    "ActionProfile": Prefix.ACTION_PROFILE,
    "Counter": Prefix.COUNTER,
    "DirectCounter": Prefix.DIRECT_COUNTER,
    "Meter": Prefix.METER,
    "DirectMeter": Prefix.DIRECT_METER,
    "Register": Prefix.REGISTER,
    "Digest": Prefix.DIGEST,
}
# @name and @id are fields of their own, and so is documentation.
_NOT_REPEATED = frozenset(["name", "id", "brief", "description"])


def p4info(pipeline: Pipeline, program: syntax.Program, scope: Scope) -> str:
    """The document in protobuf's text format (p4.config.v1.P4Info). Raises P4Error."""
    return (
        "# proto-file: p4/config/v1/p4info.proto\n"
        "# proto-message: p4.config.v1.P4Info\n\n"
        + text(_Document(pipeline, _controller_headers(program, scope)).message())
    )


class _ControllerHeader(NamedTuple):
    """A header between the control plane and the CPU port."""

    name: str  # "packet_in" or "packet_out"
    declaration: syntax.Composite
    type: types.Composite

    @property
    def symbol(self) -> Symbol:
        return Symbol(Prefix.CONTROLLER_HEADER, self.type.name)


class _Document:
    def __init__(self, pipeline: Pipeline, headers: list[_ControllerHeader]) -> None:
        self._pipeline = pipeline
        self._headers = headers
        self._types = DescribedTypes()
        self._names = Names()
        # An action is one, however many tables have it.
        self._actions = {
            action_name(table.block, reference.symbol): reference.symbol
            for table in pipeline.known_tables()
            for reference in table.declaration.actions
        }
        self._called = {
            name: symbol
            for block in pipeline.all_blocks()
            for name, symbol in _called_actions(block)
            if name not in self._actions
        }
        for table in pipeline.known_tables():
            self._names.add(self._table_symbol(table), table.declaration.annotations)
        for name, action in (self._actions | self._called).items():
            self._names.add(Symbol(Prefix.ACTION, name), action.declaration.annotations)
        for value_set in pipeline.known_value_sets():
            self._names.add(
                self._value_set_symbol(value_set), value_set.symbol.declaration.annotations
            )
        for instance in pipeline.known_externs():
            if instance.type.name in _EXTERNS:
                self._names.add(self._extern_symbol(instance), instance.annotations)
        for header in headers:
            self._names.add(header.symbol, header.declaration.annotations)
        self._names.number()

    def message(self) -> Message:
        described: dict[str, Field] = {
            "pkg_info": {"arch": "tna"},
            "tables": [self._table(table) for table in self._pipeline.known_tables()],
            "actions": [self._action(*action) for action in (self._actions | self._called).items()],
            "action_profiles": [self._profile(p) for p in self._of("ActionProfile")],
            "counters": [
                {**self._counter(counter), "size": counter.arguments[0]}
                for counter in self._of("Counter")
            ],
            "direct_counters": [
                {**self._counter(counter), **self._attached(counter)}
                for counter in self._of("DirectCounter")
            ],
            "meters": [
                {**self._meter(meter), "size": meter.arguments[0]} for meter in self._of("Meter")
            ],
            "direct_meters": [
                {**self._meter(meter), **self._attached(meter)} for meter in self._of("DirectMeter")
            ],
            "controller_packet_metadata": [self._controller_header(h) for h in self._headers],
            "value_sets": [self._value_set(v) for v in self._pipeline.known_value_sets()],
            "registers": [
                {**self._typed(register), "size": register.arguments[0]}
                for register in self._of("Register")
            ],
            "digests": [self._typed(digest) for digest in self._pipeline.digests()],
        }
        return {**described, "type_info": self._types.type_info()}

    def _of(self, kind: str) -> Iterable[ExternInstance]:
        return (extern for extern in self._pipeline.known_externs() if extern.type.name == kind)

    # --- Names ------------------------------------------------------------------------------------

    def _with_pipe(self, path: str) -> str:
        return f"{self._pipeline.name}.{path}"

    def _table_symbol(self, table: TableInstance) -> Symbol:
        return Symbol(Prefix.TABLE, self._with_pipe(table.path))

    def _value_set_symbol(self, value_set: ValueSetInstance) -> Symbol:
        return Symbol(Prefix.VALUE_SET, self._with_pipe(value_set.path))

    def _extern_symbol(self, instance: ExternInstance) -> Symbol:
        return Symbol(_EXTERNS[instance.type.name], self._with_pipe(instance.path))

    def _preamble(self, symbol: Symbol, name: str, annotations: list[syntax.Annotation]) -> Message:
        return {
            "id": self._names.ids[symbol],
            "name": name,
            "alias": self._names.alias(symbol.name),
            "annotations": _annotations(annotations),
            "doc": _documentation(annotations),
        }

    # --- Tables and actions -----------------------------------------------------------------------

    def _table(self, table: TableInstance) -> Message:
        declaration = table.declaration
        default = declaration.default_action
        assert default is not None, "the checker gives each table one"
        default_id = self._action_id(table, default.symbol)
        return {
            "preamble": self._preamble(
                self._table_symbol(table), table.path, declaration.annotations
            ),
            "match_fields": self._match_fields(declaration),
            "action_refs": [
                {
                    "id": self._action_id(table, reference.symbol),
                    "annotations": _annotations(reference.annotations),
                    "scope": _SCOPES[action_scope(reference)],
                }
                for reference in declaration.actions
            ],
            "const_default_action_id": default_id if declaration.constant_default else None,
            "initial_default_action": {
                "action_id": default_id,
                "arguments": [
                    {"param_id": number, "value": _bytes(value, parameter.type)}
                    for number, parameter, value in zip(
                        _parameter_ids(default.symbol),
                        default.symbol.data,
                        default.values,
                        strict=True,
                    )
                ],
            },
            "implementation_id": self._id_of(table.profile),
            "direct_resource_ids": [
                self._names.ids[self._extern_symbol(extern)]
                for extern in self._pipeline.known_externs()
                if extern.table is table and extern.type.name in _EXTERNS
            ],
            "size": size_of(table),
            "idle_timeout_behavior": Name("NOTIFY_CONTROL") if table.ages else None,
            "is_const_table": (declaration.entries is not None and declaration.constant_entries)
            or None,
            "has_initial_entries": bool(declaration.entries) or None,
        }

    def _match_fields(self, declaration: syntax.Table) -> list[Message]:
        # p4c counts selector keys, too.
        numbers = field_ids([key.annotations for key in declaration.keys])
        return [
            {
                "id": number,
                "name": key_name(key),
                "annotations": _annotations(key.annotations),
                "bitwidth": types.width_of(_type_of(key.expression)),
                "match_type": Name(key.matches.upper()),
                "doc": _documentation(key.annotations),
                "type_name": self._types.named(_type_of(key.expression)),
            }
            for number, key in zip(numbers, declaration.keys, strict=True)
            if key.match_kind != "selector"
        ]

    def _action_id(self, table: TableInstance, action: ActionSymbol) -> int:
        return self._names.ids[Symbol(Prefix.ACTION, action_name(table.block, action))]

    def _action(self, name: str, action: ActionSymbol) -> Message:
        annotations = action.declaration.annotations
        data = zip(_parameter_ids(action), action.data, strict=True)
        return {
            "preamble": self._preamble(Symbol(Prefix.ACTION, name), name, annotations),
            "params": [
                {
                    "id": number,
                    "name": parameter.name,
                    "bitwidth": types.width_of(parameter.type),
                    "type_name": self._types.named(parameter.type),
                }
                for number, parameter in (data if name in self._actions else ())
            ],
        }

    # --- Externs ----------------------------------------------------------------------------------

    def _id_of(self, instance: ExternInstance | None) -> int | None:
        """None: there is none, or none that is known."""
        return None if instance is None else self._names.ids.get(self._extern_symbol(instance))

    def _extern(self, instance: ExternInstance) -> Message:
        symbol = self._extern_symbol(instance)
        return {"preamble": self._preamble(symbol, instance.path, instance.annotations)}

    def _profile(self, profile: ExternInstance) -> Message:
        known = self._pipeline.known_tables()
        users = [table for table in known if table.profile is profile]
        selectors = [s for s in self._of("ActionSelector") if s.arguments[0] is profile]
        return {
            **self._extern(profile),
            "table_ids": [self._names.ids[self._table_symbol(table)] for table in users],
            "with_selector": bool(selectors) or None,
            "size": profile.arguments[0],
            "max_group_size": max((s.arguments[3] for s in selectors), default=None),
        }

    def _counter(self, counter: ExternInstance) -> Message:
        unit = _COUNTER_UNITS[constant_name(counter, len(counter.arguments) - 1)]
        return {**self._extern(counter), "spec": {"unit": Name(unit)}}

    def _meter(self, meter: ExternInstance) -> Message:
        return {**self._extern(meter), "spec": {"unit": Name(meter_unit(meter))}}

    def _attached(self, instance: ExternInstance) -> Message:
        assert instance.table is not None, "no known direct extern is without a table"
        return {"direct_table_id": self._names.ids[self._table_symbol(instance.table)]}

    def _typed(self, instance: ExternInstance) -> Message:
        return {
            **self._extern(instance),
            "type_spec": self._types.spec(instance.type.arguments[0]),
        }

    # --- Parsers and packets ----------------------------------------------------------------------

    def _value_set(self, value_set: ValueSetInstance) -> Message:
        symbol = value_set.symbol
        return {
            "preamble": self._preamble(
                self._value_set_symbol(value_set), value_set.path, symbol.declaration.annotations
            ),
            "match": [
                {
                    "id": number,
                    "name": name,
                    "bitwidth": types.width_of(type_),
                    "match_type": Name("EXACT"),
                }
                for number, (name, type_) in enumerate(symbol.fields.items(), start=1)
            ],
            "size": symbol.size,
        }

    def _controller_header(self, header: _ControllerHeader) -> Message:
        preamble = self._preamble(header.symbol, header.name, header.declaration.annotations)
        fields = header.declaration.fields
        numbers = field_ids([field.annotations for field in fields])
        return {
            "preamble": {**preamble, "alias": header.name},
            "metadata": [
                {
                    "id": number,
                    "name": field.name,
                    "annotations": _annotations(field.annotations),
                    "bitwidth": types.width_of(header.type.fields[field.name]),
                    "type_name": self._types.named(header.type.fields[field.name]),
                }
                for number, field in zip(numbers, fields, strict=True)
            ],
        }


def _called_actions(block: BlockInstance) -> Iterator[tuple[str, ActionSymbol]]:
    """Of a control: those that its apply calls. The compiler knows them as actions without data."""
    body = block.declaration.body if isinstance(block.declaration, syntax.Control) else None
    for node in walk(body):
        if calls_action(node) and node.target.symbol.owner:
            yield action_name(block, node.target.symbol), node.target.symbol


def _controller_headers(program: syntax.Program, scope: Scope) -> list[_ControllerHeader]:
    """Headers with @controller_header("NAME"), and that name. Raises P4Error without one."""
    found = []
    for declaration in program.declarations:
        if not isinstance(declaration, syntax.Composite):
            continue
        annotation = syntax.annotation(declaration.annotations, "controller_header")
        if annotation is None:
            continue
        if len(annotation.arguments) != 1 or not annotation.arguments[0].text.startswith('"'):
            raise P4Error(
                annotation.position,
                "@controller_header needs a name in quotes, for example "
                '@controller_header("packet_in")',
            )
        symbol = scope.local(declaration.name)
        assert isinstance(symbol, TypeSymbol) and isinstance(symbol.type, types.Composite)
        name = annotation.arguments[0].text.strip('"')
        found.append(_ControllerHeader(name, declaration, symbol.type))
    return found


def _parameter_ids(action: ActionSymbol) -> list[int]:
    """Of its data, in order."""
    declared = {p.symbol: p.annotations for p in action.declaration.parameters}
    return field_ids([declared.get(parameter, []) for parameter in action.data])


def _type_of(expression: syntax.Expression) -> types.Type:
    assert expression.type is not None
    return expression.type


def _bytes(value: object, type_: types.Type) -> bytes:
    """As P4Runtime says it: most significant first, as many bytes as the type has."""
    return raw_bits(value, type_).to_bytes(((types.width_of(type_) or 0) + 7) // 8, "big")


def _annotations(annotations: list[syntax.Annotation]) -> list[str]:
    return [_written(each) for each in annotations if each.name not in _NOT_REPEATED]


def _written(annotation: syntax.Annotation) -> str:
    """As it stands in the program, but for blanks."""
    if not annotation.arguments:
        return f"@{annotation.name}"
    return f"@{annotation.name}({' '.join(token.text for token in annotation.arguments)})"


def _documentation(annotations: list[syntax.Annotation]) -> Message | None:
    """Of @brief and @description."""
    texts = {
        name: "".join(token.text for token in annotation.arguments).strip('"')
        for name in ("brief", "description")
        if (annotation := syntax.annotation(annotations, name)) is not None
    }
    return texts or None

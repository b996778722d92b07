"""Match-action tables, and what has entries like theirs: value sets and the metadata of ports."""

from __future__ import annotations

from p4soft.elaborate import PortMetadata, TableInstance, ValueSetInstance, given_name
from p4soft.emit.bfrt.actions import action_specs
from p4soft.emit.bfrt.counters import counter_data
from p4soft.emit.bfrt.documents import (
    UINT32,
    Document,
    datum,
    key_field,
    table_document,
    table_type,
)
from p4soft.emit.bfrt.filters import filter_data
from p4soft.emit.bfrt.meters import BYTE_COUNT_ADJUST, meter_data
from p4soft.emit.bfrt.profiles import named_member
from p4soft.emit.bfrt.registers import register_data
from p4soft.emit.naming import expression_text
from p4soft.emit.port_metadata import PORT_BITS, PORTS
from p4soft.emit.tables import size_of
from p4soft.errors import P4Error
from p4soft.frontend import syntax

_PRIORITY_ID, _PRIORITY = 65537, "$MATCH_PRIORITY"
_TTL, _HIT_STATE = (65543, "$ENTRY_TTL"), (65544, "$ENTRY_HIT_STATE")
_PORT_ID, _DEFAULT_FIELD_ID = 65575, 65576  # of port metadata
_MATCH_TYPES = {
    "exact": "Exact",
    "lpm": "LPM",
    "ternary": "Ternary",
    "range": "Range",
    "atcam_partition_index": "ATCAM",
}


def table(pipe: str, instance: TableInstance) -> Document:
    declaration = instance.declaration
    if instance.implementation is not None:
        return _indirect(pipe, instance)
    data, operations, attributes = _of_entries(instance)
    if declaration.entries is not None and declaration.constant_entries:
        attributes.append("ConstTable")
    return table_document(
        pipe,
        instance.path,
        "MatchAction_Direct",
        size_of(instance) if declaration.keys else 1,
        annotations=[a.name for a in declaration.annotations],
        has_const_default_action=declaration.constant_default,
        key=_keys(declaration),
        action_specs=action_specs(instance),
        data=data,
        operations=operations,
        attributes=attributes,
    )


def _of_entries(instance: TableInstance) -> tuple[list[Document], list[str], list[str]]:
    """What entries have beside their action: data, operations and attributes."""
    data: list[Document] = []
    operations: list[str] = []
    attributes = ["EntryScope"]
    if instance.counter is not None:
        data += counter_data(instance.counter)
        operations.append("SyncCounters")
    if instance.meter is not None:
        data += meter_data(instance.meter)
        attributes.append(BYTE_COUNT_ADJUST)
    if instance.filter is not None:
        data += filter_data(instance.filter)
    if instance.register is not None:
        parameters = [len(action.symbol.data) for action in instance.declaration.actions]
        data += register_data(instance.register, first_id=1 + max(parameters))
        operations.append("SyncRegisters")
    if instance.ages:
        states = {"type": "string", "choices": ["ENTRY_IDLE", "ENTRY_ACTIVE"]}
        data += [datum(*_HIT_STATE, states), datum(*_TTL, {**UINT32, "default_value": 0})]
        operations.append("UpdateHitState")
        attributes.append("IdleTimeout")
    return data, operations, attributes


def _indirect(pipe: str, instance: TableInstance) -> Document:
    """A table whose entries name a member, or a group, and have no action of their own."""
    declaration = instance.declaration
    assert instance.implementation is not None and instance.profile is not None
    by_selector = instance.implementation is not instance.profile
    needed = [instance.implementation, instance.profile] if by_selector else [instance.profile]
    data, operations, attributes = _of_entries(instance)
    return table_document(
        pipe,
        instance.path,
        "MatchAction_Indirect" + ("_Selector" if by_selector else ""),
        size_of(instance),
        annotations=[a.name for a in declaration.annotations],
        depends_on=[each.path for each in needed],
        has_const_default_action=declaration.constant_default,
        key=_keys(declaration),
        data=[named_member(instance), *data],
        operations=operations,
        attributes=attributes,
    )


def value_set(pipe: str, instance: ValueSetInstance) -> Document:
    """Entries have neither priorities nor actions; a default there is none."""
    key = [
        key_field(number, name, table_type(field), "Ternary", mandatory=False)
        for number, (name, field) in enumerate(instance.symbol.fields.items(), start=1)
    ]
    return table_document(
        pipe,
        instance.path,
        "ParserValueSet",
        instance.symbol.size,
        key=key,
        data=[],
        attributes=["EntryScope"],
    )


def port_metadata(pipe: str, metadata: PortMetadata) -> Document:
    first = 1 if metadata.is_unpacked else _DEFAULT_FIELD_ID
    fields = enumerate(metadata.type.fields.items(), start=first)
    data = [datum(number, name, table_type(type_)) for number, (name, type_) in fields]
    port = {"type": "bytes", "width": PORT_BITS}
    return table_document(
        pipe,
        metadata.path,
        "PortMetadata",
        PORTS,
        key=[key_field(_PORT_ID, metadata.key, port, "Exact", mandatory=True)],
        data=[{**field, "mandatory": metadata.is_unpacked} for field in data],
    )


def _keys(declaration: syntax.Table) -> list[Document]:
    """Raises P4Error where two have one name, as the Tofino compiler does."""
    taken = {_PRIORITY}
    for key in declaration.match_keys:
        name = key_name(key)
        if name in taken:
            raise P4Error(
                key.position,
                f"another key of table '{declaration.name}' is '{name}' to the control plane; "
                "give this one an @name of its own",
            )
        taken.add(name)
    keys = [
        key_field(
            number,
            key_name(key),
            table_type(key.expression.type),
            _MATCH_TYPES[key.match_kind],
            mandatory=False,
        )
        for number, key in enumerate(declaration.match_keys, start=1)
    ]
    if any(key.match_kind in ("ternary", "range") for key in declaration.keys):
        keys.append(key_field(_PRIORITY_ID, _PRIORITY, UINT32, "Exact", mandatory=False))
    return keys


def key_name(key: syntax.TableKey) -> str:
    return given_name(expression_text(key.expression), key.annotations)

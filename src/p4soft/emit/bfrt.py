"""The control-plane schema, in the shape and with the names of the SDE's bfrt.json."""

from __future__ import annotations

from typing import Any

from p4soft.check import types
from p4soft.check.registers import cell_fields
from p4soft.check.symbols import ActionSymbol
from p4soft.elaborate import (
    ExternInstance,
    Pipeline,
    PortMetadata,
    TableInstance,
    ValueSetInstance,
    constant_name,
    given_name,
    join_path,
)
from p4soft.emit.action_data import action_scope
from p4soft.emit.externs.deparsers import digest_fields
from p4soft.emit.externs.meters import meter_unit
from p4soft.emit.naming import expression_text
from p4soft.emit.port_metadata import PORT_BITS, PORTS
from p4soft.emit.tables import size_of
from p4soft.frontend import syntax

# BfRt keeps ids from 65536 on for `$` names. The compiler has these in its enum TDDataFieldIds,
PRIORITY_ID = 65537
_MEMBER, _GROUP = (65539, "$ACTION_MEMBER_ID"), (65540, "$SELECTOR_GROUP_ID")
_COUNTER_IDS = {"$COUNTER_SPEC_BYTES": 65553, "$COUNTER_SPEC_PKTS": 65554}
_METER_INDEX = (65555, "$METER_INDEX")
_COUNTER_INDEX = (65556, "$COUNTER_INDEX")
_REGISTER_INDEX = (65557, "$REGISTER_INDEX")
# and these in BFRuntimeDataFieldIds, which goes on behind it and has some names once more.
_STATUS, _GROUP_SIZE = (65564, "$ACTION_MEMBER_STATUS"), (65565, "$MAX_GROUP_SIZE")
_PORT_ID, _DEFAULT_FIELD_ID = 65575, 65576  # of port metadata
_MATCH_TYPES = {"exact": "Exact", "lpm": "LPM", "ternary": "Ternary", "range": "Range"}
_FIRST_TABLE_ID = 0x0200_0001
_FIRST_FILTER_ID = 0x0B00_0001
# Of a meter that counts bytes, and of one that counts packets: the first id, and the names.
_METER_DATA = {
    "BYTES": (65545, ("CIR_KBPS", "PIR_KBPS", "CBS_KBITS", "PBS_KBITS")),
    "PACKETS": (65549, ("CIR_PPS", "PIR_PPS", "CBS_PKTS", "PBS_PKTS")),
}


def schema(pipeline: Pipeline) -> dict[str, Any]:
    """The document; ids follow the order of the source and are stable as long as that is."""
    tables = [_table(pipeline.name, table) for table in pipeline.tables()]
    tables += [_value_set(pipeline.name, value_set) for value_set in pipeline.value_sets()]
    if pipeline.port_metadata is not None:
        tables.append(_port_metadata(pipeline.name, pipeline.port_metadata))
    for extern in pipeline.externs():
        if extern.type.name == "ActionProfile":
            tables += _profile(pipeline, extern)
        elif extern.type.name == "ActionSelector":
            tables += _selector(pipeline, extern)
        elif extern.type.name == "Counter":
            tables.append(_counter(pipeline.name, extern))
        elif extern.type.name == "Register":
            tables.append(_register(pipeline.name, extern))
        elif extern.type.name == "Meter":
            tables.append(_meter(pipeline.name, extern))
    for number, table in enumerate(tables):
        table["id"] = _FIRST_TABLE_ID + number
    ids = {table["name"]: table["id"] for table in tables}
    for table in tables:
        table["depends_on"] = [ids[name] for name in table["depends_on"]]
    filters = [
        _learn_filter(pipeline.name, number, digest)
        for number, digest in enumerate(pipeline.digests())
    ]
    return {"schema_version": "1.0.0", "tables": tables, "learn_filters": filters}


def _table(pipe: str, table: TableInstance) -> dict[str, Any]:
    declaration = table.declaration
    if table.implementation is not None:
        return _indirect(pipe, table)
    attributes = ["EntryScope"]
    if declaration.entries is not None and declaration.constant_entries:
        attributes.append("ConstTable")
    return {
        "name": f"{pipe}.{table.path}",
        "id": 0,
        "table_type": "MatchAction_Direct",
        "size": size_of(table) if declaration.keys else 1,
        "annotations": [{"name": f"@{a.name}"} for a in declaration.annotations],
        "depends_on": [],
        "has_const_default_action": declaration.constant_default,
        "key": _keys(declaration),
        "action_specs": [_action(table, i, r) for i, r in enumerate(declaration.actions, start=1)],
        "data": _counter_data(table.counter) if table.counter else [],
        "supported_operations": ["SyncCounters"] if table.counter else [],
        "attributes": attributes,
    }


def _indirect(pipe: str, table: TableInstance) -> dict[str, Any]:
    """A table whose entries name a member, or a group, and have no action of their own."""
    declaration = table.declaration
    uint32 = {"type": "uint32"}
    member = _datum(_MEMBER[0], _MEMBER[1], uint32)["singleton"]
    group = _datum(_GROUP[0], _GROUP[1], uint32)["singleton"]
    assert table.implementation is not None and table.profile is not None
    by_selector = table.implementation is not table.profile
    either = {"oneof": [member, group]} if by_selector else {"singleton": member}
    needed = [table.implementation, table.profile] if by_selector else [table.profile]
    return {
        "name": f"{pipe}.{table.path}",
        "id": 0,
        "table_type": "MatchAction_Indirect" + ("_Selector" if by_selector else ""),
        "size": size_of(table),
        "annotations": [{"name": f"@{a.name}"} for a in declaration.annotations],
        "depends_on": [f"{pipe}.{instance.path}" for instance in needed],
        "has_const_default_action": declaration.constant_default,
        "key": _keys(declaration),
        "data": [{"mandatory": True, "read_only": False, **either}],
        "supported_operations": [],
        "attributes": ["EntryScope"],
    }


def _profile(pipeline: Pipeline, profile: ExternInstance) -> list[dict[str, Any]]:
    """None without a table that uses it. Those that do have the same actions."""
    users = pipeline.users_of(profile)
    if not users:
        return []
    references = enumerate(users[0].declaration.actions, start=1)
    return [
        {
            **_indexed(pipeline.name, profile, "Action", _MEMBER),
            "action_specs": [_action(users[0], i, reference) for i, reference in references],
            "data": [],
            "supported_operations": [],
            "attributes": [],
        }
    ]


def _selector(pipeline: Pipeline, selector: ExternInstance) -> list[dict[str, Any]]:
    """None without a table that uses its profile."""
    profile, _, _, group_size, groups = selector.arguments
    if not pipeline.users_of(profile):
        return []
    uint32 = {"type": "uint32"}
    data = [
        _datum(_MEMBER[0], _MEMBER[1], uint32),
        _datum(_STATUS[0], _STATUS[1], {"type": "bool"}),
        _datum(_GROUP_SIZE[0], _GROUP_SIZE[1], {"type": "uint32", "default_value": group_size}),
    ]
    for lists in data[:2]:
        lists["singleton"]["repeated"] = True
    return [
        {
            **_indexed(pipeline.name, selector, "Selector", _GROUP),
            "size": groups,
            "depends_on": [f"{pipeline.name}.{profile.path}"],
            "data": data,
            "supported_operations": [],
            "attributes": [],
        }
    ]


def _value_set(pipe: str, instance: ValueSetInstance) -> dict[str, Any]:
    """Entries have neither priorities nor actions; a default there is none."""
    return {
        "name": f"{pipe}.{instance.path}",
        "id": 0,
        "table_type": "ParserValueSet",
        "size": instance.symbol.size,
        "annotations": [],
        "depends_on": [],
        "has_const_default_action": False,
        "key": [
            _key_field(number, name, _table_type(field), "Ternary", mandatory=False)
            for number, (name, field) in enumerate(instance.symbol.fields.items(), start=1)
        ],
        "data": [],
        "supported_operations": [],
        "attributes": ["EntryScope"],
    }


def _port_metadata(pipe: str, metadata: PortMetadata) -> dict[str, Any]:
    first = 1 if metadata.unpacked else _DEFAULT_FIELD_ID
    fields = enumerate(metadata.type.fields.items(), start=first)
    data = [_datum(number, name, _table_type(type_)) for number, (name, type_) in fields]
    return {
        "name": f"{pipe}.{metadata.path}",
        "id": 0,
        "table_type": "PortMetadata",
        "size": PORTS,
        "annotations": [],
        "depends_on": [],
        "has_const_default_action": False,
        "key": [
            _key_field(
                _PORT_ID,
                metadata.key,
                {"type": "bytes", "width": PORT_BITS},
                "Exact",
                mandatory=True,
            )
        ],
        "data": [{**datum, "mandatory": metadata.unpacked} for datum in data],
        "supported_operations": [],
        "attributes": [],
    }


def _keys(declaration: syntax.Table) -> list[dict[str, Any]]:
    keys = [
        _key_field(
            number,
            key_name(key),
            _table_type(key.expression.type),
            _MATCH_TYPES[key.match_kind],
            mandatory=False,
        )
        for number, key in enumerate(declaration.match_keys, start=1)
    ]
    if any(key.match_kind in ("ternary", "range") for key in declaration.keys):
        keys.append(
            _key_field(PRIORITY_ID, "$MATCH_PRIORITY", {"type": "uint32"}, "Exact", mandatory=False)
        )
    return keys


def _key_field(
    number: int, name: str, type_: dict[str, Any], match_type: str, *, mandatory: bool
) -> dict[str, Any]:
    """One field of a table's key."""
    return {
        "id": number,
        "name": name,
        "repeated": False,
        "annotations": [],
        "mandatory": mandatory,
        "match_type": match_type,
        "type": type_,
    }


def _table_type(type_: types.Type | None) -> dict[str, Any]:
    """In keys and action data a bool is a number of one bit: as the compiler says it."""
    assert type_ is not None
    return _type(types.Bit(1) if types.underlying(type_) == types.BOOL else type_)


def key_name(key: syntax.TableKey) -> str:
    return given_name(expression_text(key.expression), key.annotations)


def _type(type_: types.Type) -> dict[str, Any]:
    base = types.underlying(type_)
    if base == types.BOOL:
        return {"type": "bool"}
    return {"type": "bytes", "width": types.width_of(base)}


def action_name(table: TableInstance, symbol: ActionSymbol) -> str:
    name = given_name(symbol.name, symbol.declaration.annotations)
    return join_path(table.block.path if symbol.owner else "", name)


def _action(table: TableInstance, number: int, reference: syntax.ActionReference) -> dict[str, Any]:
    symbol: ActionSymbol = reference.symbol
    return {
        "id": number,
        "name": action_name(table, symbol),
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
                "type": _table_type(parameter.type),
            }
            for i, parameter in enumerate(symbol.data, start=1)
        ],
    }


def _counter_data(instance: ExternInstance) -> list[dict[str, Any]]:
    kind = constant_name(instance, len(instance.arguments) - 1)
    names = []
    if kind in ("BYTES", "PACKETS_AND_BYTES"):
        names.append("$COUNTER_SPEC_BYTES")
    if kind in ("PACKETS", "PACKETS_AND_BYTES"):
        names.append("$COUNTER_SPEC_PKTS")
    zero = {"type": "uint64", "default_value": 0}
    return [_datum(_COUNTER_IDS[name], name, zero) for name in names]


def _datum(number: int, name: str, type_: dict[str, Any]) -> dict[str, Any]:
    """One field of the data of a counter, register or meter."""
    return {
        "mandatory": False,
        "read_only": False,
        "singleton": {
            "id": number,
            "name": name,
            "repeated": False,
            "annotations": [],
            "type": type_,
        },
    }


def _register_datum(number: int, name: str, type_: dict[str, Any]) -> dict[str, Any]:
    """BfRt's clients know by the annotation that what they read has a value of each pipe."""
    datum = _datum(number, name, type_)
    annotation = {"name": "$bfrt_field_class", "value": "register_data"}
    datum["singleton"]["annotations"].append(annotation)
    return datum


def _indexed(
    pipe: str, instance: ExternInstance, table_type: str, index: tuple[int, str]
) -> dict[str, Any]:
    """What the tables of counters and registers have in common: one key, the index."""
    number, name = index
    return {
        "name": f"{pipe}.{instance.path}",
        "id": 0,
        "table_type": table_type,
        "size": instance.arguments[0],
        "annotations": [],
        "depends_on": [],
        "has_const_default_action": False,
        "key": [_key_field(number, name, {"type": "uint32"}, "Exact", mandatory=True)],
    }


def _counter(pipe: str, instance: ExternInstance) -> dict[str, Any]:
    return {
        **_indexed(pipe, instance, "Counter", _COUNTER_INDEX),
        "data": _counter_data(instance),
        "supported_operations": ["Sync"],
        "attributes": ["EntryScope"],
    }


def _register(pipe: str, instance: ExternInstance) -> dict[str, Any]:
    fields = enumerate(cell_fields(instance.type.arguments[0]), start=1)
    return {
        **_indexed(pipe, instance, "Register", _REGISTER_INDEX),
        "data": [
            _register_datum(number, f"{instance.path}.{field}", _type(type_))
            for number, (field, type_) in fields
        ],
        "supported_operations": ["Sync"],
        "attributes": ["EntryScope"],
    }


def _meter(pipe: str, instance: ExternInstance) -> dict[str, Any]:
    unlimited = {"type": "uint64", "default_value": 2**64 - 1}
    first, names = _METER_DATA[meter_unit(instance)]
    return {
        **_indexed(pipe, instance, "Meter", _METER_INDEX),
        "data": [
            _datum(number, f"$METER_SPEC_{name}", unlimited)
            for number, name in enumerate(names, start=first)
        ],
        "supported_operations": [],
        "attributes": ["EntryScope", "MeterByteCountAdjust"],
    }


def _learn_filter(pipe: str, number: int, instance: ExternInstance) -> dict[str, Any]:
    return {
        "name": f"{pipe}.{instance.path}",
        "id": _FIRST_FILTER_ID + number,
        "annotations": [],
        "fields": [
            {"id": i, "name": name, "repeated": False, "annotations": [], "type": _type(type_)}
            for i, (name, type_) in enumerate(digest_fields(instance), start=1)
        ],
    }

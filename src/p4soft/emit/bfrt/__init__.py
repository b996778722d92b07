"""The control-plane schema, in the shape and with the names of the SDE's bfrt.json: a file for each
kind of table.
"""

from __future__ import annotations

from p4soft.elaborate import ExternInstance, Pipeline
from p4soft.emit.bfrt.counters import counter
from p4soft.emit.bfrt.documents import Document, bits_type
from p4soft.emit.bfrt.filters import filter_table
from p4soft.emit.bfrt.hashes import hash_tables
from p4soft.emit.bfrt.match_tables import port_metadata, table, value_set
from p4soft.emit.bfrt.meters import meter
from p4soft.emit.bfrt.profiles import profile, selector
from p4soft.emit.bfrt.registers import register, register_param
from p4soft.emit.externs.deparsers import digest_fields

_FIRST_TABLE_ID = 0x0200_0001
_FIRST_FILTER_ID = 0x0B00_0001
_OF_CELLS = {
    "Counter": counter,
    "Register": register,
    "RegisterParam": register_param,
    "Meter": meter,
    "Lpf": filter_table,
    "Wred": filter_table,
}
_OF_ACTIONS = {"ActionProfile": profile, "ActionSelector": selector}


def schema(pipelines: list[Pipeline]) -> Document:
    """The document; ids follow the order of the source and are stable as long as that is."""
    tables = [document for pipeline in pipelines for document in _tables(pipeline)]
    for number, document in enumerate(tables):
        document["id"] = _FIRST_TABLE_ID + number
    ids = {document["name"]: document["id"] for document in tables}
    for document in tables:
        document["depends_on"] = [ids[name] for name in document["depends_on"] if name in ids]
    digests = [(pipeline.name, each) for pipeline in pipelines for each in pipeline.digests()]
    filters = [_learn_filter(pipe, number, each) for number, (pipe, each) in enumerate(digests)]
    return {"schema_version": "1.0.0", "tables": tables, "learn_filters": filters}


def _tables(pipeline: Pipeline) -> list[Document]:
    """Without ids; those they depend on by their names."""
    pipe = pipeline.name
    tables = [table(pipe, instance) for instance in pipeline.known_tables()]
    tables += [value_set(pipe, instance) for instance in pipeline.known_value_sets()]
    if pipeline.port_metadata is not None:
        tables.append(port_metadata(pipe, pipeline.port_metadata))
    for extern in pipeline.known_externs():
        if extern.type.name in _OF_ACTIONS:
            tables += _OF_ACTIONS[extern.type.name](pipeline, extern)
        elif extern.type.name in _OF_CELLS:
            tables.append(_OF_CELLS[extern.type.name](pipe, extern))
    for extern in pipeline.known_externs():
        if extern.type.name == "Hash":
            tables += hash_tables(pipeline, extern)
    return tables


def _learn_filter(pipe: str, number: int, instance: ExternInstance) -> Document:
    return {
        "name": f"{pipe}.{instance.path}",
        "id": _FIRST_FILTER_ID + number,
        "annotations": [],
        "fields": [
            {"id": i, "name": name, "repeated": False, "annotations": [], "type": bits_type(type_)}
            for i, (name, type_) in enumerate(digest_fields(instance), start=1)
        ],
    }

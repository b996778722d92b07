"""Hash: how it is computed, by which algorithm, and the result for given fields. Each is a table
without entries of its own.
"""

from __future__ import annotations

from p4soft.dynamic_hashes import DynamicHash, HashField
from p4soft.elaborate import ExternInstance, Pipeline
from p4soft.emit.bfrt.documents import UINT32, Document, datum, key_field, table_document

_ROTATE, _SEED, _MSB, _EXTEND = 65577, 65578, 65579, 65580
_PRE_DEFINED, _USER_DEFINED = 65581, 65582  # actions
_HASH_VALUE = 65583
_START_BIT, _LENGTH, _ORDER = 65584, 65585, 65586

_FLAG: Document = {"type": "bool", "default_value": False}
_NUMBER: Document = {"type": "uint64"}
_ZERO: Document = {**_NUMBER, "default_value": 0}

# In the order of an SDE.
_ALGORITHMS = [
    "IDENTITY",
    "RANDOM",
    "XOR",
    "CRC_8",
    "CRC_8_DARC",
    "CRC_8_I_CODE",
    "CRC_8_ITU",
    "CRC_8_MAXIM",
    "CRC_8_ROHC",
    "CRC_8_WCDMA",
    "CRC_16",
    "CRC_16_BYPASS",
    "CRC_16_DDS_110",
    "CRC_16_DECT",
    "CRC_16_DECT_R",
    "CRC_16_DECT_X",
    "CRC_16_DNP",
    "CRC_16_EN_13757",
    "CRC_16_GENIBUS",
    "CRC_16_MAXIM",
    "CRC_16_MCRF4XX",
    "CRC_16_RIELLO",
    "CRC_16_T10_DIF",
    "CRC_16_TELEDISK",
    "CRC_16_USB",
    "X_25",
    "XMODEM",
    "MODBUS",
    "KERMIT",
    "CRC_CCITT_FALSE",
    "CRC_AUG_CCITT",
    "CRC_32",
    "CRC_32_BZIP2",
    "CRC_32C",
    "CRC_32D",
    "CRC_32_MPEG",
    "POSIX",
    "CRC_32Q",
    "JAMCRC",
    "XFER",
    "CRC_64",
    "CRC_64_GO_ISO",
    "CRC_64_WE",
    "CRC_64_JONES",
]


def hash_tables(pipeline: Pipeline, instance: ExternInstance) -> list[Document]:
    """None of a hash that the control plane cannot configure."""
    hash_ = pipeline.dynamic_hashes.get(instance)
    if hash_ is None:
        return []
    pipe, path = pipeline.name, instance.path
    annotations = [
        f"{a.name}({', '.join(token.text for token in a.arguments if token.text != ',')})"
        if a.arguments
        else a.name
        for a in instance.annotations
        if a.name != "name"
    ]
    algorithm = table_document(
        pipe,
        f"{path}.algorithm",
        "DynHashAlgorithm",
        1,
        key=[],
        data=[
            datum(_ROTATE, "rotate", {**UINT32, "default_value": 0}),
            datum(_SEED, "seed", {**UINT32, "default_value": 0}),
            datum(_MSB, "msb", _FLAG),
            datum(_EXTEND, "extend", _FLAG),
        ],
        action_specs=_algorithm_actions(),
        annotations=annotations,
        depends_on=[f"{path}.configure"],
    )
    configure = table_document(
        pipe,
        f"{path}.configure",
        "DynHashConfigure",
        1,
        key=[],
        data=[_slices(number, field) for number, field in enumerate(hash_.fields, start=1)],
        annotations=annotations,
    )
    return [algorithm, configure, _compute(pipe, path, hash_, annotations)]


def _algorithm_actions() -> list[Document]:
    names = {"type": "string", "choices": _ALGORITHMS, "default_value": "RANDOM"}
    parameters = [
        ("reverse", _FLAG),
        ("polynomial", _NUMBER),
        ("init", _ZERO),
        ("final_xor", _ZERO),
        ("hash_bit_width", _NUMBER),
    ]
    user_defined = [_parameter(i, *each) for i, each in enumerate(parameters, start=1)]
    return [
        _action(_PRE_DEFINED, "pre_defined", [_parameter(1, "algorithm_name", names)]),
        _action(_USER_DEFINED, "user_defined", user_defined),
    ]


def _action(number: int, name: str, data: list[Document]) -> Document:
    scope = "TableAndDefault"
    return {"id": number, "name": name, "action_scope": scope, "annotations": [], "data": data}


def _parameter(number: int, name: str, type_: Document) -> Document:
    marks = {"mandatory": name == "polynomial", "read_only": False}
    return {**datum(number, name, type_)["singleton"], **marks}


def _slices(number: int, field: HashField) -> Document:
    """The parts of a field that count: a list of slices."""
    container = [
        datum(_START_BIT, "start_bit", _ZERO),
        datum(_LENGTH, "length", {**_NUMBER, "default_value": field.width}),
        {**datum(_ORDER, "order", _NUMBER), "mandatory": True},
    ]
    document = datum(number, field.name, {}, repeated=True)
    del document["singleton"]["type"]
    document["singleton"]["container"] = container
    if field.value is not None:
        document["singleton"]["annotations"].append({"name": "bfrt_p4_constant"})
    return document


def _compute(pipe: str, path: str, hash_: DynamicHash, annotations: list[str]) -> Document:
    fields = [field for field in hash_.fields if field.value is None]
    value = datum(_HASH_VALUE, "hash_value", {"type": "bytes", "width": hash_.width})
    document = table_document(
        pipe,
        f"{path}.compute",
        "DynHashCompute",
        1,
        key=[
            key_field(
                number,
                field.name,
                {"type": "bytes", "width": field.width},
                "Exact",
                mandatory=False,
            )
            for number, field in enumerate(fields, start=1)
        ],
        data=[{**value, "read_only": True}],
        annotations=annotations,
        depends_on=[f"{path}.configure"],
    )
    return {**document, "read_only": True}

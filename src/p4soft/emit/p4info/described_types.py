"""Types of keys, parameters, registers and digests, as P4Info describes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from p4soft.check import types
from p4soft.emit.p4info.text import Message

Members = dict[str, dict[str, Any]]


@dataclass
class DescribedTypes:
    """Collects the named types that a description mentions, for P4Info's type_info."""

    structs: Members = field(default_factory=dict)
    headers: Members = field(default_factory=dict)
    serializable_enums: Members = field(default_factory=dict)
    new_types: Members = field(default_factory=dict)

    def named(self, type_: types.Type) -> Message | None:
        """The type_name of a field: of new types alone, as p4c has it. Enums are described, too."""
        if isinstance(type_, types.Distinct | types.Enum):
            self.spec(type_)
        return {"name": type_.name} if isinstance(type_, types.Distinct) else None

    def spec(self, type_: types.Type) -> Message:
        """A P4DataTypeSpec."""
        if isinstance(type_, types.Distinct):
            self.new_types.setdefault(type_.name, {"original_type": self.spec(type_.base)})
            return {"new_type": {"name": type_.name}}
        if isinstance(type_, types.Enum):
            return self._enum(type_)
        if isinstance(type_, types.Composite):
            return self._composite(type_)
        if type_ == types.BOOL:
            return {"bool": {}}
        return {"bitstring": _bitstring(type_)}

    def _enum(self, enum: types.Enum) -> Message:
        base = enum.base
        assert base is not None, "tables, registers and digests have no enum without values"
        width = (base.width + 7) // 8
        members = [
            {"name": name, "value": (value % (1 << base.width)).to_bytes(width, "big")}
            for name, value in enum.members.items()
        ]
        described = {"underlying_type": {"bitwidth": base.width}, "members": members}
        self.serializable_enums.setdefault(enum.name, described)
        return {"serializable_enum": {"name": enum.name}}

    def _composite(self, composite: types.Composite) -> Message:
        if composite.is_header:
            members: list[Message] = [
                {"name": name, "type_spec": _bitstring(types.underlying(type_))}
                for name, type_ in composite.fields.items()
            ]
            self.headers.setdefault(composite.name, {"members": members})
            return {"header": {"name": composite.name}}
        members = [
            {"name": name, "type_spec": self.spec(type_)}
            for name, type_ in composite.fields.items()
        ]
        self.structs.setdefault(composite.name, {"members": members})
        return {"struct": {"name": composite.name}}

    def type_info(self) -> Message:
        maps: Mapping[str, Members] = {
            "structs": self.structs,
            "headers": self.headers,
            "serializable_enums": self.serializable_enums,
            "new_types": self.new_types,
        }
        return {
            name: [{"key": key, "value": value} for key, value in sorted(described.items())]
            for name, described in maps.items()
        }


def _bitstring(type_: types.Type) -> Message:
    kind = "int" if isinstance(type_, types.Int) else "bit"
    return {kind: {"bitwidth": types.width_of(type_)}}

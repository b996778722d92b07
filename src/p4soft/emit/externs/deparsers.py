"""What deparsers ask the switch for: Mirror, Resubmit and Digest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

from p4soft.check import types
from p4soft.check.symbols import Target
from p4soft.elaborate import BlockInstance, ExternInstance
from p4soft.emit.cpp_types import to_raw
from p4soft.emit.externs.base import Extern, field_list, top_block
from p4soft.emit.order import PADDING
from p4soft.emit.state import Emission
from p4soft.errors import P4Error, Position, unsupported
from p4soft.frontend import syntax
from p4soft.tree import walk

if TYPE_CHECKING:
    from p4soft.emit.block import BlockEmitter

# The intrinsic metadata that chooses among a deparser's Mirrors, Resubmits and Digests.
_SELECTORS = {"Mirror": "mirror_type", "Resubmit": "resubmit_type", "Digest": "digest_type"}
MAX_MIRROR_BYTES = 32
RESUBMIT_BYTES = 8
MAX_DIGEST_BYTES = 48


def uses(deparser: BlockInstance, *names: str) -> bool:
    """Whether a deparser has one of these externs."""
    return any(e.type.name in names for b in deparser.with_descendants() for e in b.externs)


def selectors(deparser: BlockInstance) -> list[str]:
    """The fields that choose among the deparser's instances made with a type."""
    return sorted(
        {
            _SELECTORS[extern.type.name]
            for block in deparser.with_descendants()
            for extern in block.externs
            if extern.type.name in _SELECTORS and extern.arguments
        }
    )


def types_with_zero(deparser: BlockInstance) -> list[str]:
    """The fields of which the deparser asks whether they are 0: only then does it make a difference
    whether the control has assigned them.
    """
    found = set()
    for block in deparser.with_descendants():
        for node in walk(block.declaration.body):
            if isinstance(node, syntax.Binary) and node.operator == "==":
                for side, other in ((node.left, node.right), (node.right, node.left)):
                    if is_type_field(side) and other.value == 0:
                        found.add(side.name)
        for extern in block.externs:
            if extern.type.name in _SELECTORS and extern.arguments[:1] == [0]:
                found.add(_SELECTORS[extern.type.name])
    return sorted(found)


def is_type_field(place: syntax.Expression) -> TypeGuard[syntax.Member]:
    return (
        isinstance(place, syntax.Member)
        and place.name in _SELECTORS.values()
        and isinstance(place.base.type, types.Composite)
        and place.base.type.name.endswith("_intrinsic_metadata_for_deparser_t")
    )


class DeparserExtern(Extern):
    places: tuple[str, ...] = ("ingress_deparser", "egress_deparser")

    def declare(self, emission: Emission, instance: ExternInstance) -> None:
        if top_block(emission, instance) not in self.places:
            allowed = " or ".join(place.replace("_", " ") for place in self.places)
            raise P4Error(
                instance.position,
                f"a {instance.type.name} belongs in the {allowed} of the pipeline",
            )

    def request(
        self, emitter: BlockEmitter, instance: ExternInstance, text: str, trace: str
    ) -> None:
        """Adds the C++ statement that asks the switch, and the one that tells a trace so.

        An instance made with a type, Mirror(2), asks only if the intrinsic metadata names that
        type, whatever `if` stands around the call.
        """
        chosen = ""
        if instance.arguments:
            chosen = f"if ({_SELECTORS[instance.type.name]}_ == {instance.arguments[0]}) "
        emitter.lines.add(chosen + text)
        emitter.lines.trace(chosen + trace)

    def data(self, emitter: BlockEmitter, data: syntax.Expression, limit: int, what: str) -> str:
        """C++ text of the bytes of a header or list."""
        name, bits = field_list(emitter, data)
        check_size(data.position, bits // 8, limit, what)
        return f"{name}.bytes()"


def check_size(position: Position, size: int, limit: int, what: str) -> None:
    if size > limit:
        raise P4Error(position, f"{what} has {size} bytes; Tofino takes {limit}")


class Mirror(DeparserExtern):
    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        texts = emitter.arguments(
            call,
            target,
            hdr=lambda data: self.data(emitter, data, MAX_MIRROR_BYTES, "this mirror header"),
        )
        number, header = texts["session_id"], texts.get("hdr", "{}")
        trace = f'trace_.mirror("{instance.path}", {number}, {header});'
        self.request(emitter, instance, f"request_mirror({number}, {header});", trace)
        return ""


class Resubmit(DeparserExtern):
    places = ("ingress_deparser",)

    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        data = "{}"
        if target.arguments and target.arguments[0] is not None:
            data = self.data(emitter, target.arguments[0], RESUBMIT_BYTES, "this resubmit data")
        trace = f'trace_.resubmit("{instance.path}", {data});'
        self.request(emitter, instance, f"request_resubmit(*packet_, {data});", trace)
        return ""


class Digest(DeparserExtern):
    """A digest's fields go to the queue one after the other, each in whole bytes."""

    places = ("ingress_deparser",)

    def declare(self, emission: Emission, instance: ExternInstance) -> None:
        super().declare(emission, instance)
        digest_fields(instance)

    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        data = target.arguments[0]
        assert data is not None
        parts = [part for part in emitter.flatten(data) if part.name != PADDING]
        widths = [types.width_of(part.type) or 0 for part in parts]
        total = sum(map(whole_bytes, widths))
        check_size(call.position, total, MAX_DIGEST_BYTES, "this digest")
        fields = emitter.temporary("fields")
        emitter.lines.add(f"FieldList<{8 * total}> {fields};")
        offset = 0
        for part, width in zip(parts, widths, strict=True):
            offset += 8 * whole_bytes(width)
            raw = to_raw(part.text, part.type)
            emitter.lines.add(f"{fields}.put<{offset - width}, {width}>({raw});")
        emission = emitter.emission
        number = emission.first_digest + emission.pipeline.digests().index(instance)
        content = f"{fields}.bytes()"
        pushed = f"digests_.push({number}, packet_->ingress_port, {content});"
        self.request(emitter, instance, pushed, f"trace_.digest({number}, {content});")
        return ""


def whole_bytes(bits: int) -> int:
    return (bits + 7) // 8


def digest_fields(instance: ExternInstance) -> list[tuple[str, types.Type]]:
    """Name and type of each field of a digest, in order."""
    data = instance.type.arguments[0]
    if not isinstance(data, types.Composite) or any(
        isinstance(field, (types.Composite, types.Stack)) or types.width_of(field) is None
        for field in data.fields.values()
    ):
        raise unsupported(
            instance.position, f"a Digest of {data}", "a header or struct of bit<W>, int<W>, bool"
        )
    return list(data.fields.items())

"""Where headers with @flexible fields may appear: only inside the switch.

The Tofino compiler chooses their layout, so nobody else can read or write them. Between ingress and
egress (bridged or mirrored) and with resubmitted and recirculated packets that does no harm.
"""

from __future__ import annotations

from collections.abc import Iterator

from p4soft.check import types
from p4soft.elaborate import BlockInstance, Pipeline
from p4soft.errors import P4Error
from p4soft.frontend import syntax
from p4soft.tree import walk


def check_flexible_headers(pipeline: Pipeline) -> None:
    blocks = pipeline.blocks
    resubmitted = _types(_calls(blocks["ingress_deparser"], "Resubmit", "emit"))
    # What ingress makes itself comes back to it by recirculation.
    sent = _types(_calls(blocks["ingress_deparser"], "packet_out", "emit"))
    ingress = (blocks["ingress_parser"], blocks["ingress"])
    recirculated = sent & {t for b in ingress for t in _types(_calls(b, "", "setValid"))}
    for call in _calls(blocks["ingress_parser"], "packet_in", "extract"):
        _refuse(call, resubmitted | recirculated, "is read from the wire here")
    taken_off = _types(_calls(blocks["egress_parser"], "packet_in", "extract"))
    for deparser, extern in (
        ("ingress_deparser", "packet_out"),
        ("ingress_deparser", "Mirror"),
        ("egress_deparser", "Mirror"),
    ):
        for call in _calls(blocks[deparser], extern, "emit"):
            _refuse(call, taken_off, "is emitted here and the egress parser does not extract it")
    egress = [blocks["egress_parser"], blocks["egress"], blocks["egress_deparser"]]
    made = taken_off | {t for b in egress for t in _types(_calls(b, "", "setValid"))}
    gone = {t for b in egress for t in _types(_calls(b, "", "setInvalid"))}
    for call in _calls(blocks["egress_deparser"], "packet_out", "emit"):
        inside = {t for t in _headers_of(_data(call)) if t not in made or t in gone}
        _refuse(call, inside, "leaves the switch here")


def _refuse(call: syntax.Call, allowed: set[types.Type], what: str) -> None:
    for header in _headers_of(_data(call)):
        if header.is_flexible and header not in allowed:
            raise P4Error(
                call.position,
                f"header '{header.name}' has @flexible fields, whose layout the Tofino compiler "
                f"chooses, but it {what}; without @flexible, pad it to whole bytes with @padding "
                "fields",
            )


def _calls(block: BlockInstance, extern: str, method: str) -> Iterator[syntax.Call]:
    """Calls of an extern's method, or (extern "") of a header's, in a block and its parts."""
    for part in block.with_descendants():
        for node in walk(part.declaration):
            if not isinstance(node, syntax.Call) or node.target is None:
                continue
            base = node.target.base
            type_ = None if base is None else base.type
            owner = type_.name if isinstance(type_, types.Generic) else ""
            if node.target.name == method and owner == extern and _data(node) is not None:
                yield node


def _data(call: syntax.Call) -> types.Type | None:
    """The type of what a call extracts, emits or makes valid."""
    if call.target.kind == "builtin":
        return call.target.base.type
    names = [parameter.name for parameter in call.target.parameters]
    if "hdr" not in names:
        return None
    argument = call.target.arguments[names.index("hdr")]
    return None if argument is None else argument.type


def _types(calls: Iterator[syntax.Call]) -> set[types.Type]:
    return {header for call in calls for header in _headers_of(_data(call))}


def _headers_of(type_: types.Type | None) -> Iterator[types.Composite]:
    """A header, or those of a struct or stack."""
    if isinstance(type_, types.Stack):
        yield type_.element
    elif isinstance(type_, types.Composite) and type_.is_header:
        yield type_
    elif isinstance(type_, types.Composite):
        for field in type_.fields.values():
            yield from _headers_of(field)

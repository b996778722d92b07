"""@pa_alias("ingress", "local_md.port", "ig_intr_md_for_tm.ucast_egress_port"): two fields of
metadata are one.

The Tofino compiler puts both into the same bits of the same container and checks nothing: what is
written to one is read from the other. A narrower field is the low bits of the wider one. Programs
rely on it, so it is no hint.
"""

from __future__ import annotations

from collections.abc import Iterator

from p4soft.check import types
from p4soft.check.symbols import near
from p4soft.elaborate import Alias, AliasedField, Pipeline
from p4soft.errors import P4Error, unsupported
from p4soft.frontend import syntax

ALIAS = "pa_alias"
_EXPECTED = '@pa_alias("ingress" or "egress", "PARAMETER.FIELD", "PARAMETER.FIELD")'
_METADATA = "fields of bit<W> in metadata of the control"


def find_aliases(program: syntax.Program, pipeline: Pipeline) -> None:
    """Sets pipeline.aliases, narrower fields first. Raises P4Error."""
    for annotation in program.annotations:
        if annotation.name != ALIAS:
            continue
        texts = [token.text for token in annotation.arguments]
        words = [text.strip('"') for text in texts if text.startswith('"')]
        if len(words) != 3 or words[0] not in ("ingress", "egress"):
            raise unsupported(annotation.position, "this @pa_alias", _EXPECTED)
        control = pipeline.blocks[words[0]].declaration
        fields = [_field(name, control, annotation) for name in words[1:]]
        taken = {f.name for a in pipeline.aliases if a.gress == words[0] for f in (a.part, a.whole)}
        for each in fields:
            if each.name in taken or fields[0].name == fields[1].name:
                raise P4Error(
                    annotation.position,
                    f"'{each.name}' has an alias already; a field can be in one @pa_alias",
                )
        part, whole = sorted(fields, key=lambda each: each.width)
        pipeline.aliases.append(Alias(words[0], part, whole))


def _field(
    name: str, control: syntax.Parser | syntax.Control, annotation: syntax.Annotation
) -> AliasedField:
    """What a name means in a control: a parameter, and fields."""
    first, *path = name.split(".")
    parameters = {p.name: p.symbol for p in control.parameters}
    if first not in parameters:
        raise P4Error(
            annotation.position,
            f"@pa_alias: '{first}' is no parameter of {control.name}{near(first, [*parameters])}",
        )
    type_: types.Type = parameters[first].type
    steps: list[tuple[types.Composite, str]] = []
    for step in path:
        names = list(type_.fields) if isinstance(type_, types.Composite) else []
        if not isinstance(type_, types.Composite) or step not in names:
            raise P4Error(
                annotation.position, f"@pa_alias: {type_} has no field '{step}'{near(step, names)}"
            )
        steps.append((type_, step))
        type_ = type_.fields[step]
    base = types.underlying(type_)
    of_header = any(composite.is_header for composite, _ in steps)
    writable = parameters[first].direction == "inout"
    if not isinstance(base, types.Bit) or not steps or of_header or not writable:
        raise unsupported(annotation.position, f"@pa_alias of '{name}'", _METADATA)
    return AliasedField(first, tuple(steps), base.width)


def touched(pipeline: Pipeline, gress: str, place: syntax.Expression) -> Iterator[Alias]:
    """The aliases that a write to a place may be a write to."""
    while isinstance(place, (syntax.Slice, syntax.Cast)):
        place = place.base if isinstance(place, syntax.Slice) else place.operand
    for alias in pipeline.aliases:
        if alias.gress == gress:
            steps = (*alias.part.steps, *alias.whole.steps)
            is_whole = any(place.type is composite for composite, _ in steps)
            is_step = isinstance(place, syntax.Member) and any(
                place.base.type is composite and place.name == name for composite, name in steps
            )
            if is_whole or is_step:
                yield alias

"""@symmetric("a", "b") of a Hash: the hash is the same when the values of the two fields change
places.

As the Tofino compiler does: both fields go into the hash at the place of the one that is later in
the list, where they add up without carry (a CRC is linear), and the place of the earlier one is 0.
"""

from __future__ import annotations

from p4soft.check import types
from p4soft.elaborate import ExternInstance
from p4soft.emit.cpp_types import to_raw
from p4soft.emit.order import Part
from p4soft.errors import P4Error, Position
from p4soft.frontend import syntax
from p4soft.frontend.lexer import Kind


def with_symmetric_pairs(
    instance: ExternInstance, parts: list[Part], position: Position
) -> list[Part]:
    """The fields that are hashed, for those that the program gives. `position` is of the call."""
    result = list(parts)
    for first, second in symmetric_pairs(instance, parts, position):
        _pair(result, first, second)
    return result


def symmetric_pairs(
    instance: ExternInstance, parts: list[Part], position: Position
) -> list[tuple[int, int]]:
    """Which of the fields belong together, the earlier one first. Raises P4Error."""
    result: list[tuple[int, int]] = []
    paired: set[int] = set()
    for annotation in instance.annotations:
        if annotation.name != "symmetric":
            continue
        names = _names(annotation)
        first, second = sorted(_index(parts, name, annotation, position) for name in names)
        if first == second or paired & {first, second}:
            raise P4Error(
                annotation.position,
                "a field can be symmetric to one other, and not to itself",
            )
        if types.width_of(parts[first].type) != types.width_of(parts[second].type):
            raise P4Error(annotation.position, "the two symmetric fields differ in width")
        paired |= {first, second}
        result.append((first, second))
    return result


def _names(annotation: syntax.Annotation) -> list[str]:
    kinds = [token.kind for token in annotation.arguments]
    if kinds != [Kind.STRING, Kind.PUNCTUATION, Kind.STRING]:
        raise P4Error(
            annotation.position,
            'expected the names of two fields, as in @symmetric("hdr.ipv4.src", "hdr.ipv4.dst")',
        )
    return [token.text.strip('"') for token in annotation.arguments[::2]]


def _index(parts: list[Part], name: str, annotation: syntax.Annotation, position: Position) -> int:
    for i, part in enumerate(parts):
        if part.name == name:
            return i
    raise P4Error(
        annotation.position,
        f"'{name}' is not among the fields hashed at {position.line}:{position.column}; expected "
        "a whole field of that list, written as it is there",
    )


def _pair(parts: list[Part], first: int, second: int) -> None:
    width = types.width_of(parts[first].type)
    raw = [to_raw(parts[i].text, parts[i].type) for i in (first, second)]
    both = f"bit_ops::bit_xor<{width}>({raw[0]}, {raw[1]})"
    bits = types.Bit(width or 0)
    parts[first] = parts[first]._replace(text=f"Unsigned<{width}>{{0}}", type=bits)
    parts[second] = parts[second]._replace(text=both, type=bits)

"""Controls and parsers that are applied by their type: the program names no instance."""

from __future__ import annotations

from p4soft.check import types
from p4soft.frontend import syntax

# Externs that the control plane does not see: their instances may have the same name.
_WITHOUT_NAMES = frozenset(
    ["CRCPolynomial", "Checksum", "Hash", "MathUnit", "Random", "RegisterAction"]
)


def is_block(type_: types.Type) -> bool:
    """Whether it is a control or parser with a body."""
    if not isinstance(type_, types.Generic):
        return False
    block = type_.declaration
    return (isinstance(block, syntax.Control) and block.body is not None) or (
        isinstance(block, syntax.Parser) and block.states is not None
    )


def is_controllable(type_: types.Generic) -> bool:
    """Whether an instance has something that the control plane knows by its name."""
    block = type_.declaration
    assert isinstance(block, (syntax.Control, syntax.Parser))
    for local in block.locals:
        if isinstance(local, (syntax.Table, syntax.ValueSet)):
            return True
        if isinstance(local, syntax.Instantiation):
            inner = local.symbol.type
            if is_controllable(inner) if is_block(inner) else inner.name not in _WITHOUT_NAMES:
                return True
    return False

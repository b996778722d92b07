"""Operators that Tofino has only with constants."""

from __future__ import annotations

from p4soft.check.symbols import VariableSymbol
from p4soft.errors import unsupported
from p4soft.frontend import syntax


def check_arithmetic(binary: syntax.Binary) -> None:
    """Of two checked operands."""
    left, right, operator = binary.left.value, binary.right.value, binary.operator
    if is_known(binary.left) and is_known(binary.right):
        return
    if operator in ("/", "%"):
        raise unsupported(
            binary.position,
            f"'{operator}' at run time",
            "division of constants (Tofino has no divider)",
        )
    if operator == "*" and not (_is_power_of_two(left) or _is_power_of_two(right)):
        raise unsupported(
            binary.position,
            "'*' at run time",
            "multiplication by a power of two (Tofino has no multiplier)",
        )


def check_shift(binary: syntax.Binary) -> None:
    if binary.right.value is None:
        raise unsupported(
            binary.right.position,
            "a shift by what is no constant",
            "constant amounts (Tofino has no other shifts; a table can choose among them)",
        )


def is_known(node: syntax.Expression) -> bool:
    """Whether it is a number when instances are made: of constants and constructor parameters."""
    if node.value is not None:
        return True
    if isinstance(node, syntax.Name):
        return isinstance(node.symbol, VariableSymbol) and node.symbol.role == "constructor"
    if isinstance(node, syntax.Binary):
        return is_known(node.left) and is_known(node.right)
    return False


def _is_power_of_two(value: object) -> bool:
    return isinstance(value, int) and value > 0 and value & (value - 1) == 0

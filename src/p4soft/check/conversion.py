"""Which types go where: implicit conversion, casts, and inference of type arguments."""

from __future__ import annotations

from p4soft.check.types import (
    ANY,
    BOOL,
    INTEGER,
    Bit,
    Composite,
    Enum,
    Generic,
    Int,
    ListOf,
    RecordOf,
    Stack,
    Tuple,
    Type,
    Variable,
    Wide,
    fits,
    underlying,
    wrap,
)
from p4soft.errors import P4Error, Position
from p4soft.frontend import syntax

Bindings = dict[str, Type]


def substitute(type_: Type, bindings: Bindings) -> Type:
    if isinstance(type_, Variable):
        return bindings.get(type_.name, type_)
    if isinstance(type_, Tuple):
        return Tuple(tuple(substitute(t, bindings) for t in type_.elements))
    if isinstance(type_, Generic):
        return Generic(type_.declaration, tuple(substitute(t, bindings) for t in type_.arguments))
    return type_


def infer(parameter: Type, argument: Type, bindings: Bindings) -> None:
    """Binds type parameters in `parameter` so that it becomes `argument`, as far as the shapes
    agree.
    """
    if isinstance(parameter, Variable):
        if argument not in (INTEGER, ANY):  # neither says what the type is
            bindings.setdefault(parameter.name, argument)
    elif isinstance(parameter, Generic) and isinstance(argument, Generic):
        for p, a in zip(parameter.arguments, argument.arguments, strict=False):
            infer(p, a, bindings)
    elif isinstance(parameter, Tuple) and isinstance(argument, (Tuple, ListOf)):
        for p, a in zip(parameter.elements, argument.elements, strict=False):
            infer(p, a, bindings)


def same(left: Type, right: Type) -> bool:
    if ANY in (left, right):
        return True
    if isinstance(left, Generic) and isinstance(right, Generic):
        return (
            left.declaration is right.declaration
            and len(left.arguments) == len(right.arguments)
            and all(same(a, b) for a, b in zip(left.arguments, right.arguments, strict=True))
        )
    return left == right


def convert(expression: syntax.Expression, target: Type, what: str) -> None:
    """Makes an expression have the type `target`, by an implicit conversion if one exists; else an
    error.
    """
    source = expression.type
    assert source is not None
    if same(source, target) or isinstance(target, Variable):
        return
    if source == INTEGER and isinstance(target, (Bit, Int)):
        _adopt_constant(expression, target)
        return
    if source == INTEGER and isinstance(target, Enum) and target.base is not None:
        raise P4Error(
            expression.position,
            f"{what} is {source}, expected {target}; write a cast, ({target}) ...",
        )
    if isinstance(source, Enum) and source.base is not None and target == source.base:
        expression.type = target
        return
    if isinstance(expression, (syntax.ListExpression, syntax.StructExpression)):
        _convert_list(expression, target, what)
        return
    raise P4Error(expression.position, f"{what} is {source}, expected {target}")


def cut_to(constant: syntax.Expression, target: Bit | Int) -> None:
    """A value that its type has no room for loses its high bits (P4-16, 6.4.3.2 and 8.11.1)."""
    if not fits(constant.value, target):
        constant.cut_from = constant.value
        constant.value = wrap(constant.value, target)


def _adopt_constant(expression: syntax.Expression, target: Bit | Int) -> None:
    """An unbounded constant becomes a bit<W> or int<W>, in every node of its expression."""
    if expression.value is None:
        raise P4Error(expression.position, f"this int is not a constant; cast it to {target}")
    cut_to(expression, target)
    expression.type = target
    for part in ("then", "otherwise"):  # the branches of a conditional follow it
        child = getattr(expression, part, None)
        if isinstance(child, syntax.Expression) and child.type == INTEGER:
            _adopt_constant(child, target)


def _convert_list(
    expression: syntax.ListExpression | syntax.StructExpression, target: Type, what: str
) -> None:
    if isinstance(target, Composite) and not isinstance(target, Wide):
        wanted = list(target.fields.items())
    elif isinstance(target, Tuple):
        wanted = [(str(i), t) for i, t in enumerate(target.elements)]
    elif isinstance(target, Stack) and isinstance(expression, syntax.ListExpression):
        wanted = [(str(i), target.element) for i in range(target.size)]
    else:
        raise P4Error(expression.position, f"{what} is a list, expected {target}")
    if isinstance(expression, syntax.StructExpression):
        given = {item.name: item for item in expression.items}
        for item in expression.items:
            if item.name not in dict(wanted):
                raise P4Error(item.position, f"{target} has no field '{item.name}'")
        for name, _ in wanted:
            if name not in given:
                raise P4Error(expression.position, f"field '{name}' of {target} has no value")
        parts = [given[name].expression for name, _ in wanted]
    else:
        parts = expression.items
        if len(parts) != len(wanted):
            raise P4Error(
                expression.position, f"{what} has {len(parts)} elements, {target} has {len(wanted)}"
            )
    for part, (name, type_) in zip(parts, wanted, strict=True):
        convert(part, type_, f"field '{name}' of {target}")
    expression.type = target


def settle(expression: syntax.Expression) -> None:
    """Gives an argument of generic type a type of its own; an unbounded constant has none."""
    if expression.type == INTEGER:
        raise P4Error(
            expression.position,
            "the width of this constant is not known here; write it with one, for example 16w5",
        )
    if isinstance(expression, syntax.ListExpression):
        for item in expression.items:
            settle(item)
        expression.type = ListOf(tuple(item.type for item in expression.items if item.type))
    elif isinstance(expression, syntax.StructExpression):
        for item in expression.items:
            settle(item.expression)
        expression.type = RecordOf(
            tuple(item.name or "" for item in expression.items),
            tuple(item.expression.type for item in expression.items if item.expression.type),
        )


def check_cast(source: Type, target: Type, position: Position) -> None:
    """P4-16 specification, section 8.9.1. Raises unless the explicit cast is allowed."""
    written = f"cannot cast {source} to {target}"
    source, target = underlying(source), underlying(target)
    if same(source, target):
        return
    allowed = (
        (source == INTEGER and isinstance(target, (Bit, Int)))
        or (source == INTEGER and target == BOOL)
        or (isinstance(source, (Bit, Int)) and target == INTEGER)
        or (isinstance(source, Bit) and isinstance(target, Bit))
        or (isinstance(source, Int) and isinstance(target, Int))
        or (isinstance(source, Bit) and isinstance(target, Int) and source.width == target.width)
        or (isinstance(source, Int) and isinstance(target, Bit) and source.width == target.width)
        or (source == Bit(1) and target == BOOL)
        or (source == BOOL and target == Bit(1))
    )
    if not allowed:
        hint = ""
        if isinstance(source, (Bit, Int)) and isinstance(target, (Bit, Int)):
            hint = "; change the width and the sign in two casts"
        raise P4Error(position, written + hint)


def cast_constant(value: int | bool, target: Type, position: Position) -> int | bool:
    if target == BOOL:
        if value not in (0, 1):
            raise P4Error(position, f"cannot cast {value} to bool; only 0 and 1 can be")
        return bool(value)
    return wrap(int(value), target)


def element_type(type_: Type, name: str) -> Type | None:
    """The type of field `name`, or None."""
    if isinstance(type_, Composite) and not isinstance(type_, Wide):
        return type_.fields.get(name)
    if isinstance(type_, Stack) and name in ("next", "last"):
        return type_.element
    return None

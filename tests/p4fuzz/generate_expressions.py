"""Random expressions of a wanted type, from the places that a scope has."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

from . import tree
from .tree import BOOL, Bits, Bool, Enum, HeaderType, Type

WIDTHS = [1, 2, 3, 4, 5, 7, 8, 8, 9, 12, 13, 16, 16, 20, 24, 31, 32, 32, 33, 47, 48, 63, 64, 65,
          100, 127, 128]  # fmt: skip
WIDEST = 128
# Names that P4 does not reserve, but C++ or the runtime may.
_STRANGE_NAMES = [
    *("apply", "key", "actions", "entries", "type", "class", "new", "template", "operator", "auto"),
    *("double", "register_", "signed", "union", "char", "short", "namespace", "delete", "static"),
    *("value", "frame", "packet", "result", "size", "valid", "uint8_t", "std", "max_", "next_"),
    *("private", "explicit", "mutable", "typename", "virtual", "volatile", "asm", "goto", "and"),
    *("or", "not", "xor", "bitand", "compl", "NULL", "errno", "assert", "main_", "hit", "miss"),
    *("slice", "concat", "to_bit", "to_int", "with_slice", "bit_ops", "int_ops", "Entry", "Lookup"),
    *("Applied", "turntable", "dataplane", "trace", "Unsigned", "put_key", "KeyWords", "uint128"),
    *("wide_constant", "Program", "EOF", "stdin", "INT8_MAX", "array", "pack_words", "swap"),
]


class Names:
    """Unique ones."""

    def __init__(self, chooser: random.Random) -> None:
        self.random = chooser
        self._strange = chooser.sample(_STRANGE_NAMES, len(_STRANGE_NAMES))
        self._count = 0

    def new(self, prefix: str) -> str:
        self._count += 1
        if self._strange and self.random.random() < 0.06:
            return self._strange.pop()
        return f"{prefix}{self._count}"


@dataclass
class Scope:
    """What code at one point may use. `tables`, `registers` and `meters` are shared: a packet may
    meet each once, so who uses one takes it out.
    """

    readable: list[tree.Place]
    writable: list[tree.Place]
    headers: list[tuple[str, tree.HeaderType]] = field(default_factory=list)
    stacks: list[tree.Stack] = field(default_factory=list)
    hashes: list[tree.Hash] = field(default_factory=list)
    counters: list[tree.Counter] = field(default_factory=list)
    functions: list[tree.Callable] = field(default_factory=list)
    actions: list[tree.Callable] = field(default_factory=list)  # that may be called
    nested: list[tree.Callable] = field(default_factory=list)
    tables: list[tree.Table] = field(default_factory=list)
    registers: list[tree.RegisterAction] = field(default_factory=list)
    meters: list[tree.Meter] = field(default_factory=list)
    kind: str = "control"  # or action, function, parser
    returns: Type | None = None

    def inner(self) -> Scope:
        """A block within: its variables are not seen outside."""
        copied = {name: list(getattr(self, name)) for name in ("readable", "writable", "headers")}
        return replace(self, **copied)


class ExpressionGenerator:
    def __init__(self, chooser: random.Random) -> None:
        self.random = chooser
        self.names = Names(chooser)
        self.constants: list[tree.Constant] = []
        self.enums: list[Enum] = []
        self._values: dict[int, list[int]] = {}

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def interesting(self, width: int) -> int:
        """One of few values per width, so that fields, literals and entries often agree."""
        if width not in self._values:
            top = (1 << width) - 1
            self._values[width] = [0, 1, top, top >> 1, (top >> 1) + 1]
            self._values[width] += [self.random.randrange(top + 1) for _ in range(3)]
            self._values[width] = [value & top for value in self._values[width]]
        if self.chance(0.15):
            return self.random.randrange(1 << width)
        return self.random.choice(self._values[width])

    def some_type(self) -> Bits:
        width = self.random.choice(WIDTHS)
        return Bits(width, width > 1 and self.chance(0.2))

    def any_type(self) -> Type:
        """Of a variable or parameter that is no header."""
        if self.enums and self.chance(0.12):
            return self.random.choice(self.enums)
        return BOOL if self.chance(0.12) else self.some_type()

    # --- Leaves -------------------------------------------------------------------------------

    def literal(self, type_: Type) -> tree.Literal:
        if isinstance(type_, Bool):
            return tree.Literal(type_, self.chance(0.5))
        if isinstance(type_, Enum) and self.chance(0.8):
            return tree.Literal(type_, self.random.choice(type_.members)[1])
        return tree.Literal(type_, self.interesting(type_.width))

    def place(self, places: list[tree.Place], type_: Type) -> tree.Place | None:
        fitting = [place for place in places if place.type == type_]
        return self.random.choice(fitting) if fitting else None

    def leaf(self, scope: Scope, type_: Type) -> tree.Expression:
        place = self.place(scope.readable, type_)
        if place is not None and self.chance(0.75):
            return place
        constants = [each for each in self.constants if each.type == type_]
        if constants and self.chance(0.3):
            return tree.Named(type_, self.random.choice(constants))
        if not isinstance(type_, Bits) or self.chance(0.2):
            return self.literal(type_)
        enums = [p for p in scope.readable if isinstance(p.type, Enum)]
        if enums and self.chance(0.15):
            enum = self.random.choice(enums)
            return self.converted(tree.Cast(Bits(enum.type.width), enum), type_)
        others = [p for p in scope.readable if isinstance(p.type, Bits)]
        return self.converted(self.random.choice(others), type_) if others else self.literal(type_)

    def converted(self, e: tree.Expression, type_: Bits) -> tree.Expression:
        """With casts, or a slice."""
        assert isinstance(e.type, Bits)
        if e.type.width > type_.width and not type_.signed and self.chance(0.6):
            return self.sliced(e, type_.width)
        if e.type == type_:
            return e
        if e.type.signed == type_.signed:
            return tree.Cast(type_, e)
        if e.type.width != type_.width:
            e = tree.Cast(Bits(type_.width, e.type.signed), e)
        return tree.Cast(type_, e)

    def sliced(self, e: tree.Expression, width: int) -> tree.Slice:
        assert isinstance(e.type, Bits)
        low = self.random.choice([0, e.type.width - width, self._below(e.type.width - width + 1)])
        return tree.Slice(Bits(width), e, low + width - 1, low)

    def _below(self, end: int) -> int:
        return self.random.randrange(end)

    # --- Inner nodes --------------------------------------------------------------------------

    def expression(self, scope: Scope, type_: Type, depth: int) -> tree.Expression:
        if depth <= 0 or self.chance(0.1):
            return self.leaf(scope, type_)
        if isinstance(type_, Bool):
            return self._truth(scope, depth - 1)
        if isinstance(type_, Enum):
            return self._enum(scope, type_, depth - 1)
        kinds = {
            self._arithmetic: 5,
            self._unary: 1,
            self._shift: 1.5,
            self._multiply: 0.5,
            self._cast: 1.5,
            self._conditional: 1,
            self._extreme: 0.7,
            self._call: 0.8,
        }
        if not type_.signed:
            kinds |= {self._slice: 1.5, self._concat: 1.5 * (type_.width > 1), self._hash: 0.4}
        kind = self.random.choices(list(kinds), list(kinds.values()))[0]
        return kind(scope, type_, depth - 1)

    def _enum(self, scope: Scope, type_: Enum, depth: int) -> tree.Expression:
        if self.chance(0.3):
            return tree.Cast(type_, self.expression(scope, Bits(type_.width), depth))
        if self.chance(0.3):
            condition = self.expression(scope, BOOL, depth)
            return tree.Conditional(type_, condition, *self._sized(scope, type_, depth))
        return self.leaf(scope, type_)

    def _operands(self, scope: Scope, type_: Type, depth: int) -> list[tree.Expression]:
        """Two; beside one with a type a literal needs no width."""
        operands = [self.expression(scope, type_, depth) for _ in range(2)]
        for one, other in (operands, operands[::-1]):
            if isinstance(one, tree.Literal) and not isinstance(other, tree.Literal):
                one.bare = isinstance(type_, Bits) and self.chance(0.5)
        return operands

    def _arithmetic(self, scope: Scope, type_: Bits, depth: int) -> tree.Expression:
        operator = self.random.choice(["+", "-", "|+|", "|-|", "&", "|", "^"])
        return tree.Binary(type_, operator, *self._operands(scope, type_, depth))

    def _extreme(self, scope: Scope, type_: Bits, depth: int) -> tree.Expression:
        operator = self.random.choice(["min", "max"])
        return tree.Binary(type_, operator, *self._operands(scope, type_, depth))

    def _unary(self, scope: Scope, type_: Bits, depth: int) -> tree.Expression:
        operator = self.random.choice(["-", "~"])
        return tree.Unary(type_, operator, self.expression(scope, type_, depth))

    def _shift(self, scope: Scope, type_: Bits, depth: int) -> tree.Expression:
        amount = self.random.choice([0, type_.width - 1, type_.width, self._below(type_.width + 3)])
        operator = self.random.choice(["<<", ">>"])
        return tree.Shift(type_, operator, self.expression(scope, type_, depth), amount)

    def _multiply(self, scope: Scope, type_: Bits, depth: int) -> tree.Expression:
        power = tree.Literal(type_, 1 << self._below(type_.width - type_.signed))
        operands = [self.expression(scope, type_, depth), power]
        self.random.shuffle(operands)
        return tree.Binary(type_, "*", *operands)

    def _cast(self, scope: Scope, type_: Bits, depth: int) -> tree.Expression:
        if type_ == Bits(1) and self.chance(0.5):
            return tree.Cast(type_, self.expression(scope, BOOL, depth))
        return self.converted(self.expression(scope, self.some_type(), depth), type_)

    def _slice(self, scope: Scope, type_: Bits, depth: int) -> tree.Expression:
        widths = [width for width in WIDTHS if width >= type_.width]
        source = Bits(self.random.choice(widths), False)
        if source.width > 1 and self.chance(0.2):
            source = Bits(source.width, True)
        return self.sliced(self.expression(scope, source, depth), type_.width)

    def _concat(self, scope: Scope, type_: Bits, depth: int) -> tree.Expression:
        right = self.random.randrange(1, type_.width)
        parts = [self.expression(scope, Bits(w), depth) for w in (type_.width - right, right)]
        return tree.Concat(type_, *parts)

    def _conditional(self, scope: Scope, type_: Bits, depth: int) -> tree.Expression:
        condition = self.expression(scope, BOOL, depth)
        return tree.Conditional(type_, condition, *self._sized(scope, type_, depth))

    def _sized(self, scope: Scope, type_: Type, depth: int) -> list[tree.Expression]:
        return [self.expression(scope, type_, depth) for _ in range(2)]

    def _hash(self, scope: Scope, type_: Bits, depth: int) -> tree.Expression:
        if not scope.hashes:
            return self._arithmetic(scope, type_, depth)
        hash_ = self.random.choice(scope.hashes)
        types = [Bits(8 * self.random.randrange(1, 7)) for _ in range(self.random.randrange(1, 5))]
        if self.chance(0.4):  # fields that are no whole bytes alone
            part = self.random.randrange(1, 8)
            types += [Bits(part), Bits(8 - part)]
        data = [self.expression(scope, each, min(depth, 1)) for each in types]
        if scope.headers and self.chance(0.2):  # a header whole
            name, header = self.random.choice(scope.headers)
            data.insert(self.random.randrange(len(data) + 1), tree.Place(header, name))
        return self.converted(tree.HashOf(Bits(hash_.width), hash_, data), type_)

    def _call(self, scope: Scope, type_: Bits, depth: int) -> tree.Expression:
        if not scope.functions:
            return self._arithmetic(scope, type_, depth)
        function = self.random.choice(scope.functions)
        arguments = self.arguments(scope, function.parameters, depth)
        if arguments is None:
            return self._arithmetic(scope, type_, depth)
        assert isinstance(function.returns, Bits)
        return self.converted(tree.CallFunction(function.returns, function, arguments), type_)

    def arguments(
        self, scope: Scope, parameters: list[tree.Parameter], depth: int
    ) -> list[tree.Expression] | None:
        """None if there is no place to write for one of them."""
        arguments: list[tree.Expression] = []
        places = [*(p.name for p in scope.writable), *(name for name, _ in scope.headers)]
        for parameter in parameters:
            if parameter.direction in ("out", "inout"):
                target = self.target(scope, parameter.type)
                if target is None:
                    return None
                same = [e for e in arguments if e.type == parameter.type and _is_place(e)]
                same = [e for e in same if _place_of(e) in places]
                if same and self.chance(0.5):  # the order of copies shows
                    target = self.random.choice(same)
                arguments.append(target)
            elif isinstance(parameter.type, HeaderType):
                header = self.header(scope, parameter.type)
                if header is None:
                    return None
                arguments.append(header)
            else:
                arguments.append(self.expression(scope, parameter.type, min(depth, 2)))
        return arguments

    def header(self, scope: Scope, type_: HeaderType) -> tree.Place | None:
        fitting = [name for name, other in scope.headers if other is type_]
        return tree.Place(type_, self.random.choice(fitting)) if fitting else None

    def target(self, scope: Scope, type_: Type) -> tree.Expression | None:
        """A place of that type, or slices of a place."""
        if isinstance(type_, HeaderType):
            return self.header(scope, type_)
        place = self.place(scope.writable, type_)
        if place is not None and self.chance(0.7):
            return place
        if not isinstance(type_, Bits) or type_.signed:
            return place
        wider = [
            each for each in scope.writable
            if isinstance(each.type, Bits) and each.type.width > type_.width
        ]  # fmt: skip
        if not wider:
            return place
        whole: tree.Expression = self.random.choice(wider)
        assert isinstance(whole.type, Bits)
        if whole.type.width > type_.width + 2 and self.chance(0.2):
            middle = self.random.randrange(type_.width + 1, whole.type.width)
            whole = self.sliced(whole, middle)
        return self.sliced(whole, type_.width)

    # --- Truth --------------------------------------------------------------------------------

    def _truth(self, scope: Scope, depth: int) -> tree.Expression:
        kind = self.random.choices(
            ["compare", "logic", "not", "valid", "cast", "equal", "choice", "headers", "enums"],
            [6, 3, 1, 1.5, 0.7, 0.5, 0.5, 0.5, 0.7],
        )[0]
        if kind == "enums" and self.enums:
            type_ = self.random.choice(self.enums)
            operands = [self.expression(scope, type_, depth) for _ in range(2)]
            return tree.Binary(BOOL, self.random.choice(["==", "!="]), *operands)
        if kind == "choice":
            parts = [self.expression(scope, BOOL, depth) for _ in range(3)]
            return tree.Conditional(BOOL, *parts)
        if kind == "headers" and scope.headers:
            name, type_ = self.random.choice(scope.headers)
            other = self.header(scope, type_)
            assert other is not None
            operator = self.random.choice(["==", "!="])
            return tree.Binary(BOOL, operator, tree.Place(type_, name), other)
        if kind == "compare":
            operator = self.random.choice(["==", "!=", "<", "<=", ">", ">="])
            operands = self._operands(scope, self._compared(scope), depth)
            return tree.Binary(BOOL, operator, *operands)
        if kind == "not":
            return tree.Unary(BOOL, "!", self.expression(scope, BOOL, depth))
        if kind == "cast":
            return tree.Cast(BOOL, self.expression(scope, Bits(1), depth))
        if kind == "valid" and scope.headers:
            return tree.IsValid(BOOL, self.random.choice(scope.headers)[0])
        operator = self.random.choice(["&&", "||"] if kind == "logic" else ["==", "!="])
        return tree.Binary(BOOL, operator, *self._operands(scope, BOOL, depth))

    def _compared(self, scope: Scope) -> Bits:
        types = [place.type for place in scope.readable if isinstance(place.type, Bits)]
        return self.random.choice(types) if types and self.chance(0.7) else self.some_type()


def _is_place(e: tree.Expression) -> bool:
    """Or slices of one."""
    return isinstance(e, tree.Place) or (isinstance(e, tree.Slice) and _is_place(e.operand))


def _place_of(e: tree.Expression) -> str:
    while isinstance(e, tree.Slice):
        e = e.operand
    assert isinstance(e, tree.Place)
    return e.name

"""What a stateful unit of Tofino computes in one access: the model that RegisterActions must fit.

    cell: lo, hi ──┬──> 2 comparisons ──> predicates
    2 inputs ──────┤                        │ choose
    4 constants ───┴──> 2 ALUs for lo, 2 ALUs for hi ──> the cell
                        one of all these ──────────────> the result

A cell is one value (lo), or a pair (lo and hi). The unit computes everything from what it has read:
nothing follows from anything computed, except that a new half may be the result.

- A comparison compares with zero the sum of at most one half, one input and one constant, each with
  a sign. There are two; every condition is made of them by `!`, `&&` and `||`.
- An ALU makes a new half: a copy, or one operation (+ - |+| |-| & | ^ ~ min max) on two operands
  of different kinds: half, input, constant. A half has two ALUs, each with a predicate; their
  results are combined by `|`, so in no case may two of them write.
- Inputs are fields of the packet, no wider than the half. All actions of a register share two, and
  four constants other than -8 to 7.
- The result is one thing in all cases: a half as it was, a half as it is now, an input, what the
  ALUs of hi compute if the cell is one value, or, from the predicate, a power of two. Or nothing,
  which is zero.
- A local variable is a copy of a half as it was read, or, if the cell is one value, what the ALUs
  of hi compute. Beside one that the compiler has to keep they compute no other result.
- A register of bits has no comparisons and no operations: an action sets, clears or reads a bit,
  and the result is the bit as it was read, or its complement.

Learnt from p4c's Tofino back end (`stateful_alu.cpp`, `salu_inst.cpp`) and compared with it
(docs/p4soft.md).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from p4soft.errors import P4Error, Position

COMPARISONS = 2
ALUS = 2  # of each half
INPUTS = 2
CONSTANTS = 4
SMALL_CONSTANTS = range(-8, 8)
ALWAYS = 0b1111  # a predicate: the outcomes of the two comparisons for which it holds, a bit each
RESULT_OF_BITS = "this result of a register of bits"
OLD_BIT = "the bit as it was read, or its complement"
_HOLDS = (0b1010, 0b1100)  # the first comparison, the second
_NEGATED = {"!=": "==", "<": ">=", "<=": ">"}


@dataclass(frozen=True)
class Half:
    """Of the cell, as it was read: 0 is lo."""

    number: int


@dataclass(frozen=True)
class NewHalf:
    """The same, as it is after the access; only as a result."""

    number: int


@dataclass(frozen=True)
class Input:
    shape: Hashable  # equal for the same expression
    width: int
    direct: bool  # a field, or a slice of one; the result cannot be other inputs


@dataclass(frozen=True)
class Number:
    value: int


@dataclass(frozen=True)
class Parameter:
    """A RegisterParam: a constant that the control plane chooses."""

    name: str


@dataclass(frozen=True)
class Predicate:
    """A power of two where the predicate holds; only as a result."""

    value: int


@dataclass(frozen=True)
class HighAlus:
    """What the ALUs of hi compute, where they have nothing else to do; only as a result."""


Operand = Half | Input | Number | Parameter
Result = Half | NewHalf | Input | Predicate | HighAlus


@dataclass(frozen=True)
class Computation:
    """What one ALU does: `copy` or an operation."""

    operation: str
    operands: tuple[Operand, ...]


@dataclass
class Shared:
    """What all actions of one register use."""

    inputs: set[Hashable] = field(default_factory=set)
    constants: set[int | Parameter] = field(default_factory=set)
    powers: set[int] = field(default_factory=set)


@dataclass
class StatefulUnit:
    """What one RegisterAction uses of the unit. Raises P4Error where there is no room."""

    width: int
    casts_results: bool  # the result is bit<W> and the cell int<W>, or the other way round
    is_pair: bool
    shared: Shared
    has_local: bool  # a local variable that the compiler keeps: nothing else is computed by hi
    comparisons: list[Hashable] = field(default_factory=list)
    alus: tuple[dict[Computation, int], dict[Computation, int]] = field(
        default_factory=lambda: ({}, {})
    )  # with their predicates
    result: Result | None = None
    _result_predicate: int = 0
    _of_cell: set[bool] = field(default_factory=set)  # of the results by hi: from the cell, or not

    # --- Conditions -------------------------------------------------------------------------------

    def compare(self, operator: str, terms: list[tuple[int, Operand]], at: Position) -> int:
        """The predicate of `sum of signed terms <operator> 0`."""
        if self.width == 1:
            raise _no_room(at, "a condition in an action of a register of bits", "use bit<8> cells")
        for kinds in set(_PLURALS.values()):
            if sum(_PLURALS[type(term)] == kinds for _, term in terms) > 1:
                raise _no_room(at, f"a comparison of two {kinds}", _COMPUTE_BEFORE)
        for sign, term in terms:
            signed = Number(sign * term.value) if isinstance(term, Number) else term
            self._occupy(signed, at)
            if isinstance(signed, Number) and not -(1 << 31) <= signed.value < 1 << 31:
                most = f"up to {(1 << 31) - (sign > 0)}, subtracted ones as their complement"
                raise _no_room(at, f"{term.value} in a comparison", f"{most}; or int<32> cells")
        negated = operator in _NEGATED
        comparison = (_NEGATED.get(operator, operator), *terms)
        if comparison not in self.comparisons:
            self.comparisons.append(comparison)
        place = self.comparisons.index(comparison)
        if place >= COMPARISONS:
            raise _no_room(
                at, f"more than {COMPARISONS} comparisons in a RegisterAction", _COMPUTE_BEFORE
            )
        return ALWAYS ^ _HOLDS[place] if negated else _HOLDS[place]

    # --- The cell ---------------------------------------------------------------------------------

    def write(self, half: int, computation: Computation, predicate: int, at: Position) -> None:
        if self.width == 1:
            self._write_bit(computation, predicate, at)
        for operand in computation.operands:
            self._occupy(operand, at)
        kinds = [_PLURALS[type(operand)] for operand in computation.operands]
        if len(set(kinds)) < len(kinds):
            raise _no_room(
                at,
                f"'{computation.operation}' of two {kinds[0]}",
                "operands of different kinds: a field of the cell, a packet field, a constant",
            )
        alus = self.alus[half]
        alus[computation] = alus.get(computation, 0) | predicate
        if len(alus) > ALUS:
            raise _no_room(
                at, f"more than {ALUS} different values for one field of the cell", _COMPUTE_BEFORE
            )

    def _write_bit(self, computation: Computation, predicate: int, at: Position) -> None:
        [operand, *others] = computation.operands
        if others or not isinstance(operand, Number) or predicate != ALWAYS:
            raise _no_room(at, "this value of a bit", "a constant, in all cases")

    # --- The result -------------------------------------------------------------------------------

    def output(self, value: Operand | NewHalf | Computation, predicate: int, at: Position) -> None:
        """The result where the predicate holds; where nothing is said, it is zero."""
        if value == Number(0):
            return
        if self.width == 1:
            self._output_bit(value, predicate, at)
        elif value == self.result:
            self._result_predicate |= predicate
        elif self.result is None and _is_direct(value):
            self._occupy(value, at)
            self.result, self._result_predicate = value, predicate
        elif self.is_pair or self.has_local:
            self._output_power(value, at)
        else:
            self._output_by_high_alus(value, predicate, at)

    def _output_bit(
        self, value: Operand | NewHalf | Computation, predicate: int, at: Position
    ) -> None:
        if not isinstance(value, Half) or predicate != ALWAYS:
            raise _no_room(at, RESULT_OF_BITS, OLD_BIT)

    def _output_power(self, value: Operand | NewHalf | Computation, at: Position) -> None:
        if not isinstance(value, Number) or value.value & (value.value - 1):
            what = "of an action on a pair" if self.is_pair else "beside a local variable"
            expected = "one field of the cell, one packet field, or one power of two"
            raise _no_room(at, f"this result {what}", expected)
        result = Predicate(value.value)
        self.shared.powers.add(value.value)
        if self.result not in (None, result) or len(self.shared.powers) > 1:
            raise _no_room(at, "this result beside another", _SAME_RESULT)
        self.result = result

    def _output_by_high_alus(
        self, value: Operand | NewHalf | Computation, predicate: int, at: Position
    ) -> None:
        """What has a place of its own is moved to hi when a number comes beside it, or casts."""
        parts = [(value, predicate)]
        if _is_direct(self.result):
            parts.insert(0, (self.result, self._result_predicate))
        for part, _ in parts:
            self._of_cell.add(isinstance(part, (Half, Computation)))
        if self.casts_results and len(self._of_cell) > 1:
            what = "a number and a value of the cell, cast, as results"
            raise _no_room(at, what, "one of both, or a result of the type of the cell")
        stays = len(parts) == 2 and (_is_direct(value) or isinstance(value, Computation))
        for part, where in parts:
            late = part is value and isinstance(part, Input) and part.direct
            if isinstance(part, NewHalf) or late or stays:
                raise _no_room(at, "this result beside another", _SAME_RESULT)
            is_computed = isinstance(part, Computation)
            self.write(1, part if is_computed else Computation("copy", (part,)), where, at)
        self.result = HighAlus()

    # --- Shared places ----------------------------------------------------------------------------

    def _occupy(self, operand: Operand | NewHalf, at: Position) -> None:
        if isinstance(operand, Input):
            self._occupy_input(operand, at)
        elif isinstance(operand, Number) and operand.value not in SMALL_CONSTANTS:
            self._occupy_constant(operand.value, at)
        elif isinstance(operand, Parameter):
            self._share_constant(operand, f"a RegisterParam beside {CONSTANTS} other constants", at)

    def _occupy_input(self, operand: Input, at: Position) -> None:
        if operand.width > max(self.width, 8):
            what = f"a packet field of {operand.width} bits in an action on {self.width}"
            raise _no_room(at, what, "a narrower field, or a slice of this one")
        self.shared.inputs.add(operand.shape)
        if len(self.shared.inputs) > INPUTS:
            what = "a third packet field in the actions of one register"
            raise _no_room(at, what, f"{INPUTS}; put them into the same metadata before")

    def _occupy_constant(self, value: int, at: Position) -> None:
        if abs(value) >= 1 << self.width:
            raise _no_room(at, f"{value} in an action on {self.width} bits", "a smaller constant")
        what = f"a constant beyond -8 to 7 beside {CONSTANTS} others in a register's actions"
        self._share_constant(value, what, at)

    def _share_constant(self, constant: int | Parameter, what: str, at: Position) -> None:
        self.shared.constants.add(constant)
        if len(self.shared.constants) > CONSTANTS:
            raise _no_room(at, what, "a packet field that holds it")


_PLURALS: dict[type, str] = {
    Half: "fields of the cell",
    Input: "packet fields",
    Number: "constants",
    Parameter: "constants",
}
_COMPUTE_BEFORE = "what can be computed before, in a packet field"
_SAME_RESULT = "the same in all cases, or zero"


def _is_direct(value: object) -> bool:
    return isinstance(value, (Half, NewHalf)) or (isinstance(value, Input) and value.direct)


def _no_room(at: Position, what: str, instead: str) -> P4Error:
    return P4Error(at, f"a stateful unit of Tofino has no place for {what}; expected: {instead}")

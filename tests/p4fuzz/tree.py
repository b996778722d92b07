"""The tree of a random program. The generator makes it, the printer writes it as P4, the
interpreter walks it; p4soft sees only what is printed.

Every name of a program is unique, so a place is its text: `hdr.h1.f2`, `md.m3`, `hdr.s[0].f1`, or
the name of a variable or parameter. `PLACE.$valid` is a header's validity.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar


@dataclass(frozen=True)
class Bits:
    """bit<width>, or int<width>."""

    width: int
    signed: bool = False


@dataclass(frozen=True)
class Bool:
    pass


@dataclass(frozen=True)
class Enum:
    """A serializable enum: its fields may have values that are no members."""

    name: str
    width: int
    members: tuple[tuple[str, int], ...]
    signed: ClassVar[bool] = False


@dataclass
class HeaderType:
    """Of fields, and of parameters that take a whole header."""

    name: str
    fields: list[Field]
    options: str = ""  # a varbit field behind the others, of OPTIONS_BITS at most

    @property
    def width(self) -> int:
        """Without options."""
        return sum(field.type.width for field in self.fields)


@dataclass
class Field:
    name: str
    type: Bits | Enum


Type = Bits | Bool | Enum | HeaderType
BOOL = Bool()
OPTIONS_BITS = 40


# --- Expressions ------------------------------------------------------------------------------


@dataclass
class Expression:
    type: Type


@dataclass
class Literal(Expression):
    """value: raw bits, or a bool. A bare one has no width in the source."""

    value: int
    bare: bool = False


@dataclass
class Named(Expression):
    """A constant of the program."""

    constant: Constant


@dataclass
class Place(Expression):
    name: str


@dataclass
class Unary(Expression):
    operator: str  # - ~ !
    operand: Expression


@dataclass
class Binary(Expression):
    """+ - |+| |-| & | ^ *, comparisons, && and ||; `min` and `max`; the operands have one type."""

    operator: str
    left: Expression
    right: Expression


@dataclass
class Shift(Expression):
    operator: str  # << >>
    operand: Expression
    amount: int


@dataclass
class Cast(Expression):
    operand: Expression


@dataclass
class Slice(Expression):
    operand: Expression
    high: int
    low: int


@dataclass
class Concat(Expression):
    left: Expression
    right: Expression


@dataclass
class Conditional(Expression):
    condition: Expression
    then: Expression
    otherwise: Expression


@dataclass
class IsValid(Expression):
    header: str


@dataclass
class HashOf(Expression):
    hash: Hash
    data: list[Expression]


@dataclass
class Applied(Expression):
    """table.apply().hit or .miss"""

    table: Table
    member: str


@dataclass
class MeterColor(Expression):
    """What a meter's `execute` gives, bit<8>. index: none of a direct one; color: the packet's
    before, bit<2>, none: green.
    """

    meter: Meter | DirectMeter
    index: Expression | None
    color: Expression | None


@dataclass
class Verify(Expression):
    """Whether a parser's checksum is wrong."""

    checksum: str


@dataclass
class LastIndex(Expression):
    """Of the element that a parser extracted last, bit<32>."""

    stack: Stack


@dataclass
class Execute(Expression):
    """index: none of a direct register, whose cell is the entry's."""

    action: RegisterAction
    index: Expression | None


@dataclass
class Filtered(Expression):
    """What a filter makes of a value: an Lpf the average, a Wred whether to drop."""

    filter: Filter
    value: Expression
    index: Expression


@dataclass
class Item(Expression):
    """Of a tuple, by its number."""

    name: str
    number: int


@dataclass
class SameTuples(Expression):
    left: str
    right: str


@dataclass
class Last(Expression):
    """A field of stack.last; only in parsers."""

    stack: Stack
    field: str


@dataclass
class Lookahead(Expression):
    """Only in parsers; whole bytes."""


@dataclass
class CallFunction(Expression):
    function: Callable
    arguments: list[Expression]


# --- Statements -------------------------------------------------------------------------------


@dataclass
class Statement:
    pass


@dataclass
class Assign(Statement):
    """target: a place, or slices of one. An operator makes it a compound assignment."""

    target: Expression
    value: Expression
    operator: str = ""


@dataclass
class Declare(Statement):
    name: str
    value: Expression


@dataclass
class DeclareTuple(Statement):
    name: str
    values: list[Expression]


@dataclass
class If(Statement):
    condition: Expression
    then: list[Statement]
    otherwise: list[Statement]


@dataclass
class Case:
    """labels: values, or actions' names; none: default."""

    labels: list[int | str]
    body: list[Statement]


@dataclass
class Switch(Statement):
    subject: Expression
    cases: list[Case]


@dataclass
class SwitchAction(Statement):
    table: Table
    cases: list[Case]


@dataclass
class Apply(Statement):
    table: Table


@dataclass
class Call(Statement):
    """Of an action, a nested control, or a function."""

    callee: Callable
    arguments: list[Expression]


@dataclass
class SetValid(Statement):
    header: str
    valid: bool


@dataclass
class CopyHeader(Statement):
    header: str
    source: str
    type: HeaderType


@dataclass
class FillHeader(Statement):
    """header = {…}"""

    header: str
    fields: list[Field]
    values: list[Expression]
    by_name: bool


@dataclass
class MoveStack(Statement):
    """push_front, pop_front"""

    stack: Stack
    method: str
    count: int


@dataclass
class Count(Statement):
    counter: Counter
    index: Expression


@dataclass
class CountDirect(Statement):
    """In an action of the table that has the counter."""

    counter: DirectCounter


@dataclass
class Exit(Statement):
    pass


@dataclass
class Return(Statement):
    value: Expression | None = None


# --- Declarations -----------------------------------------------------------------------------


@dataclass
class Constant:
    name: str
    type: Type
    value: int
    text: str  # an expression of numbers without widths


@dataclass
class Variable:
    name: str  # md.m1
    type: Type


@dataclass
class Stack:
    name: str  # hdr.s
    type: HeaderType
    size: int


@dataclass
class Parameter:
    direction: str  # in, out, inout; "" is data of the control plane
    name: str
    type: Type


@dataclass
class Callable:
    """kind: action, control, function. A control's `locals` are variables, actions and tables."""

    kind: str
    name: str
    parameters: list[Parameter]
    body: list[Statement]
    returns: Type | None = None
    locals: list[Declare | Callable | Table] = field(default_factory=list)
    instance: str = ""

    def data(self) -> list[Parameter]:
        return [parameter for parameter in self.parameters if not parameter.direction]


@dataclass
class Hash:
    name: str
    algorithm: str
    width: int


@dataclass
class Counter:
    name: str
    index_width: int


@dataclass
class DirectCounter:
    name: str


@dataclass
class Limits:
    """Of a meter: packets per second and packets, or kilobits."""

    committed_rate: int
    peak_rate: int
    committed_burst: int
    peak_burst: int


@dataclass
class Meter:
    """colors: what stands for red, yellow and green; none: MeterColor_t. limits: of each cell."""

    name: str
    index_width: int
    unit: str  # PACKETS, BYTES
    colors: tuple[int, int, int] | None
    limits: list[Limits | None]


@dataclass
class DirectMeter:
    """Its limits are the entries'."""

    name: str
    unit: str
    colors: tuple[int, int, int] | None


@dataclass
class Register:
    name: str
    type: Bits
    index_width: int
    initial: int


@dataclass
class DirectRegister:
    """Its cells are the entries'."""

    name: str
    type: Bits
    initial: int


@dataclass
class Average:
    """Of an Lpf's cell. kind: SAMPLE, RATE; time constants in seconds."""

    kind: str
    gain_s: float
    decay_s: float
    scale_down: int


@dataclass
class Thresholds:
    """Of a Wred's cell. Between them no packet is dropped: chances cannot be compared."""

    time_s: float
    low: int
    high: int


@dataclass
class Filter:
    """cells: all Average, an Lpf, or all Thresholds, a Wred with its values to drop and not to."""

    name: str
    type: Bits
    index_width: int
    cells: list[Average] | list[Thresholds]
    values: tuple[int, int] | None = None


@dataclass
class RegisterAction:
    name: str
    register: Register | DirectRegister
    value: str  # names of its parameters
    result: str
    body: list[Statement]


@dataclass
class Key:
    expression: Expression
    kind: str  # exact, lpm, ternary, range
    name: str


@dataclass
class Match:
    """What an entry says of one key: value (exact), value and prefix length, value and mask, low
    and high.
    """

    first: int
    second: int = 0


@dataclass
class Entry:
    """group: of the table's selector, whose members are chosen instead of the action here."""

    matches: list[Match]
    action: str
    data: list[int]
    priority: int = 0
    limits: Limits | None = None
    group: int | None = None


@dataclass
class Group:
    """members: numbers of the table's entries, whose actions they have."""

    members: list[int]
    active: list[bool]
    weights: list[int]


@dataclass
class Selector:
    name: str
    hash: Hash
    mode: str  # FAIR, RESILIENT
    subjects: list[Expression]  # keys of kind selector
    groups: list[Group] = field(default_factory=list)


@dataclass
class ActionReference:
    """directed: arguments of the action's parameters with a direction."""

    action: Callable
    directed: list[Expression]


@dataclass
class Table:
    """entries: in the program if is_constant, else put in by the control plane; with a profile
    each names a member, which has the action.
    """

    name: str
    keys: list[Key]
    actions: list[ActionReference]
    default: str
    default_data: list[int]
    entries: list[Entry]
    is_constant: bool
    counter: DirectCounter | None = None
    profile: str = ""
    meter: DirectMeter | None = None
    selector: Selector | None = None
    register_action: RegisterAction | None = None  # of the table's direct register

    def reference(self, name: str) -> ActionReference:
        """KeyError: it has none of that name."""
        return {each.action.name: each for each in self.actions}[name]

    def has_priorities(self) -> bool:
        return any(key.kind in ("ternary", "range") for key in self.keys)


# --- Parsers, blocks ----------------------------------------------------------------------------


@dataclass
class Extract(Statement):
    """The header of that name, or, of a stack, `next`."""

    header: str
    type: HeaderType
    stack: Stack | None = None


@dataclass
class ExtractOptions(Statement):
    """A header with a varbit field of so many bytes."""

    header: str
    type: HeaderType
    count: Expression


@dataclass
class Require(Statement):
    """`verify` of a parser."""

    condition: Expression
    error: str


@dataclass
class Advance(Statement):
    bits: int


@dataclass
class AddToChecksum(Statement):
    """Of a parser: adds fields, or a whole header, or subtracts them."""

    checksum: str
    data: list[Place]
    subtracts: bool


@dataclass
class Residue(Statement):
    """Of a parser's checksum to a place, when the parser ends. by_get: written as an assignment."""

    checksum: str
    target: Place
    by_get: bool


@dataclass
class ValueSet:
    """members: values and masks, put in by the control plane."""

    name: str
    type: Bits
    members: list[Match]


@dataclass
class SelectCase:
    """kinds of keys: value, mask, range, any; or a value set, of the only subject."""

    keys: list[tuple[str, int, int]]
    state: str
    value_set: ValueSet | None = None


@dataclass
class State:
    """subjects: none, and the first case is the next state."""

    name: str
    body: list[Statement]
    subjects: list[Expression]
    cases: list[SelectCase]


@dataclass
class Subparser(Statement):
    """Called once, where it stands."""

    name: str
    instance: str
    states: list[State]


@dataclass
class Checksum:
    name: str
    target: str
    data: list[Place]
    zeros_as_ones: bool


@dataclass
class PortMetadata:
    """What the ingress parser unpacks to a struct, md.NAME. values: of each field, by port; zeros
    for other ports.
    """

    struct: str
    place: str
    fields: list[Field]
    by_port: dict[int, list[int]]


@dataclass
class Mirror:
    """header: what is put before the frame, with values of metadata."""

    name: str
    type_number: int
    session: int
    header: HeaderType
    values: list[Place]


@dataclass
class Resubmit:
    """header: md.NAME, what the second pass gets of the first, 64 bits; none: nothing."""

    name: str
    type_number: int
    place: str = ""
    header: HeaderType | None = None
    values: list[Place] = field(default_factory=list)


@dataclass
class Digest:
    """Of ingress: a message to the control plane, when digest_type says so."""

    name: str
    type_number: int
    struct: str
    fields: list[str]
    values: list[Place]


@dataclass
class Node:
    """Of a multicast group: a copy to each port, all with its replication id."""

    rid: int
    ports: list[int]


@dataclass
class Block:
    """Parser, control and deparser of ingress or egress. suffix: of its names, in pipe 1."""

    gress: str  # ig, eg
    headers: list[tuple[str, HeaderType]]  # hdr.h1
    stacks: list[Stack]
    metadata: list[Variable]
    states: list[State]
    nested: list[Callable]  # controls that `control` applies, once each
    control: Callable
    hashes: list[Hash]
    counters: list[Counter]
    registers: list[Register]
    register_actions: list[RegisterAction]
    checksums: list[Checksum]
    emitted: list[str]  # headers and stacks; none: all, as one
    reads_parser_error: bool
    mirror: Mirror | None = None
    resubmit: Resubmit | None = None
    digest: Digest | None = None
    value_sets: list[ValueSet] = field(default_factory=list)
    meters: list[Meter] = field(default_factory=list)
    parser_checksum: str = ""
    port_metadata: PortMetadata | None = None
    filters: list[Filter] = field(default_factory=list)
    suffix: str = ""

    def header_places(self) -> list[tuple[str, HeaderType]]:
        """Elements of stacks, too."""
        return [
            *self.headers,
            *((f"{s.name}[{i}]", s.type) for s in self.stacks for i in range(s.size)),
        ]


@dataclass
class Program:
    """groups: of multicast, by number. second: what pipe 1 runs; none: the same."""

    enums: list[Enum]
    header_types: list[HeaderType]
    constants: list[Constant]
    functions: list[Callable]
    ingress: Block
    egress: Block | None
    groups: dict[int, list[Node]]
    layout: int  # seed of the printer
    second: Program | None = None

    def pipelines(self) -> list[Program]:
        return [self] if self.second is None else [self, self.second]

    def blocks(self) -> list[Block]:
        both = [(each.ingress, each.egress) for each in self.pipelines()]
        return [block for pair in both for block in pair if block is not None]

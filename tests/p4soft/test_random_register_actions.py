"""Random RegisterActions, within the rules of the ASIC, against Python's unbounded integers.

Every action is made as a text of P4 and, beside it, as Python functions on the same cell: the two
share nothing but the random choices. Sequences of packets then act on a few cells of each register,
and after every packet the result and in the end all cells must agree.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from p4_programs import PREAMBLE, program

from p4soft.cli import translate
from p4soft.errors import P4Error

CELLS = 4
REGISTERS = 8
PACKETS = 150

State = dict[
    str, int
]  # raw bits of the cell's fields `lo` and `hi`, of the packet's, of the local `t` and of `rv`
Evaluate = Callable[[State], int]


@dataclass
class Cell:
    """The type of a register's cells."""

    width: int
    signed: bool
    pair: bool

    @property
    def scalar(self) -> str:
        return f"{'int' if self.signed else 'bit'}<{self.width}>"

    @property
    def struct(self) -> str:
        return f"pair_{'i' if self.signed else 'b'}{self.width}"

    def number(self, bits: int) -> int:
        top = 1 << self.width - 1
        return bits - (1 << self.width) if self.signed and bits & top else bits

    def wrapped(self, number: int) -> int:
        return number % (1 << self.width)

    def saturated(self, number: int) -> int:
        low = -(1 << self.width - 1) if self.signed else 0
        high = (1 << self.width - self.signed) - 1
        return self.wrapped(max(low, min(high, number)))


@dataclass
class Action:
    """One RegisterAction: its body as text, and as the steps of the evaluator."""

    cell: Cell
    chooser: random.Random
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.has_local = False
        self.conditions = [self._comparison() for _ in range(self.chooser.randrange(3))]
        self.lines.append("rv = 0;")
        self.steps = [self._local()] if self.chooser.random() < 0.5 else []
        self.steps += [self._statement(depth=2) for _ in range(self.chooser.randrange(1, 4))]

    def run(self, state: State) -> None:
        state["rv"] = 0
        for step in self.steps:
            step(state)

    # --- Operands ---------------------------------------------------------------------------------

    def _fields(self) -> list[str]:
        return ["lo", "hi"] if self.cell.pair else ["lo"]

    def _place(self, name: str) -> str:
        return f"value.{name}" if self.cell.pair else "value"

    def _operand(self) -> tuple[str, Evaluate]:
        cell = self.cell
        kind = self.chooser.choice(["cell", "cell", "packet", "constant"])
        if kind == "cell":
            if self.has_local and self.chooser.random() < 0.5:
                return "t", lambda state: state["t"]
            name = self.chooser.choice(self._fields())
            return self._place(name), lambda state: state[name]
        if kind == "packet":
            name = self.chooser.choice(["p", "q"])
            text = f"((bit<{cell.width}>) hdr.in_.{name})"
            text = f"(({cell.scalar}) {text})" if cell.signed else text
            return text, lambda state: cell.wrapped(state[name])
        top = (1 << cell.width) - 1
        bits = self.chooser.choice([0, 1, top, top >> 1, self.chooser.randrange(top + 1)])
        return f"(({cell.scalar}) ({cell.number(bits)}))", lambda _: bits

    def _value(self) -> tuple[str, Evaluate]:
        """An operand, or two of them combined as a stateful ALU can."""
        left, x = self._operand()
        if self.chooser.random() < 0.3:
            return left, x
        right, y = self._operand()
        cell = self.cell
        operator = self.chooser.choice(["+", "-", "|+|", "|-|", "&", "|", "^"])
        results: dict[str, Evaluate] = {
            "+": lambda s: cell.wrapped(cell.number(x(s)) + cell.number(y(s))),
            "-": lambda s: cell.wrapped(cell.number(x(s)) - cell.number(y(s))),
            "|+|": lambda s: cell.saturated(cell.number(x(s)) + cell.number(y(s))),
            "|-|": lambda s: cell.saturated(cell.number(x(s)) - cell.number(y(s))),
            "&": lambda s: x(s) & y(s),
            "|": lambda s: x(s) | y(s),
            "^": lambda s: x(s) ^ y(s),
        }
        return f"({left} {operator} {right})", results[operator]

    def _comparison(self) -> tuple[str, Callable[[State], bool]]:
        left, x = self._value()
        right, y = self._operand()
        operator = self.chooser.choice(["==", "!=", "<", "<=", ">", ">="])
        number = self.cell.number
        results: dict[str, Callable[[State], bool]] = {
            "==": lambda s: number(x(s)) == number(y(s)),
            "!=": lambda s: number(x(s)) != number(y(s)),
            "<": lambda s: number(x(s)) < number(y(s)),
            "<=": lambda s: number(x(s)) <= number(y(s)),
            ">": lambda s: number(x(s)) > number(y(s)),
            ">=": lambda s: number(x(s)) >= number(y(s)),
        }
        return f"{left} {operator} {right}", results[operator]

    def _condition(self) -> tuple[str, Callable[[State], bool]]:
        """One of the action's comparisons, negated or not, or both together."""
        first, p = self.chooser.choice(self.conditions)
        second, q = self.chooser.choice(self.conditions)
        kind = self.chooser.choice(["plain", "not", "and", "or"])
        return {
            "plain": (first, p),
            "not": (f"!({first})", lambda s: not p(s)),
            "and": (f"({first}) && ({second})", lambda s: p(s) and q(s)),
            "or": (f"({first}) || ({second})", lambda s: p(s) or q(s)),
        }[kind]

    # --- Statements -------------------------------------------------------------------------------

    def _statement(self, depth: int) -> Callable[[State], None]:
        kinds = ["store", "store", "output"]
        if depth and self.conditions:
            kinds += ["if", "if"]
        return getattr(self, f"_{self.chooser.choice(kinds)}")(depth)

    def _local(self) -> Callable[[State], None]:
        text, evaluate = self._value()
        self.lines += [f"{self.cell.scalar} t;", f"t = {text};"]
        self.has_local = True

        def step(state: State) -> None:
            state["t"] = evaluate(state)

        return step

    def _store(self, _: int) -> Callable[[State], None]:
        name = self.chooser.choice(self._fields())
        text, evaluate = self._value()
        self.lines.append(f"{self._place(name)} = {text};")

        def step(state: State) -> None:
            state[name] = evaluate(state)

        return step

    def _output(self, _: int) -> Callable[[State], None]:
        name = self.chooser.choice([*self._fields(), *["t"] * self.has_local])
        bits = f"(bit<{self.cell.width}>) {'t' if name == 't' else self._place(name)}"
        self.lines.append(f"rv = (bit<32>) ({bits});")

        def step(state: State) -> None:
            state["rv"] = state[name]

        return step

    def _if(self, depth: int) -> Callable[[State], None]:
        text, truth = self._condition()
        self.lines.append(f"if ({text}) {{")
        then = [self._statement(depth - 1) for _ in range(self.chooser.randrange(1, 3))]
        self.lines.append("} else {")
        otherwise = [self._statement(depth - 1) for _ in range(self.chooser.randrange(2))]
        self.lines.append("}")

        def step(state: State) -> None:
            for inner in then if truth(state) else otherwise:
                inner(state)

        return step


def random_cell(chooser: random.Random) -> Cell:
    width = chooser.choice([8, 16, 32])
    return Cell(width, signed=chooser.random() < 0.5, pair=chooser.random() < 0.5)


def fits(registers: list[list[Action]], directory: Path) -> bool:
    """Whether the translator takes all these actions; most of those made at random it refuses."""
    path = directory / "perhaps.p4"
    path.write_text(text_of(registers))
    try:
        translate(path, [], {})
    except P4Error:
        return False
    return True


def fitting_actions(chooser: random.Random, directory: Path) -> list[Action]:
    """One to four of one register."""
    cell = random_cell(chooser)
    actions: list[Action] = []
    for _ in range(chooser.randrange(1, 5)):
        action = Action(cell, chooser)
        while not fits([[*actions, action]], directory):
            action = Action(cell, chooser)
        actions.append(action)
    return actions


def text_of(registers: list[list[Action]]) -> str:
    structs, local, apply = {}, [], []
    for r, actions in enumerate(registers):
        cell = actions[0].cell
        type_ = cell.struct if cell.pair else cell.scalar
        if cell.pair:
            structs[cell.struct] = f"struct {cell.struct} {{ {cell.scalar} lo; {cell.scalar} hi; }}"
        local.append(f"Register<{type_}, bit<8>>({CELLS}) register{r};")
        for a, action in enumerate(actions):
            name = f"action{r}_{a}"
            local.append(
                f"RegisterAction<{type_}, bit<8>, bit<32>>(register{r}) {name} = {{\n"
                f"    void apply(inout {type_} value, out bit<32> rv) {{\n"
                + "\n".join(f"        {line}" for line in action.lines)
                + "\n    }\n};"
            )
            apply.append(
                f"if (hdr.in_.register == {r} && hdr.in_.action_ == {a}) {{ "
                f"hdr.in_.p = {name}.execute(hdr.in_.cell); }}"
            )
    header = "header in_h { bit<8> register; bit<8> action_; bit<8> cell; bit<32> p; bit<16> q; }\n"
    return program(
        " else ".join(apply),
        preamble=PREAMBLE + header + "\n".join(structs.values()),
        metadata="struct headers_t { in_h in_; }\nstruct metadata_t { }\n",
        parser="""
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.in_);
        transition accept;
    }
""",
        local="\n".join(local),
    )


# Further ones take as long each as what is compiled.
FURTHER = [pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 6)]


@pytest.mark.parametrize("seed", [0, 1, *FURTHER])
def test_random_register_actions_equal_big_integer_arithmetic(
    load, seed: int, tmp_path: Path
) -> None:
    chooser = random.Random(5000 + seed)
    registers = [fitting_actions(chooser, tmp_path) for _ in range(REGISTERS)]
    switch = load(text_of(registers))
    cells = [[{"lo": 0, "hi": 0} for _ in range(CELLS)] for _ in registers]
    for number in range(PACKETS):
        r = number % REGISTERS
        a = chooser.randrange(len(registers[r]))
        action, index = registers[r][a], chooser.randrange(CELLS)
        p = chooser.choice([0, 1, 2**32 - 1, 2**31, chooser.randrange(2**32)])
        q = chooser.choice([0, 1, 2**16 - 1, 2**15, chooser.randrange(2**16)])
        state = cells[r][index] | {"p": p, "q": q}
        action.run(state)
        cells[r][index] = {name: state[name] for name in ("lo", "hi")}
        head = bytes([r, a, index])
        [(_, out)] = switch.send(1, head + p.to_bytes(4, "big") + q.to_bytes(2, "big"))
        assert int.from_bytes(out[3:7], "big") == state["rv"], action.lines
    for r, actions in enumerate(registers):
        read = switch.command("register_read", table=f"register{r}")["values"]
        pair = actions[0].cell.pair
        assert read == [[c["lo"], c["hi"]] if pair else c["lo"] for c in cells[r]]

"""Random RegisterActions, most of them near what a stateful unit can just do or just cannot."""

from __future__ import annotations

import random
from dataclasses import dataclass

_HEADER = """\
#include <core.p4>
#include <tna.p4>

header in_h {
    bit<8> cell;
    bit<8> a8;
    bit<8> b8;
    bit<8> c8;
    bit<16> a16;
    bit<16> b16;
    bit<16> c16;
    bit<32> a32;
    bit<32> b32;
    bit<32> c32;
    bit<32> result;
}
struct headers_t { in_h in_; }
struct metadata_t { }
"""

_BLOCKS = """
parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.in_);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
%s
    apply {
        ig_tm_md.ucast_egress_port = 5;
        ig_tm_md.bypass_egress = 1;
        hdr.in_.result = (bit<32>) action_under_test.execute(hdr.in_.cell);
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

struct no_headers_t { }
struct no_metadata_t { }

parser NoEgressParser(packet_in pkt, out no_headers_t hdr, out no_metadata_t md,
                      out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}

control NoEgress(inout no_headers_t hdr, inout no_metadata_t md,
                 in egress_intrinsic_metadata_t eg_intr_md,
                 in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
                 inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
                 inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply { }
}

control NoEgressDeparser(packet_out pkt, inout no_headers_t hdr, in no_metadata_t md,
                         in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply { }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         NoEgressParser(), NoEgress(), NoEgressDeparser()) pipe;
Switch(pipe) main;
"""


@dataclass(frozen=True)
class Cell:
    width: int
    signed: bool
    pair: bool

    @property
    def scalar(self) -> str:
        return f"{'int' if self.signed else 'bit'}<{self.width}>"


@dataclass(frozen=True)
class RegisterAction:
    cell: Cell
    body: list[str]

    def program(self) -> str:
        cell = self.cell
        type_ = "pair_t" if cell.pair else cell.scalar
        struct = f"struct pair_t {{ {cell.scalar} lo; {cell.scalar} hi; }}\n" if cell.pair else ""
        local = (
            f"    Register<{type_}, bit<8>>(16) register;\n"
            f"    RegisterAction<{type_}, bit<8>, bit<{cell.width}>>(register)\n"
            f"        action_under_test = {{\n"
            f"        void apply(inout {type_} value, out bit<{cell.width}> rv) {{\n"
            + "".join(f"            {line}\n" for line in self.body)
            + "        }\n    };"
        )
        return _HEADER + struct + _BLOCKS % local


def random_action(chooser: random.Random) -> RegisterAction:
    width = chooser.choice([1, 8, 8, 16, 16, 16, 32, 32, 32, 32])
    pair = width > 1 and chooser.random() < 0.35
    cell = Cell(width, width > 1 and chooser.random() < 0.35, pair)
    return RegisterAction(cell, _Writer(cell, chooser).body())


class _Writer:
    """Of one body. What was written on the way to a statement is rarely written or read again."""

    def __init__(self, cell: Cell, chooser: random.Random) -> None:
        self._cell = cell
        self._chooser = chooser
        self._halves = ["value.lo", "value.hi"] if cell.pair else ["value"]
        self._inputs = [f"hdr.in_.{letter}{max(cell.width, 8)}" for letter in "abc"]
        self._written: set[str] = set()
        self._locals: list[str] = []
        self._comparisons = [self._comparison() for _ in range(chooser.choice([1, 1, 2, 2, 3]))]

    def body(self) -> list[str]:
        lines = ["rv = 0;"] if self._chooser.random() < 0.5 else []
        for name in self._chooser.choice([[], [], ["t"], ["t", "u"]]):
            lines += self._local(name)
        return lines + self._statements(self._chooser.choice([1, 2, 2, 3]), 0)

    def _statements(self, count: int, depth: int) -> list[str]:
        return [line for _ in range(count) for line in self._statement(depth)]

    def _local(self, name: str) -> list[str]:
        """Mostly a copy of the cell."""
        roll = self._chooser.random()
        value = "0" if roll < 0.2 else self._new_value() if roll < 0.5 else self._half()
        self._locals.append(name)
        declaration = f"{self._cell.scalar} {name}"
        if self._chooser.random() < 0.5:
            return [f"{declaration};", f"{name} = {value};"]
        return [f"{declaration} = {value};"]

    def _statement(self, depth: int) -> list[str]:
        if depth < 2 and self._cell.width > 1 and self._chooser.random() < 0.4:
            return self._if(depth)
        if depth > 0 and self._chooser.random() < 0.03:
            return ["return;"]
        targets = ["rv", *self._halves, *self._locals]
        if self._chooser.random() < 0.95:
            targets = [target for target in targets if target not in self._written]
        if not targets:
            return [";"]
        target = self._chooser.choice(targets)
        line = f"{target} = {self._result() if target == 'rv' else self._new_value()};"
        self._written.add(target)
        return [line]

    def _new_value(self) -> str:
        if self._cell.width == 1:
            return self._chooser.choice(["0", "1", "0", "1", "hdr.in_.a8[0:0]", "~value"])
        return self._value()

    def _result(self) -> str:
        if self._cell.width == 1:
            return self._chooser.choice(["value", "~value", "value", "1", "hdr.in_.a8[0:0]"])
        numbers = ["1", "1", "2", "4", "3", "100"]
        kind = self._chooser.choice(["half", "half", "number", "number", "input", "value"])
        if self._locals and self._chooser.random() < 0.5:
            return self._as_result(self._chooser.choice(self._locals))
        if kind == "number":
            return self._chooser.choice(numbers)
        if kind == "half":
            return self._as_result(self._chooser.choice(self._halves))
        return self._as_result(self._input() if kind == "input" else self._value())

    def _as_result(self, text: str) -> str:
        return f"(bit<{self._cell.width}>) ({text})" if self._cell.signed else text

    def _if(self, depth: int) -> list[str]:
        before = set(self._written)
        lines = [f"if ({self._condition()}) {{"]
        lines += [f"    {line}" for line in self._statements(1, depth + 1)]
        after = self._written
        if self._chooser.random() < 0.6:
            self._written = before
            lines.append("} else {")
            lines += [f"    {line}" for line in self._statements(1, depth + 1)]
        self._written = self._written | after
        return [*lines, "}"]

    # --- Conditions -------------------------------------------------------------------------------

    def _condition(self) -> str:
        first, second = (self._chooser.choice(self._comparisons) for _ in range(2))
        return self._chooser.choice(
            [first, first, f"!({first})", f"{first} && {second}", f"{first} || {second}"]
        )

    def _comparison(self) -> str:
        operator = self._chooser.choice(["==", "!=", "<", "<=", ">", ">="])
        left, right, third = self._operands()
        if self._chooser.random() < 0.25:
            left = f"{left} {self._chooser.choice('+-')} {third}"
        return f"{left} {operator} {right}"

    # --- Values -----------------------------------------------------------------------------------

    def _value(self) -> str:
        roll = self._chooser.random()
        left, right, third = self._operands()
        operator = self._chooser.choice(["+", "+", "-", "|+|", "|-|", "&", "|", "^"])
        if roll < 0.25:
            return left
        if roll < 0.75:
            return f"{left} {operator} {right}"
        if roll < 0.80:
            return f"~{left}"
        if roll < 0.83:
            return f"-{left}"
        if roll < 0.87:
            return f"{self._chooser.choice(['min', 'max'])}({left}, {right})"
        if roll < 0.90:
            return f"{left} {self._chooser.choice(['<<', '>>'])} {self._chooser.choice('123')}"
        outer = self._chooser.choice(["|", "|", "+", "&"])
        return f"({left} {operator} {right}) {outer} {third}"

    def _operands(self) -> list[str]:
        """Three, mostly of different kinds."""
        kinds = [self._half, self._input, self._number]
        self._chooser.shuffle(kinds)
        if self._chooser.random() < 0.1:
            kinds[1] = kinds[0]
        return [kind() for kind in kinds]

    def _half(self) -> str:
        unwritten = [half for half in self._halves if half not in self._written]
        if self._chooser.random() < 0.1:
            return self._chooser.choice(self._halves)
        if self._locals and self._chooser.random() < 0.3:
            return self._chooser.choice(self._locals)
        return self._chooser.choice(unwritten) if unwritten else self._input()

    def _input(self) -> str:
        width = self._cell.width
        text = self._chooser.choice([*self._inputs[:2] * 4, self._inputs[2]])
        if width > 8 and self._chooser.random() < 0.15:
            text = f"(bit<{width}>) hdr.in_.a8"
        return f"((int<{width}>) {text})" if self._cell.signed else text

    def _number(self) -> str:
        width, signed = self._cell.width, self._cell.signed
        top = (1 << width - signed) - 1
        some = self._chooser.randint(0, top)
        number = self._chooser.choice([0, 1, 1, 2, 7, 8, min(100, top), top, some])
        if signed and self._chooser.random() < 0.3:
            return f"({self._cell.scalar}) (-{number})"
        return f"{width}{'s' if signed else 'w'}{number}"

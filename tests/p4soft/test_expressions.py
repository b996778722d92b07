"""Expressions: random ones against an evaluator with Python's unbounded integers, and corner cases
by hand.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest
from p4_programs import PREAMBLE, program

INPUTS = {"a": 8, "b": 16, "c": 32, "d": 64, "e": 128, "f": 5, "g": 3}
EXPRESSIONS = 60  # their results must fit into the 512 bytes of headroom
PACKETS = 12


@dataclass(frozen=True)
class Value:
    """What the independent evaluator computes with: raw bits, width and sign."""

    bits: int
    width: int
    signed: bool = False

    @property
    def number(self) -> int:
        sign = 1 << self.width - 1
        return self.bits - (1 << self.width) if self.signed and self.bits & sign else self.bits


def make(number: int, width: int, signed: bool = False) -> Value:
    return Value(number % (1 << width), width, signed)


def saturated(number: int, like: Value) -> Value:
    low = -(1 << like.width - 1) if like.signed else 0
    high = (1 << like.width - like.signed) - 1
    return make(max(low, min(high, number)), like.width, like.signed)


class Generator:
    """Random expressions of P4 together with their value for given inputs."""

    def __init__(self, seed: int, inputs: dict[str, int]) -> None:
        self.random = random.Random(seed)
        self.inputs = inputs

    def expression(self, width: int, signed: bool, depth: int) -> tuple[str, Value]:
        if depth == 0:
            return self.leaf(width, signed)
        kinds = ["binary", "binary", "unary", "shift", "power", "cast", "conditional", "saturate"]
        if width > 1 and not signed:
            kinds += ["concat", "slice"]
        return getattr(self, self.random.choice(kinds))(width, signed, depth - 1)

    def leaf(self, width: int, signed: bool) -> tuple[str, Value]:
        names = [name for name, bits in INPUTS.items() if bits == width]
        if names and self.random.random() < 0.7:
            name = self.random.choice(names)
            text = f"hdr.in_.{name}"
            value = make(self.inputs[name], width, signed)
            return (f"((int<{width}>) {text})" if signed else text), value
        if signed:
            number = self.random.choice([-(1 << width - 1), -1, 0, (1 << width - 1) - 1])
            return f"((int<{width}>) ({number}))", make(number, width, True)
        number = self.random.choice([0, 1, (1 << width) - 1, self.random.randrange(1 << width)])
        return f"{width}w{number:#x}", make(number, width)

    def binary(self, width: int, signed: bool, depth: int) -> tuple[str, Value]:
        left, x = self.expression(width, signed, depth)
        right, y = self.expression(width, signed, depth)
        operator = self.random.choice(["+", "-", "&", "|", "^"])
        results = {
            "+": x.number + y.number,
            "-": x.number - y.number,
            "&": x.bits & y.bits,
            "|": x.bits | y.bits,
            "^": x.bits ^ y.bits,
        }
        return f"({left} {operator} {right})", make(results[operator], width, signed)

    def saturate(self, width: int, signed: bool, depth: int) -> tuple[str, Value]:
        left, x = self.expression(width, signed, depth)
        right, y = self.expression(width, signed, depth)
        if self.random.random() < 0.5:
            return f"({left} |+| {right})", saturated(x.number + y.number, x)
        return f"({left} |-| {right})", saturated(x.number - y.number, x)

    def unary(self, width: int, signed: bool, depth: int) -> tuple[str, Value]:
        operand, x = self.expression(width, signed, depth)
        if self.random.random() < 0.5:
            return f"(-{operand})", make(-x.number, width, signed)
        return f"(~{operand})", make(~x.bits, width, signed)

    def shift(self, width: int, signed: bool, depth: int) -> tuple[str, Value]:
        operand, x = self.expression(width, signed, depth)
        amount = self.random.randrange(width + 3)
        if self.random.random() < 0.5:
            return f"({operand} << {amount})", make(x.bits << amount, width, signed)
        return f"({operand} >> {amount})", make(x.number >> amount, width, signed)

    def power(self, width: int, signed: bool, depth: int) -> tuple[str, Value]:
        operand, x = self.expression(width, signed, depth)
        factor = 1 << self.random.randrange(width - signed)
        texts = [operand, str(factor)]
        self.random.shuffle(texts)
        return f"({texts[0]} * {texts[1]})", make(x.number * factor, width, signed)

    def cast(self, width: int, signed: bool, depth: int) -> tuple[str, Value]:
        if signed:
            operand, x = self.expression(width, False, depth)
            return f"((int<{width}>) {operand})", make(x.bits, width, True)
        other = self.random.choice(list(INPUTS.values()))
        operand, x = self.expression(other, False, depth)
        return f"((bit<{width}>) {operand})", make(x.bits, width)

    def concat(self, width: int, signed: bool, depth: int) -> tuple[str, Value]:
        right_width = self.random.randrange(1, width)
        left, x = self.expression(width - right_width, False, depth)
        right, y = self.expression(right_width, False, depth)
        return f"({left} ++ {right})", make(x.bits << right_width | y.bits, width)

    def slice(self, width: int, signed: bool, depth: int) -> tuple[str, Value]:
        source = self.random.choice([w for w in INPUTS.values() if w >= width])
        operand, x = self.expression(source, False, depth)
        low = self.random.randrange(source - width + 1)
        return f"({operand})[{low + width - 1}:{low}]", make(x.bits >> low, width)

    def conditional(self, width: int, signed: bool, depth: int) -> tuple[str, Value]:
        compared = self.random.choice(list(INPUTS.values()))
        both_signed = self.random.random() < 0.5
        left, x = self.expression(compared, both_signed, depth)
        right, y = self.expression(compared, both_signed, depth)
        operator = self.random.choice(["==", "!=", "<", "<=", ">", ">="])
        truth = {
            "==": x.number == y.number,
            "!=": x.number != y.number,
            "<": x.number < y.number,
            "<=": x.number <= y.number,
            ">": x.number > y.number,
            ">=": x.number >= y.number,
        }[operator]
        then, p = self.expression(width, signed, depth)
        otherwise, q = self.expression(width, signed, depth)
        return f"({left} {operator} {right} ? {then} : {otherwise})", p if truth else q


HEADERS = (
    PREAMBLE
    + """
header in_h { bit<8> a; bit<16> b; bit<32> c; bit<64> d; bit<128> e; bit<5> f; bit<3> g; }
header out_h { %s }
struct headers_t { in_h in_; out_h out_; }
struct metadata_t { }
"""
)
PARSER = """
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.in_);
        transition accept;
    }
"""
WIDTHS = [8, 16, 32, 64, 128]


def pack_inputs(inputs: dict[str, int]) -> bytes:
    bits = 0
    for name, width in INPUTS.items():
        bits = bits << width | inputs[name]
    return bits.to_bytes(32, "big")


@pytest.mark.parametrize("seed", range(6))
def test_random_expressions_equal_big_integer_arithmetic(load, seed: int) -> None:
    """The same seed gives the same expressions for every packet; only the inputs differ."""
    chooser = random.Random(1000 + seed)
    shapes = [
        (chooser.choice(WIDTHS), chooser.random() < 0.3, chooser.randrange(1, 5))
        for _ in range(EXPRESSIONS)
    ]

    def all_of(inputs: dict[str, int]) -> tuple[list[str], list[Value]]:
        pairs = []
        for number, (width, signed, depth) in enumerate(shapes):
            generator = Generator(seed * 10_000 + number, inputs)
            pairs.append(generator.expression(width, signed, depth))
        return [text for text, _ in pairs], [value for _, value in pairs]

    texts, _ = all_of(dict.fromkeys(INPUTS, 0))
    fields = " ".join(f"{'int' if s else 'bit'}<{w}> x{i};" for i, (w, s, _) in enumerate(shapes))
    lines = "\n".join(f"        hdr.out_.x{i} = {text};" for i, text in enumerate(texts))
    source = program(
        "hdr.out_.setValid(); hdr.in_.setInvalid();\n" + lines,
        preamble=HEADERS % fields,
        metadata="",
        parser=PARSER,
    )
    # Invalid headers may still be read here: the C++ keeps their fields.
    target = load(source)
    for _ in range(PACKETS):
        inputs = {
            name: chooser.choice([0, (1 << width) - 1, chooser.randrange(1 << width)])
            for name, width in INPUTS.items()
        }
        same_texts, values = all_of(inputs)
        assert same_texts == texts
        expected = b"".join(value.bits.to_bytes(value.width // 8, "big") for value in values)
        [(_, frame)] = target.send(1, pack_inputs(inputs))
        at = 0
        for i, value in enumerate(values):
            got = frame[at : at + value.width // 8]
            assert got == value.bits.to_bytes(value.width // 8, "big"), (inputs, texts[i])
            at += value.width // 8
        assert frame == expected


# (statements, input a b c mac, output a b c mac) of data_h
CASES = [
    ("hdr.data.b[11:4] = hdr.data.a;", (0xAB, 0x1234, 0, 0), (0xAB, 0x1AB4, 0, 0)),
    ("hdr.data.b[11:4][3:0] = 4w5;", (0, 0xFFFF, 0, 0), (0, 0xFF5F, 0, 0)),
    ("hdr.data.b <<= 3; hdr.data.c >>= 4;", (0, 0x2001, 0x80000010, 0), (0, 8, 0x08000001, 0)),
    ("hdr.data.a += 10; hdr.data.b |= 0x8001;", (250, 2, 0, 0), (4, 0x8003, 0, 0)),
    ("hdr.data.a = (bit<8>)(bit<1>)(hdr.data.b > 5);", (9, 6, 0, 0), (1, 6, 0, 0)),
    ("bool ok = (bool)(bit<1>) 1w1; if (ok && !md.flag) { hdr.data.a = 7; }",
     (0, 0, 0, 0), (7, 0, 0, 0)),
    ("hdr.data.c = max(hdr.data.c, 32w100); hdr.data.b = min(hdr.data.b, 5);",
     (0, 9, 7, 0), (0, 5, 100, 0)),
    ("const bit<8> K = 3 * 5 + (1 << 3); hdr.data.a = K;", (0, 0, 0, 0), (23, 0, 0, 0)),
    ("hdr.data.c = (bit<32>) ((int<32>) (int<8>) hdr.data.a);",
     (0x80, 0, 0, 0), (0x80, 0, 0xFFFFFF80, 0)),
    ("extra_h x = {y = 4, x = 3}; hdr.data.b = x.x - x.y;", (0, 0, 0, 0), (0, 0xFFFF, 0, 0)),
    ("extra_h x = {1, 2}; extra_h y = {1, 2}; if (x == y) { hdr.data.a = 1; } "
     "y.setInvalid(); if (x != y) { hdr.data.b = 1; }", (0, 0, 0, 0), (1, 1, 0, 0)),
    ("hdr.data.a = 8w0xFF |+| 8w1; hdr.data.b = 16w1 |-| 16w2;", (0, 5, 0, 0), (0xFF, 0, 0, 0)),
    ("hdr.data.b = (bit<16>) hdr.data.a << 8 | 0x7F;", (0x12, 0, 0, 0), (0x12, 0x127F, 0, 0)),
    # Bitwise operators bind tighter than comparisons (P4_16 specification, 8).
    ("if (hdr.data.a & 0xF == 2) { hdr.data.b = 1; }", (0x12, 0, 0, 0), (0x12, 1, 0, 0)),
    ("if (0x10 < hdr.data.a ^ 0x11 && hdr.data.a | 1 != 5) { hdr.data.b = 1; }",
     (0x12, 0, 0, 0), (0x12, 0, 0, 0)),
    ("if (hdr.data.a ^ 0x12 | hdr.data.a & 6 == 2 == true) { hdr.data.c = 1; }",
     (0x12, 0, 0, 0), (0x12, 0, 1, 0)),
]  # fmt: skip


def pack(values: tuple[int, int, int, int]) -> bytes:
    widths = (1, 2, 4, 6)
    return b"\x01" + b"".join(v.to_bytes(w, "big") for v, w in zip(values, widths, strict=True))


def test_corner_cases_by_hand(load) -> None:
    """All cases in one program, chosen by the first byte."""
    branches = "".join(
        f"        if (hdr.data.kind == {i}) {{ {text} }}\n" for i, (text, _, _) in enumerate(CASES)
    )
    target = load(program(branches))
    for i, (text, given, expected) in enumerate(CASES):
        [(_, frame)] = target.send(1, bytes([i]) + pack(given)[1:])
        assert frame == bytes([i]) + pack(expected)[1:], text


def test_sizes_of_headers_are_constants(load) -> None:
    """data_h has 8 + 8 + 16 + 32 + 48 bits."""
    switch = load(
        program(
            """
            hdr.data.a = (bit<8>) hdr.data.minSizeInBytes();
            hdr.data.b = (bit<16>) data_h.maxSizeInBits();
            """
        )
    )
    ((_, out),) = switch.send(1, bytes(14))
    assert (out[1], int.from_bytes(out[2:4], "big")) == (14, 112)


def test_operators_on_bits_bind_closer_than_comparisons(load) -> None:
    """Unlike C (P4-16 specification, section 8.1; %left of p4c's p4parser.ypp)."""
    switch = load(
        program(
            """
            if (hdr.data.a & 6 == 2) { hdr.data.c[0:0] = 1; }
            if (3 != hdr.data.a | 1) { hdr.data.c[1:1] = 1; }
            if (hdr.data.a ^ 1 < 4) { hdr.data.c[2:2] = 1; }
            if (hdr.data.a < 9 == hdr.data.a > 1) { hdr.data.c[3:3] = 1; }
            """
        )
    )

    def results(a: int) -> int:
        ((_, out),) = switch.send(1, bytes([0, a]) + bytes(12))
        return out[7]

    # Of 2: 2 & 6 = 2, 2 | 1 = 3, 2 ^ 1 = 3; of 5: 4, 5, 4; of 1: 0, 1, 0, and 1 > 1 is false.
    assert [results(a) for a in (2, 5, 1)] == [0b1101, 0b1010, 0b0110]

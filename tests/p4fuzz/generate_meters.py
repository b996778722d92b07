"""Random meters, and the colours that packets have before."""

from __future__ import annotations

from . import tree
from .generate_expressions import ExpressionGenerator, Scope
from .metering import GREEN, RED, YELLOW
from .tree import Bits

_COLOR = Bits(8)  # what MeterColor_t is written in


class MeterGenerator(ExpressionGenerator):
    def meters(self) -> list[tree.Meter]:
        made = []
        for _ in range(self.random.choice([0, 0, 1, 2])):
            width, unit = self.random.randrange(1, 4), self._unit()
            limits = [self.limits() if self.chance(0.8) else None for _ in range(1 << width)]
            made.append(tree.Meter(self.names.new("m"), width, unit, self._colors(), limits))
        return made

    def direct_meter(self) -> tree.DirectMeter:
        return tree.DirectMeter(self.names.new("dm"), self._unit(), self._colors())

    def limits(self) -> tree.Limits:
        """So small that every colour comes."""
        committed, peak = sorted(self.random.randrange(4) for _ in range(2))
        bursts = sorted(self.random.randrange(1, 6) for _ in range(2))
        return tree.Limits(committed, peak, *bursts)

    def color_of(
        self, scope: Scope, meter: tree.Meter | tree.DirectMeter, index: tree.Expression | None
    ) -> tree.MeterColor:
        return tree.MeterColor(Bits(8), meter, index, self._color_before(scope))

    def _unit(self) -> str:
        return self.random.choice(["PACKETS", "BYTES"])

    def _colors(self) -> tuple[int, int, int] | None:
        if self.chance(0.5):
            return None
        red, yellow, green = self.random.sample(range(256), 3)
        return red, yellow, green

    def _color_before(self, scope: Scope) -> tree.Expression | None:
        """None, one of the three, or green or red as the packet says."""
        if self.chance(0.4):
            return None
        bit = self.place(scope.readable, Bits(1))
        if bit is not None and self.chance(0.5):
            twice = tree.Concat(Bits(2), bit, bit)
            return tree.Concat(_COLOR, tree.Literal(Bits(6), 0), twice)
        return tree.Literal(_COLOR, self.random.choice([GREEN, YELLOW, RED]))

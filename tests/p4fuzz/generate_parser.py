"""Random parsers: states, subparsers, selects, value sets."""

from __future__ import annotations

from . import tree
from .generate_expressions import Scope
from .generate_tables import TableGenerator
from .tree import BOOL, Bits


class ParserGenerator(TableGenerator):
    def states(self, block: tree.Block) -> list[tree.State]:
        """Each leads only to later ones, and extracts what no other does."""
        waiting: list[tree.Extract] = [tree.Extract(name, type_) for name, type_ in block.headers]
        for stack in block.stacks:
            waiting += [tree.Extract(stack.name, stack.type, stack) for _ in range(stack.size)]
        self._residue: str | None = None
        if self.chance(0.45):
            block.parser_checksum = self.names.new("sum")
            variable = tree.Variable(f"md.{self.names.new('m')}", Bits(16))
            self._residue = variable.name
        first, rest = waiting[0], waiting[1:]
        self.random.shuffle(rest)
        names = ["start", *(self.names.new("st") for _ in rest)]
        states = []
        seen = [tree.Place(v.type, v.name) for v in block.metadata]
        scope = Scope(seen, list(seen), kind="parser")
        for number, extract in enumerate([first, *rest]):
            body: list[tree.Statement] = []
            if self.chance(0.15):
                type_ = Bits(self.random.choice([8, 16, 32]))
                target = next(place for place in scope.writable if place.type == type_)
                body.append(tree.Assign(target, tree.Lookahead(type_)))
            if self.chance(0.1):
                body.append(tree.Advance(8 * self.random.randrange(1, 4)))
            inner = number > 0 and self.chance(0.2)
            body.append(self._subparser(extract) if inner else extract)
            if extract.stack is None:
                scope.readable += [
                    tree.Place(each.type, f"{extract.header}.{each.name}")
                    for each in extract.type.fields
                ]
            if extract.stack is not None and not inner and self.chance(0.5):
                target = next(place for place in scope.writable if place.type == Bits(32))
                body.append(tree.Assign(target, tree.LastIndex(Bits(32), extract.stack)))
            if block.parser_checksum and not inner and extract.stack is None:
                body += self._checksum(block.parser_checksum, scope, extract)
            if self.chance(0.3):
                target = self.random.choice(scope.writable)
                body.append(tree.Assign(target, self.expression(scope, target.type, 1)))
            state = tree.State(names[number], body, [], [])
            self._transition(scope, state, [*names[number + 1 :], "accept"])
            if self.chance(0.15):
                self._value_set(block, state)
            states.append(state)
        if block.parser_checksum:  # known when the parser ends: no statement of it has it in scope
            block.metadata.append(variable)
        return states

    def _checksum(self, name: str, scope: Scope, extract: tree.Extract) -> list[tree.Statement]:
        """Adds or subtracts of the header, asks whether the sum is right, deposits the residue."""
        fields = [
            tree.Place(each.type, f"{extract.header}.{each.name}")
            for each in extract.type.fields
            if isinstance(each.type, Bits) and each.type.width % 8 == 0
        ]
        body: list[tree.Statement] = []
        if self.chance(0.7):
            data = [tree.Place(extract.type, extract.header)]
            if fields and self.chance(0.5):
                data = [self.random.choice(fields) for _ in range(self.random.randrange(1, 4))]
            body.append(tree.AddToChecksum(name, data, self.chance(0.4)))
        flag = self.place(scope.writable, BOOL)
        if flag is not None and self.chance(0.2):
            body.append(tree.Assign(flag, tree.Verify(BOOL, name)))
        if self._residue is not None and self.chance(0.5):
            target = tree.Place(Bits(16), self._residue)
            body.append(tree.Residue(name, target, self.chance(0.5)))
            self._residue = None  # one residue per packet
        return body

    def _subparser(self, extract: tree.Extract) -> tree.Subparser:
        """That extracts one header, and may reject by it."""
        places = [
            tree.Place(each.type, f"{extract.header}.{each.name}")
            for each in extract.type.fields
            if extract.stack is None
        ]
        state = tree.State("start", [extract], [], [])
        self._transition(Scope(places, [], kind="parser"), state, ["accept"])
        return tree.Subparser(self.names.new("P") + "_p", self.names.new("i"), [state])

    def _value_set(self, block: tree.Block, state: tree.State) -> None:
        """Of a select with one subject, somewhere among its cases."""
        if len(state.subjects) != 1:
            return
        type_ = state.subjects[0].type
        assert isinstance(type_, Bits)
        pairs = {}
        for _ in range(self.random.randrange(4)):
            _, value, mask = self._masked(type_)
            pairs[value, mask] = tree.Match(value, mask)
        value_set = tree.ValueSet(self.names.new("vs"), type_, list(pairs.values()))
        block.value_sets.append(value_set)
        case = tree.SelectCase([], self.random.choice(state.cases).state, value_set)
        state.cases.insert(self.random.randrange(len(state.cases)), case)

    def _masked(self, type_: Bits) -> tuple[str, int, int]:
        mask = self.interesting(type_.width)
        return "mask", self.interesting(type_.width) & mask, mask

    def _transition(self, scope: Scope, state: tree.State, following: list[str]) -> None:
        nearest = following[0]
        if self.chance(0.35):
            state.cases = [tree.SelectCase([], nearest)]
            return
        places = [
            place for place in scope.readable
            if isinstance(place.type, Bits) and place.type.width <= 64 and not place.type.signed
        ]  # fmt: skip
        last: list[tree.Expression] = [
            tree.Last(each.type, extract.stack, each.name)
            for extract in state.body
            if isinstance(extract, tree.Extract) and extract.stack is not None
            for each in extract.type.fields
            if isinstance(each.type, Bits) and each.type.width <= 64 and not each.type.signed
        ] * 3
        if not places and not last:
            state.cases = [tree.SelectCase([], nearest)]
            return
        for _ in range(self.random.choice([1, 1, 2, 3])):
            subject: tree.Expression = self.random.choice([*places, *last])
            assert isinstance(subject.type, Bits)
            if subject.type.width > 8 and self.chance(0.4):
                subject = self.sliced(subject, 8)
            state.subjects.append(subject)
        for _ in range(self.random.randrange(1, 5)):
            keys = [self._keyset(subject.type) for subject in state.subjects]
            if any(kind != "any" for kind, _, _ in keys):
                choice = self.random.choice([nearest, nearest, *following])
                state.cases.append(tree.SelectCase(keys, choice))
        if self.chance(0.85) or not state.cases:
            last = self.random.choice([nearest, nearest, "accept", "reject"])
            state.cases.append(tree.SelectCase([], last))

    def _keyset(self, type_: tree.Type) -> tuple[str, int, int]:
        assert isinstance(type_, Bits)
        kind = self.random.choice(["value", "value", "mask", "range", "any"])
        if kind == "mask":
            return self._masked(type_)
        first, second = self.interesting(type_.width), self.interesting(type_.width)
        return kind, *(sorted([first, second]) if kind == "range" else (first, second))

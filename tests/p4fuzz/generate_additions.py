"""What is added to a random program when the rest of it is made, with random numbers of its own:
the rest is the same as without it, and so are the seeds that show a fault.
"""

from __future__ import annotations

from . import tree
from .generate_expressions import Scope
from .generate_parser import ParserGenerator
from .tree import BOOL, Bits

_ERRORS = ["PacketTooShort", "NoMatch", "StackOutOfBounds", "HeaderTooShort"]
_TUPLE_TYPES = [Bits(8), Bits(16), Bits(32), Bits(1), Bits(16, True)]
_CELLS = [Bits(8), Bits(16), Bits(32), Bits(16, True)]  # of direct registers; metadata has all


class AdditionGenerator(ParserGenerator):
    def add_to(self, program: tree.Program) -> None:
        for block in (program.ingress, program.egress):
            if block is None:
                continue
            for add, probability in (
                (self._require, 0.15),
                (self._loop, 0.2),
                (self._options, 0.2),
                (self._tuples, 0.3),
                (self._filter, 0.2),
            ):
                if self.chance(probability):
                    add(program, block)
            for control in (*block.nested, block.control):
                self._direct_registers(block, control)

    def _insert(self, block: tree.Block, statements: list[tree.Statement]) -> None:
        """Side by side, anywhere in the control."""
        body = block.control.body
        place = self.random.randrange(len(body) + 1)
        body[place:place] = statements

    def _scope(self, block: tree.Block) -> Scope:
        """Of a control: fields of headers, and metadata, which alone are written."""
        metadata = [tree.Place(each.type, each.name) for each in block.metadata]
        fields = [
            tree.Place(each.type, f"{place}.{each.name}")
            for place, header in block.header_places()
            for each in header.fields
        ]
        return Scope([*metadata, *fields], metadata)

    # --- Parser -------------------------------------------------------------------------------

    def _extracted(self, block: tree.Block) -> list[tuple[tree.State, list[tree.Place]]]:
        """States that extract a header, with its unsigned fields."""
        found = []
        for state in block.states:
            places = [
                tree.Place(each.type, f"{extract.header}.{each.name}")
                for extract in state.body
                if isinstance(extract, tree.Extract) and extract.stack is None
                for each in extract.type.fields
                if isinstance(each.type, Bits) and not each.type.signed
            ]
            if places:
                found.append((state, places))
        return found

    def _require(self, program: tree.Program, block: tree.Block) -> None:
        """A `verify` that most packets pass."""
        if not (states := self._extracted(block)):
            return
        state, places = self.random.choice(states)
        place = self.random.choice(places)
        condition = tree.Binary(BOOL, "!=", place, self.literal(place.type))
        state.body.append(tree.Require(condition, self.random.choice(_ERRORS)))

    def _loop(self, program: tree.Program, block: tree.Block) -> None:
        """On the way between two states, a state that fills a stack as long as a bit says so."""
        more = tree.Field(self.names.new("x"), Bits(8))
        fields = [more, tree.Field(self.names.new("x"), Bits(self.random.choice([8, 16, 24])))]
        header = tree.HeaderType(self.names.new("h") + "_h", fields)
        stack = tree.Stack(f"hdr.{self.names.new('s')}", header, self.random.randrange(1, 4))
        program.header_types.append(header)
        block.stacks.append(stack)
        if block.emitted:
            block.emitted.append(stack.name)
        way = self.random.choice(self.random.choice(block.states).cases)
        name = self.names.new("st")
        again = tree.SelectCase([("mask", self.random.randrange(2), 1)], name)
        state = tree.State(
            name,
            [tree.Extract(stack.name, header, stack)],
            [tree.Last(more.type, stack, more.name)],
            [again, tree.SelectCase([], way.state)],
        )
        way.state = name
        block.states.append(state)

    def _options(self, program: tree.Program, block: tree.Block) -> None:
        """A header with a varbit field, most often a second one, which the control compares and
        copies.
        """
        states = [
            (state, [place for place in places if place.type.width >= 3])
            for state, places in self._extracted(block)
        ]
        states = [each for each in states if each[1]]
        if not states:
            return
        kind = tree.Field(self.names.new("x"), Bits(8))
        header = tree.HeaderType(self.names.new("h") + "_h", [kind], self.names.new("o"))
        program.header_types.append(header)
        first, second = (f"hdr.{self.names.new('h')}" for _ in range(2))
        for name in (first, second):
            block.headers.append((name, header))
            if block.emitted:
                block.emitted.append(name)
        state, places = self.random.choice(states)
        for name in (first, second):
            if name == first or self.chance(0.7):
                count = self.sliced(self.random.choice(places), 3)
                state.body.append(tree.ExtractOptions(name, header, count))
        flag = self.place(self._scope(block).writable, BOOL)
        assert flag is not None  # every program has one
        pair = [tree.Place(header, name) for name in (first, second)]
        same = tree.Assign(flag, tree.Binary(BOOL, self.random.choice(["==", "!="]), *pair))
        change: tree.Statement = tree.CopyHeader(first, second, header)
        if self.chance(0.4):
            change = tree.SetValid(self.random.choice([first, second]), False)
        condition = self.expression(self._scope(block), BOOL, 2)
        self._insert(block, [same, tree.If(condition, [change], [])])

    # --- Control ------------------------------------------------------------------------------

    def _tuples(self, program: tree.Program, block: tree.Block) -> None:
        """Two of one type, compared and taken apart."""
        scope = self._scope(block)
        types = self.random.choices(_TUPLE_TYPES, k=self.random.randrange(1, 4))
        names = [self.names.new("tu") for _ in range(2)]
        statements: list[tree.Statement] = [
            tree.DeclareTuple(name, [self.expression(scope, type_, 2) for type_ in types])
            for name in names
        ]
        flag = self.place(scope.writable, BOOL)
        assert flag is not None
        statements.append(tree.Assign(flag, tree.SameTuples(BOOL, *names)))
        for number, type_ in enumerate(types):
            target = self.place(scope.writable, type_)
            if target is not None:
                item = tree.Item(type_, self.random.choice(names), number)
                statements.append(tree.Assign(target, item))
        self._insert(block, statements)

    def _filter(self, program: tree.Program, block: tree.Block) -> None:
        scope = self._scope(block)
        width, index_width = self.random.choice([8, 16, 32]), self.random.randrange(1, 4)
        made = tree.Filter(self.names.new("lpf"), Bits(width), index_width, [])
        if self.chance(0.5):
            made.values = (self.random.randrange(256), self.random.randrange(256))
        top = 1 << width
        for _ in range(1 << index_width):
            times = [self.random.choice([0, 0.25, 1, 4]) for _ in range(2)]
            if made.values is None:
                kind = self.random.choice(["SAMPLE", "RATE"])
                scale = self.random.choice([0, 0, 1, 4])
                made.cells.append(tree.Average(kind, *times, scale))
            else:
                bounds = sorted(self.random.randrange(top) for _ in range(2))
                made.cells.append(tree.Thresholds(times[0], *bounds))
        block.filters.append(made)
        value = self.expression(scope, made.type, 1)
        index = self.expression(scope, Bits(index_width), 1)
        type_ = made.type if made.values is None else Bits(8)
        target = self.place(scope.writable, type_)
        assert target is not None
        self._insert(block, [tree.Assign(target, tree.Filtered(type_, made, value, index))])

    def _direct_registers(self, block: tree.Block, control: tree.Callable) -> None:
        """Of tables that have no other direct extern; most actions of such a table use it."""
        for table in [each for each in control.locals if isinstance(each, tree.Table)]:
            is_plain = table.counter is None and table.meter is None and not table.profile
            if not is_plain or not self.chance(0.25):
                continue
            type_ = self.random.choice(_CELLS)
            initial = self.interesting(type_.width)
            register = tree.DirectRegister(self.names.new("dr"), type_, initial)
            inputs = [
                place for place in self._scope(block).writable
                if place.type in _CELLS and place.type.width <= type_.width
            ]  # fmt: skip
            table.register_action = self.register_action(register, inputs)
            target = self.place(self._scope(block).writable, type_)
            assert target is not None
            for reference in table.actions:
                if reference.action in control.locals and self.chance(0.8):
                    value = tree.Execute(type_, table.register_action, None)
                    reference.action.body.insert(0, tree.Assign(target, value))

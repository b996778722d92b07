"""A whole random program, by its seed. Everything in it is valid for TNA, and no packet reads what
has no value (fields begin at zero, as docs/p4soft.md says).
"""

from __future__ import annotations

import random

from . import tree
from .generate_additions import AdditionGenerator
from .generate_expressions import WIDTHS, Scope
from .switch_model import MIRROR_PORT, PIPE_PORTS, RECIRCULATION_PORT
from .tree import BOOL, Bits, Enum

_ALGORITHMS = ["CRC8", "CRC16", "CRC32", "CRC64", "IDENTITY", "XOR8", "XOR16", "XOR32"]
_RANDOM_WIDTHS = {"IDENTITY": 64, "CRC64": 64, "CRC32": 32, "XOR32": 32, "CRC8": 8, "XOR8": 8}
# Fields that every program has, so that each usual width is at hand.
_METADATA = [Bits(8), Bits(16), Bits(32), Bits(1), Bits(9), BOOL, Bits(16, True)]


def generate(seed: int) -> tree.Program:
    generator = ProgramGenerator(random.Random(seed))
    program = generator.program()
    generator.random = random.Random(f"additions {seed}")
    generator.add_to(program)
    if generator.chance(0.12):
        generator.add_pipeline(program)
    return program


class ProgramGenerator(AdditionGenerator):
    def add_pipeline(self, program: tree.Program) -> None:
        """What pipe 1 runs. Some packets go to ports of the other pipe."""
        groups = program.groups
        program.second = self.program()
        program.second.groups, self.groups = {}, groups
        self.add_to(program.second)
        for block in program.second.blocks():
            block.suffix = "_1"
            if block.port_metadata is not None:
                by_port = block.port_metadata.by_port
                block.port_metadata.by_port = {PIPE_PORTS + p: v for p, v in by_port.items()}
        for pipeline in program.pipelines():
            body = pipeline.ingress.control.body
            port = tree.Place(Bits(9), "ig_tm_md.ucast_egress_port")
            to_other = tree.Assign(port, tree.Literal(Bits(9), PIPE_PORTS), "|")
            condition = self.expression(self._scope(pipeline.ingress), BOOL, 2)
            first = next(s for s in body if isinstance(s, tree.Assign) and s.target == port)
            body.insert(body.index(first) + 1, tree.If(condition, [to_other], []))

    def program(self) -> tree.Program:
        self.constants = [self._constant() for _ in range(self.random.randrange(0, 4))]
        self.enums = [self._enum_type() for _ in range(self.random.choice([0, 1, 1, 2]))]
        self.header_types = [self._header_type() for _ in range(self.random.randrange(1, 4))]
        self.functions: list[tree.Callable] = []
        for _ in range(self.random.randrange(0, 3)):
            self.functions.append(self.function(self.functions))
        egress = self.chance(0.4)
        self.groups = self._groups() if self.chance(0.25) else {}
        ingress = self._block("ig", egress)
        return tree.Program(
            self.enums,
            self.header_types,
            self.constants,
            self.functions,
            ingress,
            self._block("eg", egress) if egress else None,
            self.groups,
            self.random.randrange(1 << 30),
        )

    # --- Declarations -------------------------------------------------------------------------

    def _constant(self) -> tree.Constant:
        """Of numbers without widths, computed without bounds."""
        text, value = self._unbounded(3)
        type_ = self.some_type()
        while value >> type_.width - type_.signed:
            text, value = f"({text}) / 7", value // 7
        return tree.Constant(self.names.new("K"), type_, value, text)

    def _unbounded(self, depth: int) -> tuple[str, int]:
        if depth == 0:
            value = self.random.randrange(1 << self.random.randrange(1, 12))
            return str(value), value
        (left, x), (right, y) = self._unbounded(depth - 1), self._unbounded(depth - 1)
        operator = self.random.choice(["+", "*", "/", "%", "<<", ">>", "&", "|", "^"])
        if operator in ("<<", ">>"):
            right, y = str(y % 9), y % 9
        if operator in ("/", "%") and y == 0:
            right, y = "3", 3
        results = {"+": x + y, "*": x * y, "&": x & y, "|": x | y, "^": x ^ y, "<<": x << min(y, 9),
                   ">>": x >> y, "/": x // (y or 1), "%": x % (y or 1)}  # fmt: skip
        return f"({left} {operator} {right})", results[operator]

    def _enum_type(self) -> Enum:
        width = self.random.choice([4, 8, 8, 16])
        values = dict.fromkeys(self.interesting(width) for _ in range(self.random.randrange(1, 6)))
        members = tuple((self.names.new("E"), value) for value in values)
        return Enum(self.names.new("e") + "_t", width, members)

    def _groups(self) -> dict[int, list[tree.Node]]:
        """Groups 1 and 2, so that a number of two bits may name none."""
        return {
            number: [
                tree.Node(self.random.randrange(1, 1 << 16), self.random.sample(range(8), count))
                for count in self.random.choices([1, 2, 3], k=self.random.randrange(1, 3))
            ]
            for number in (1, 2)
        }

    def _header_type(self) -> tree.HeaderType:
        fields = []
        for _ in range(self.random.randrange(1, 6)):
            width = self.random.choice(WIDTHS)
            signed = width > 1 and self.chance(0.15)
            type_: Bits | Enum = Bits(width, signed)
            if self.enums and self.chance(0.12):
                type_ = self.random.choice(self.enums)
            fields.append(tree.Field(self.names.new("x"), type_))
        header = tree.HeaderType(self.names.new("h") + "_h", fields)
        if header.width % 8:
            rest = tree.Field(self.names.new("x"), Bits(8 - header.width % 8))
            fields.insert(self.random.randrange(len(fields) + 1), rest)
        return header

    # --- Blocks -------------------------------------------------------------------------------

    def _block(self, gress: str, egress: bool) -> tree.Block:
        headers = [
            (f"hdr.{self.names.new('h')}", self.random.choice(self.header_types))
            for _ in range(self.random.randrange(1, 4))
        ]
        stacks = []
        if self.chance(0.4):
            type_ = self.random.choice(self.header_types)
            name = f"hdr.{self.names.new('s')}"
            stacks.append(tree.Stack(name, type_, self.random.randrange(1, 4)))
        metadata = [tree.Variable(f"md.{self.names.new('m')}", type_) for type_ in _METADATA]
        metadata += [
            tree.Variable(f"md.{self.names.new('m')}", self.any_type())
            for _ in range(self.random.randrange(3))
        ]
        block = tree.Block(
            gress, headers, stacks, metadata, [], [], tree.Callable("control", "", [], []),
            self._hashes(), self._counters(), self._registers(), [], [], [],
            reads_parser_error=gress == "ig" and self.chance(0.2),
        )  # fmt: skip
        block.meters = self.meters()
        if gress == "ig" and self.chance(0.2):
            block.port_metadata = self._port_metadata()
        block.states = self.states(block)
        self._copies(block)
        self._control(block, egress)
        self._deparser(block)
        return block

    def _port_metadata(self) -> tree.PortMetadata:
        """Up to 64 bits, known of half the ports, and of the one packets recirculate by."""
        widths = self.random.choice([[16, 8, 32], [9, 7, 1, 32], [64], [48, 16], [3, 16, 32, 8]])
        fields = [tree.Field(self.names.new("x"), Bits(width)) for width in widths]
        ports = [*self.random.sample(range(64), 32), RECIRCULATION_PORT]
        by_port = {port: [self.interesting(width) for width in widths] for port in ports}
        place = f"md.{self.names.new('port')}"
        return tree.PortMetadata(self.names.new("p") + "_t", place, fields, by_port)

    def _of_port(self, block: tree.Block) -> list[tree.Place]:
        metadata = block.port_metadata
        if metadata is None:
            return []
        return [tree.Place(each.type, f"{metadata.place}.{each.name}") for each in metadata.fields]

    def _hashes(self) -> list[tree.Hash]:
        made = []
        for _ in range(self.random.randrange(3)):
            algorithm = self.random.choice(_ALGORITHMS)
            width = self.random.randrange(1, _RANDOM_WIDTHS.get(algorithm, 16) + 1)
            made.append(tree.Hash(self.names.new("hash"), algorithm, width))
        return made

    def _counters(self) -> list[tree.Counter]:
        return [
            tree.Counter(self.names.new("c"), self.random.randrange(1, 4))
            for _ in range(self.random.randrange(2))
        ]

    def _registers(self) -> list[tree.Register]:
        made = []
        for _ in range(self.random.randrange(3)):
            type_ = Bits(self.random.choice([8, 16, 32]), self.chance(0.4))
            initial = self.interesting(type_.width)
            index_width = self.random.randrange(1, 4)
            made.append(tree.Register(self.names.new("r"), type_, index_width, initial))
        return made

    def _places(self, block: tree.Block) -> list[tree.Place]:
        return [
            *(
                tree.Place(each.type, f"{place}.{each.name}")
                for place, header in block.header_places()
                for each in header.fields
            ),
            *(tree.Place(variable.type, variable.name) for variable in block.metadata),
        ]

    # --- Control ------------------------------------------------------------------------------

    def _control(self, block: tree.Block, egress: bool) -> None:
        places = self._places(block)
        inputs = [p for p in places if p.name.startswith("md.") and p.type != BOOL]
        ranges = {Bits(8), Bits(16), Bits(32), Bits(16, True)}
        inputs = [place for place in inputs if place.type in ranges]
        block.register_actions = [
            self.register_action(register, self._narrow(inputs, register.type.width))
            for register in block.registers
        ]
        scope = Scope(
            places, list(places), block.header_places(), block.stacks, block.hashes,
            block.counters, self.functions,
        )  # fmt: skip
        scope.readable += self._of_port(block) * 2
        if block.resubmit is not None and block.resubmit.header is not None:
            scope.readable += [
                tree.Place(each.type, f"{block.resubmit.place}.{each.name}")
                for each in block.resubmit.header.fields
            ] * 3
        block.nested = [self._nested(block, scope) for _ in range(self.random.randrange(2))]
        scope.nested = list(block.nested)
        scope.readable += self._intrinsic(block)
        scope.registers = list(block.register_actions)
        scope.meters = list(block.meters)
        name = "Ingress" if block.gress == "ig" else "Egress"
        block.control = self._with_tables(tree.Callable("control", name, [], []), scope, 3)
        block.control.body[:0] = self._first_statements(block, scope, egress)

    def _narrow(self, inputs: list[tree.Place], width: int) -> list[tree.Place]:
        return [p for p in inputs if isinstance(p.type, Bits) and p.type.width <= width]

    def _intrinsic(self, block: tree.Block) -> list[tree.Place]:
        if block.gress == "eg":
            return [
                tree.Place(Bits(9), "eg_intr_md.egress_port"),
                tree.Place(Bits(16), "eg_intr_md.pkt_length"),
                tree.Place(Bits(16), "eg_intr_md.egress_rid"),
            ]
        places = [
            tree.Place(Bits(9), "ig_intr_md.ingress_port"),
            tree.Place(Bits(1), "ig_intr_md.resubmit_flag"),
        ]
        if block.reads_parser_error:
            places.append(tree.Place(Bits(16), "ig_prsr_md.parser_err"))
        return places

    def _with_tables(self, control: tree.Callable, scope: Scope, most: int) -> tree.Callable:
        """Fills in actions, tables and the body."""
        for _ in range(self.random.randrange(3)):
            declared = self._declare(scope, 0)
            control.locals.append(declared)
        for _ in range(self.random.randrange(3)):
            action = self.action(self._without_registers(scope), self.random.randrange(3), 0)
            control.locals.append(action)
            scope.actions.append(action)
        for _ in range(self.random.randrange(most + 1)):
            table, actions = self.table(scope)
            control.locals += [*actions, table]
            scope.tables.append(table)
        control.body = self.body(scope, self.random.randrange(3, 9), 2)
        control.body += [tree.Apply(table) for table in scope.tables]
        return control

    def _without_registers(self, scope: Scope) -> Scope:
        inner = scope.inner()
        inner.registers = []
        return inner

    def _nested(self, block: tree.Block, outer: Scope) -> tree.Callable:
        parameters = self.parameters(self.random.randrange(3), 0)
        scope = self.within(outer, parameters)
        scope.hashes, scope.counters, scope.registers = [], [], []
        scope.tables, scope.actions = [], []
        name = self.names.new("C") + "_c"  # no type is called `apply`
        control = tree.Callable("control", name, parameters, [], instance=self.names.new("i"))
        control = self._with_tables(control, scope, 1)
        control.body[:0] = self.outs_first(scope, parameters)
        return control

    def _first_statements(
        self, block: tree.Block, scope: Scope, egress: bool
    ) -> list[tree.Statement]:
        """Where the packet goes; port 0 to 7."""
        drop = tree.Place(Bits(3), f"{block.gress}_dprsr_md.drop_ctl")
        statements: list[tree.Statement] = []
        if block.gress == "ig":
            port = tree.Place(Bits(9), "ig_tm_md.ucast_egress_port")
            low = self.expression(scope, Bits(3), 1)
            number = tree.Concat(Bits(9), tree.Literal(Bits(6), 0), low)
            statements.append(tree.Assign(port, number))
            if self.chance(0.2):
                statements.append(self._round(scope))
            if self.groups:
                statements.append(self._to_group(scope))
            if not egress or self.chance(0.1):
                bypass = tree.Place(Bits(1), "ig_tm_md.bypass_egress")
                statements.append(tree.Assign(bypass, tree.Literal(Bits(1), 1, bare=True)))
        if block.reads_parser_error:
            error = tree.Place(Bits(16), "ig_prsr_md.parser_err")
            target = next(v for v in block.metadata if v.type == Bits(16))
            statements.append(tree.Assign(tree.Place(target.type, target.name), error))
        special = [(drop, 1)] if self.chance(0.15) else []
        if block.mirror is not None:
            place = tree.Place(Bits(3), f"{block.gress}_dprsr_md.mirror_type")
            special.append((place, block.mirror.type_number))
        if block.resubmit is not None:
            place = tree.Place(Bits(3), "ig_dprsr_md.resubmit_type")
            special.append((place, block.resubmit.type_number))
        if block.digest is not None:
            place = tree.Place(Bits(3), "ig_dprsr_md.digest_type")
            special.append((place, block.digest.type_number))
        for place, number in special:
            assigned = tree.Assign(place, tree.Literal(Bits(3), number))
            condition = self.expression(scope, BOOL, 2)
            if place.name == "eg_dprsr_md.mirror_type":  # a mirror copy has none of its own
                to = tree.Place(Bits(9), "eg_intr_md.egress_port")
                is_first = tree.Binary(BOOL, "!=", to, tree.Literal(Bits(9), MIRROR_PORT))
                condition = tree.Binary(BOOL, "&&", is_first, condition)
            statements.append(tree.If(condition, [assigned], []))
        return statements

    def _round(self, scope: Scope) -> tree.Statement:
        """Some packets come in again, those that do so once."""
        came = tree.Place(Bits(9), "ig_intr_md.ingress_port")
        again = tree.Binary(BOOL, "!=", came, tree.Literal(Bits(9), RECIRCULATION_PORT))
        condition = tree.Binary(BOOL, "&&", again, self.expression(scope, BOOL, 2))
        port = tree.Place(Bits(9), "ig_tm_md.ucast_egress_port")
        sent = tree.Assign(port, tree.Literal(Bits(9), RECIRCULATION_PORT))
        return tree.If(condition, [sent], [])

    def _to_group(self, scope: Scope) -> tree.Statement:
        group = tree.Place(Bits(16), "ig_tm_md.mcast_grp_a")
        low = self.expression(scope, Bits(2), 1)
        number = tree.Concat(Bits(16), tree.Literal(Bits(14), 0), low)
        return tree.If(self.expression(scope, BOOL, 2), [tree.Assign(group, number)], [])

    def _copies(self, block: tree.Block) -> None:
        if self.chance(0.2):
            values: list[tree.Place] = [
                tree.Place(each.type, each.name)
                for each in block.metadata
                if isinstance(each.type, Bits) and each.type.width in (8, 16, 32)
            ]
            fields = [
                tree.Field(self.names.new("x"), v.type) for v in values if isinstance(v.type, Bits)
            ]
            header = tree.HeaderType(self.names.new("h") + "_h", fields)
            self.header_types.append(header)
            session = self.random.randrange(1, 512) + 512 * (block.gress == "eg")
            number = self.random.randrange(1, 8)
            block.mirror = tree.Mirror(self.names.new("mi"), number, session, header, values)
        if block.gress == "eg":
            return
        if self.chance(0.2):
            block.digest = self._digest(block)
        elif self.chance(0.25):
            block.resubmit = self._resubmit(block)

    def _resubmit(self, block: tree.Block) -> tree.Resubmit:
        """With 64 bits of metadata, or nothing."""
        resubmit = tree.Resubmit(self.names.new("re"), self.random.randrange(1, 8))
        if block.port_metadata is not None or self.chance(0.7):  # port metadata take its place
            widths = self.random.choice([[32, 32], [32, 16, 16], [8, 16, 8, 32]])
            resubmit.values = [
                next(tree.Place(v.type, v.name) for v in block.metadata if v.type == Bits(width))
                for width in widths
            ]
            fields = [tree.Field(self.names.new("x"), Bits(width)) for width in widths]
            resubmit.header = tree.HeaderType(self.names.new("h") + "_h", fields)
            self.header_types.append(resubmit.header)
            resubmit.place = f"md.{self.names.new('again')}"
        return resubmit

    def _digest(self, block: tree.Block) -> tree.Digest:
        """Of up to four fields: a message is 48 bytes at most."""
        places = [p for p in self._places(block) if isinstance(p.type, Bits) and p.type.width <= 64]
        values = self.random.sample(places, min(len(places), self.random.randrange(1, 5)))
        fields = [self.names.new("l") for _ in values]
        number = self.random.randrange(1, 8)
        return tree.Digest(self.names.new("d"), number, self.names.new("l") + "_t", fields, values)

    # --- Deparser -----------------------------------------------------------------------------

    def _deparser(self, block: tree.Block) -> None:
        if self.chance(0.5):
            block.emitted = [name for name, _ in block.headers] + [s.name for s in block.stacks]
            if self.chance(0.3):
                self.random.shuffle(block.emitted)
        places = [p for p in self._places(block) if p.name.startswith("hdr.")]
        targets = [place for place in places if place.type == Bits(16)]
        whole = [p for p in places if isinstance(p.type, Bits) and p.type.width % 8 == 0]
        if targets and self.chance(0.6):
            target = self.random.choice(targets)
            data = [self.random.choice(whole) for _ in range(self.random.randrange(1, 6))]
            name = self.names.new("sum")
            block.checksums.append(tree.Checksum(name, target.name, data, self.chance(0.3)))

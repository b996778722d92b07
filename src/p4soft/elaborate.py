"""The instances of a program: from `Switch(...) main` down to every extern, table and nested block.

A parser or control is checked once as a declaration and may be instantiated several times; each
instance has its own tables and externs, named by its path, as in the control plane:
`SwitchIngress.partitioning.partition`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from p4soft.check import types
from p4soft.check.constants import fold_binary
from p4soft.check.sizes import check_size
from p4soft.check.symbols import InstanceSymbol, Scope, Symbol, ValueSetSymbol
from p4soft.check.tables import implementation_of
from p4soft.errors import P4Error, Position, unsupported
from p4soft.frontend import syntax
from p4soft.known_conditions import applied

if TYPE_CHECKING:
    from p4soft.dynamic_hashes import DynamicHash

BLOCKS = (
    "ingress_parser",
    "ingress",
    "ingress_deparser",
    "egress_parser",
    "egress",
    "egress_deparser",
)


@dataclass(eq=False)
class ExternInstance:
    path: str
    type: types.Generic
    position: Position
    arguments: list[Any]  # constants, instances, or None where left out
    methods: list[syntax.Function]
    annotations: list[syntax.Annotation]
    owner: BlockInstance | None
    identifier: str = ""  # in C++; set by the emitter
    table: TableInstance | None = None  # of direct externs: the table they are attached to
    byte_adjustment: int = 0  # what counters and meters take off a frame's bytes

    @property
    def is_unreached(self) -> bool:
        """Whether it, or the register that it is for, belongs to a table that is never applied."""
        used = [self, *(each for each in self.arguments if isinstance(each, ExternInstance))]
        tables = [each.table for each in used if each.table is not None]
        return any(table not in table.block.tables for table in tables)


_METER_WORDS = 8  # kMeterWords of src/dataplane/meter.h
_FILTER_WORDS = 7  # kFilterWords of src/dataplane/filter.h
_COUNTER_WORDS = 2


def cell_fields(cell: types.Type) -> list[tuple[str, types.Type]]:
    """The one or two values of a register's cell: name ('f1' for a plain value, as in the SDE) and
    type.
    """
    if isinstance(cell, types.Composite):
        return list(cell.fields.items())
    return [("f1", cell)]


def cell_of_action(action: ExternInstance) -> types.Type:
    """What a RegisterAction takes a cell of its register for."""
    own, register = action.type.arguments[0], action.arguments[0].type.arguments[0]
    return types.underlying(register if own == types.ANY else own)


@dataclass(eq=False)
class TableInstance:
    path: str
    declaration: syntax.Table
    block: BlockInstance
    counter: ExternInstance | None = None  # its DirectCounter
    meter: ExternInstance | None = None  # its DirectMeter
    filter: ExternInstance | None = None  # its DirectLpf or DirectWred
    register: ExternInstance | None = None  # its DirectRegister
    implementation: ExternInstance | None = None  # an ActionProfile or ActionSelector
    ages: bool = False  # it knows how long ago a packet hit each of its entries
    size: int | None = None  # where the program gives one
    identifier: str = ""

    @property
    def profile(self) -> ExternInstance | None:
        """Where the actions of its entries are."""
        found = self.implementation
        return found.arguments[0] if found and found.type.name == "ActionSelector" else found

    @property
    def meter_start(self) -> int:
        """The first word of an entry's meter, behind its action and counter."""
        return 1 + (_COUNTER_WORDS if self.counter else 0)

    @property
    def filter_start(self) -> int:
        """The first word of an entry's cell of a direct filter."""
        return self.meter_start + (_METER_WORDS if self.meter else 0)

    @property
    def cell_start(self) -> int:
        """The first word of an entry's cell of a direct register."""
        return self.filter_start + (_FILTER_WORDS if self.filter else 0)

    @property
    def data_start(self) -> int:
        """The first word of an entry's action data (src/dataplane/table.h)."""
        cell = self.register and self.register.type.arguments[0]
        return self.cell_start + (len(cell_fields(cell)) if cell else 0)


@dataclass(eq=False)
class ValueSetInstance:
    path: str
    symbol: ValueSetSymbol
    identifier: str = ""


@dataclass(eq=False)
class PortMetadata:
    """A table of the ingress parser's, with a struct for each port."""

    path: str
    key: str
    type: types.Composite
    is_unpacked: bool  # somewhere, by port_metadata_unpack
    is_read_as_bits: bool  # somewhere, by an extract or lookahead; one of both is true
    identifier: str = ""


@dataclass(eq=False)
class BlockInstance:
    path: str
    declaration: syntax.Parser | syntax.Control
    parent: BlockInstance | None
    environment: dict[Symbol, Any] = field(
        default_factory=dict
    )  # constructor parameters and instances
    externs: list[ExternInstance] = field(default_factory=list)
    children: list[BlockInstance] = field(default_factory=list)
    tables: list[TableInstance] = field(default_factory=list)
    value_sets: list[ValueSetInstance] = field(default_factory=list)
    identifier: str = ""

    def with_descendants(self) -> list[BlockInstance]:
        return [self, *(b for child in self.children for b in child.with_descendants())]

    def table(self, declaration: syntax.Table) -> TableInstance:
        return next(t for t in self.tables if t.declaration is declaration)

    def value_set(self, symbol: ValueSetSymbol) -> ValueSetInstance:
        return next(v for v in self.value_sets if v.symbol is symbol)

    def environments(self) -> Iterator[dict[Symbol, Any]]:
        """Its own and those around it; the outermost holds the globals too."""
        block: BlockInstance | None = self
        while block is not None:
            yield block.environment
            block = block.parent

    def find(self, symbol: Symbol) -> Any:
        """The instance or constructor argument that a name stands for in this block, or None."""
        return next((e[symbol] for e in self.environments() if symbol in e), None)


@dataclass(frozen=True)
class AliasedField:
    """A field of a top control's metadata: the parameter, and the way through its structs."""

    parameter: str
    steps: tuple[tuple[types.Composite, str], ...]
    width: int

    @property
    def name(self) -> str:
        return ".".join([self.parameter, *(step for _, step in self.steps)])


@dataclass(frozen=True)
class Alias:
    """Two fields that are one: `part` is the low bits of `whole`."""

    gress: str
    part: AliasedField
    whole: AliasedField


@dataclass(eq=False)
class Pipeline:
    name: str  # of its instance, the prefix of all control-plane names
    blocks: dict[str, BlockInstance]  # by the names of BLOCKS
    globals: list[ExternInstance]
    global_environment: dict[Symbol, Any]  # the same, by what names them
    port_metadata: PortMetadata | None = None  # set by check.port_metadata
    aliases: list[Alias] = field(default_factory=list)  # set by check.aliases
    # Set by dynamic_hashes.
    dynamic_hashes: dict[ExternInstance, DynamicHash] = field(default_factory=dict)

    def all_blocks(self) -> list[BlockInstance]:
        return [b for name in BLOCKS for b in self.blocks[name].with_descendants()]

    def externs(self) -> list[ExternInstance]:
        return [*self.globals, *(e for block in self.all_blocks() for e in block.externs)]

    def digests(self) -> list[ExternInstance]:
        """In the order of the schema's learn_filters."""
        return [extern for extern in self.externs() if extern.type.name == "Digest"]

    def tables(self) -> list[TableInstance]:
        return [t for block in self.all_blocks() for t in block.tables]

    def users_of(self, profile: ExternInstance) -> list[TableInstance]:
        """The tables whose actions are in an ActionProfile."""
        return [table for table in self.tables() if table.profile is profile]

    def value_sets(self) -> list[ValueSetInstance]:
        return [v for block in self.all_blocks() for v in block.value_sets]

    # What the control plane is told of: not what is @hidden.

    def known_tables(self) -> list[TableInstance]:
        return [t for t in self.tables() if not _is_hidden(t.declaration.annotations)]

    def known_value_sets(self) -> list[ValueSetInstance]:
        found = self.value_sets()
        return [v for v in found if not _is_hidden(v.symbol.declaration.annotations)]

    def known_externs(self) -> list[ExternInstance]:
        tables = self.known_tables()
        return [extern for extern in self.externs() if _is_known(extern, tables)]


def _is_hidden(annotations: list[syntax.Annotation]) -> bool:
    return syntax.annotation(annotations, "hidden") is not None


def _is_known(extern: ExternInstance, tables: list[TableInstance]) -> bool:
    """A direct extern is known with its table."""
    if _is_hidden(extern.annotations):
        return False
    return not extern.type.name.startswith("Direct") or extern.table in tables


@dataclass(frozen=True)
class Pipes:
    """What the pipes of a switch run: Switch(a, b) main."""

    pipelines: list[Pipeline]  # each once
    of_pipe: list[int]  # by pipe: which of them; a switch of more pipes goes on from the first


def constant_name(instance: ExternInstance, place: int) -> str:
    """The name of an enum's member that was given as argument number `place` of a constructor."""
    declaration = instance.type.declaration
    assert isinstance(declaration, syntax.Extern)
    constructor = next(m for m in declaration.methods if m.returns is None)
    members = constructor.symbol.parameters[place].type.members
    return next(name for name, value in members.items() if value == instance.arguments[place])


def given_name(name: str, annotations: list[syntax.Annotation]) -> str:
    """The control-plane name: that of @name if there is one."""
    annotation = syntax.annotation(annotations, "name")
    return annotation.arguments[0].text.strip('"') if annotation and annotation.arguments else name


def join_path(owner: str, name: str) -> str:
    if name.startswith("."):  # @name(".x") is absolute
        return name[1:]
    return f"{owner}.{name}" if owner else name


class Elaborator:
    """Of one pipeline, which has instances of its own of what is declared at the top level."""

    def __init__(self, program: syntax.Program, specialized: Counter[str]) -> None:
        """specialized: how many blocks of each type the pipelines before this one were given
        arguments for.
        """
        self._program = program
        self._specialized = specialized
        self._globals: dict[Symbol, Any] = {}

    def elaborate(
        self, name: str, arguments: list[syntax.Expression], position: Position
    ) -> Pipeline:
        global_externs: list[ExternInstance] = []
        for declaration in self._program.declarations:
            symbol = getattr(declaration, "symbol", None)
            if isinstance(symbol, InstanceSymbol) and self._is_extern(symbol):
                instance = self._extern(symbol, None)
                self._globals[symbol] = instance
                global_externs.append(instance)
        blocks = {
            block: self._top_block(argument, position)
            for block, argument in zip(BLOCKS, arguments, strict=True)
        }
        return Pipeline(name, blocks, global_externs, self._globals)

    def _is_extern(self, symbol: InstanceSymbol) -> bool:
        return isinstance(symbol.type, types.Generic) and isinstance(
            symbol.type.declaration, syntax.Extern
        )

    def _top_block(self, argument: syntax.Expression, position: Position) -> BlockInstance:
        if isinstance(argument, syntax.Call):
            assert isinstance(argument.type, types.Generic)
            name = self._name_of_block(argument)
            return self._block(argument.type, name, argument.target.arguments, None)
        if isinstance(argument, syntax.Name) and isinstance(argument.symbol, InstanceSymbol):
            symbol = argument.symbol
            assert isinstance(symbol.type, types.Generic)
            return self._block(symbol.type, symbol.name, symbol.arguments, None)
        raise P4Error(
            position, "a block of the pipeline must be an instance, for example SwitchIngress()"
        )

    def _name_of_block(self, call: syntax.Call) -> str:
        """Ingress() is `Ingress`; Ingress(1) and Ingress(2) are `Ingress_0` and `Ingress_1`, as the
        Tofino compiler specializes and names them.
        """
        assert isinstance(call.type, types.Generic)
        name = call.type.name
        if not call.target.arguments:
            return name
        self._specialized[name] += 1
        return f"{re.sub(r'_[0-9]*$', '', name)}_{self._specialized[name] - 1}"

    # --- Blocks -----------------------------------------------------------------------------------

    def _block(
        self,
        type_: types.Generic,
        path: str,
        arguments: list[syntax.Expression | None],
        parent: BlockInstance | None,
    ) -> BlockInstance:
        declaration = type_.declaration
        assert isinstance(declaration, (syntax.Parser, syntax.Control))
        around = parent
        while around is not None:
            if around.declaration is declaration:
                raise P4Error(
                    declaration.position, f"'{type_.name}' is in itself; P4 has no recursion"
                )
            around = around.parent
        block = BlockInstance(path, declaration, parent)
        if parent is None:
            block.environment.update(self._globals)
        for parameter, argument in zip(declaration.constructor, arguments, strict=True):
            value = None if argument is None else self._evaluate(argument, parent)
            block.environment[parameter.symbol] = value
        for statement in declaration.locals:
            if isinstance(statement, syntax.Instantiation):
                self._instance(statement.symbol, block)
            elif isinstance(statement, syntax.Table):
                self._table(statement, block)
            elif isinstance(statement, syntax.ValueSet):
                name = given_name(statement.name, statement.annotations)
                path = join_path(block.path, name)
                block.value_sets.append(ValueSetInstance(path, statement.symbol))
        if isinstance(declaration, syntax.Control):
            symbols = applied(declaration.body, block.find)
            instances = [block.find(symbol) for symbol in symbols]
            block.tables = [t for t in block.tables if t.declaration.symbol in symbols]
            block.children = [c for c in block.children if c in instances]
            block.externs = [e for e in block.externs if not e.is_unreached]
        return block

    def _instance(self, symbol: InstanceSymbol, block: BlockInstance) -> None:
        assert isinstance(symbol.type, types.Generic)
        if self._is_extern(symbol):
            instance: Any = self._extern(symbol, block)
            block.externs.append(instance)
        else:
            name = given_name(symbol.name, symbol.declaration.annotations)
            path = join_path(block.path, name)
            instance = self._block(symbol.type, path, symbol.arguments, block)
            block.children.append(instance)
        block.environment[symbol] = instance

    def _extern(self, symbol: InstanceSymbol, block: BlockInstance | None) -> ExternInstance:
        assert isinstance(symbol.type, types.Generic)
        path = join_path(
            block.path if block else "", given_name(symbol.name, symbol.declaration.annotations)
        )
        arguments = [None if a is None else self._evaluate(a, block) for a in symbol.arguments]
        methods = symbol.declaration.methods or []
        annotations = symbol.declaration.annotations
        return ExternInstance(
            path, symbol.type, symbol.position, arguments, methods, annotations, block
        )

    def _table(self, declaration: syntax.Table, block: BlockInstance) -> None:
        path = join_path(block.path, given_name(declaration.name, declaration.annotations))
        table = TableInstance(path, declaration, block)
        block.tables.append(table)
        size = declaration.property("size")
        if size is not None:
            table.size = self._evaluate(size.value, block)
            check_size(table.size, "a table", size.value.position)
        table.counter = self._direct(table, "counters")
        table.meter = self._direct(table, "meters")
        table.filter = self._direct(table, "filters")
        table.register = self._direct(table, "registers")
        idle_timeout = declaration.property("idle_timeout")
        table.ages = idle_timeout is not None and idle_timeout.value.value
        implementation = implementation_of(declaration)
        if implementation is not None:
            assert isinstance(implementation.value, syntax.Name)
            table.implementation = self.resolve(implementation.value.symbol, block)

    def _direct(self, table: TableInstance, name: str) -> ExternInstance | None:
        """The direct extern that a property of the table attaches to it. Of one with an index, it
        only says that the table's actions use it.
        """
        item = table.declaration.property(name)
        if item is None:
            return None
        assert isinstance(item.value, syntax.Name)
        instance: ExternInstance = self.resolve(item.value.symbol, table.block)
        if not instance.type.name.startswith("Direct"):
            return None
        if instance.table is not None:
            raise P4Error(
                item.position,
                f"'{item.value.name}' is attached to table '{instance.table.declaration.name}' "
                "already",
            )
        instance.table = table
        return instance

    # --- Constants --------------------------------------------------------------------------------

    def _evaluate(self, argument: syntax.Expression, block: BlockInstance | None) -> Any:
        """A constructor's argument: a constant, or an instance."""
        if argument.value is not None:
            return argument.value
        if isinstance(argument, syntax.ListExpression):
            return [self._evaluate(item, block) for item in argument.items]
        if isinstance(argument, syntax.Name) and argument.symbol is not None:
            return self.resolve(argument.symbol, block, argument.position)
        if isinstance(argument, syntax.Binary) and argument.type is not None:
            left, right = (self._evaluate(a, block) for a in (argument.left, argument.right))
            type_ = types.underlying(argument.type)
            return fold_binary(argument.operator, left, right, type_, argument.position)
        if isinstance(argument, syntax.Call) and argument.target.kind == "constructor":
            assert isinstance(argument.type, types.Generic)
            values = [
                None if a is None else self._evaluate(a, block) for a in argument.target.arguments
            ]
            return ExternInstance("", argument.type, argument.position, values, [], [], block)
        raise P4Error(
            argument.position, "an argument of a constructor must be a constant or an instance"
        )

    def resolve(
        self, symbol: Symbol | None, block: BlockInstance | None, position: Position | None = None
    ) -> Any:
        assert symbol is not None
        for environment in block.environments() if block else [self._globals]:
            if symbol in environment:
                return environment[symbol]
        raise P4Error(
            position or symbol.position, f"'{symbol.name}' is not known when instances are made"
        )


def elaborate(program: syntax.Program, scope: Scope) -> Pipes:
    """Raises P4Error."""
    main = scope.local("main")
    if not isinstance(main, InstanceSymbol):
        raise P4Error(
            program.position, "the program has no `main`; expected `Switch(pipe) main;` at its end"
        )
    assert isinstance(main.type, types.Generic)
    if main.type.name != "Switch":
        raise unsupported(
            main.position, f"the package {main.type.name} as main", "Switch of <tna.p4>"
        )
    of_name: dict[str, Pipeline] = {}
    declared: dict[str, Symbol | None] = {}
    specialized: Counter[str] = Counter()
    names = []
    for argument in main.arguments:
        if argument is None:
            continue
        name, blocks = _pipeline(argument, len(names))
        names.append(name)
        # None is an instance of its own each time.
        symbol = argument.symbol if isinstance(argument, syntax.Name) else None
        if name in declared and (symbol is None or declared[name] is not symbol):
            raise P4Error(
                argument.position, f"another pipeline is '{name}' to the control plane already"
            )
        declared[name] = symbol
        if name not in of_name:
            of_name[name] = Elaborator(program, specialized).elaborate(name, blocks, main.position)
    order = list(of_name)
    return Pipes(list(of_name.values()), [order.index(name) for name in names])


def _pipeline(argument: syntax.Expression, number: int) -> tuple[str, list[syntax.Expression]]:
    """Name and blocks of one argument of the switch."""
    if isinstance(argument, syntax.Call):
        return f"pipe{number or ''}", argument.target.arguments
    assert isinstance(argument, syntax.Name) and isinstance(argument.symbol, InstanceSymbol)
    declaration = argument.symbol.declaration
    name = given_name(declaration.name, declaration.annotations)
    return name, [a for a in argument.symbol.arguments if a is not None]

"""Statements, and what is declared of them, as P4: callables and tables."""

from __future__ import annotations

from . import tree
from .print_expressions import ExpressionPrinter


class StatementPrinter(ExpressionPrinter):
    _bound: dict[str, list[str]]  # arguments that the table's list of actions gives, by action

    # --- Statements ---------------------------------------------------------------------------

    def body(self, statements: list[tree.Statement], indent: str) -> str:
        return "".join(f"{indent}{self.statement(each, indent)}\n" for each in statements)

    def braces(self, statements: list[tree.Statement], indent: str) -> str:
        return "{\n" + self.body(statements, indent + "    ") + indent + "}"

    def statement(self, s: tree.Statement, indent: str) -> str:  # noqa: PLR0912
        match s:
            case tree.Assign():
                return f"{self.target(s.target)} {s.operator}= {self.text(s.value)};"
            case tree.Declare():
                return f"{self.type_(s.value.type)} {s.name} = {self.text(s.value)};"
            case tree.DeclareTuple():
                types = ", ".join(self.type_(value.type) for value in s.values)
                return f"tuple<{types}> {s.name} = {{{self.list_(s.values)}}};"
            case tree.If():
                return self._if(s, indent)
            case tree.Switch():
                return self._switch(self.text(s.subject), s.subject.type, s.cases, indent)
            case tree.SwitchAction():
                return self._switch(f"{s.table.name}.apply().action_run", None, s.cases, indent)
            case tree.Apply():
                return f"{s.table.name}.apply();"
            case tree.Call():
                return self._call(s)
            case tree.SetValid():
                return f"{s.header}.set{'Valid' if s.valid else 'Invalid'}();"
            case tree.CopyHeader():
                return f"{s.header} = {s.source};"
            case tree.FillHeader():
                return f"{s.header} = {{{self._fields(s)}}};"
            case tree.MoveStack():
                return f"{s.stack.name}.{s.method}({s.count});"
            case tree.Count():
                return f"{s.counter.name}.count({self.text(s.index)});"
            case tree.CountDirect():
                return f"{s.counter.name}.count();"
            case tree.Exit():
                return "exit;"
            case tree.Return():
                return "return;" if s.value is None else f"return {self.text(s.value)};"
            case tree.Extract():
                return f"pkt.extract({s.stack.name + '.next' if s.stack else s.header});"
            case tree.ExtractOptions():
                bits = f"((bit<32>) ({self.text(s.count)})) << 3"
                return f"pkt.extract({s.header}, {bits});"
            case tree.Require():
                return f"verify({self.text(s.condition)}, error.{s.error});"
            case tree.AddToChecksum():
                method = "subtract" if s.subtracts else "add"
                whole = isinstance(s.data[0].type, tree.HeaderType)
                data = s.data[0].name if whole else f"{{{self.list_(list(s.data))}}}"
                return f"{s.checksum}.{method}({data});"
            case tree.Residue():
                if s.by_get:
                    return f"{s.target.name} = {s.checksum}.get();"
                return f"{s.checksum}.subtract_all_and_deposit({s.target.name});"
            case tree.Advance():
                return f"pkt.advance({s.bits});"
            case tree.Subparser():
                return f"{s.instance}.apply(pkt, hdr, md);"
        raise TypeError(f"the printer does not know {type(s).__name__}")

    def target(self, target: tree.Expression) -> str:
        if isinstance(target, tree.Slice):
            return f"{self.target(target.operand)}[{target.high}:{target.low}]"
        assert isinstance(target, tree.Place)
        return target.name

    def _if(self, s: tree.If, indent: str) -> str:
        then = s.then
        bare = len(then) == 1 and isinstance(then[0], (tree.Assign, tree.Exit)) and self.chance(0.3)
        text = f"if ({self.text(s.condition)}) "
        text += self.statement(then[0], indent) if bare else self.braces(then, indent)
        if s.otherwise:
            chained = len(s.otherwise) == 1 and isinstance(s.otherwise[0], tree.If)
            text += " else "
            text += (
                self.statement(s.otherwise[0], indent)
                if chained and self.chance(0.8)
                else self.braces(s.otherwise, indent)
            )
        return text

    def _switch(
        self, subject: str, type_: tree.Type | None, cases: list[tree.Case], indent: str
    ) -> str:
        def label(value: int | str) -> str:
            if isinstance(value, str):
                return value
            if isinstance(type_, tree.Enum):
                return self.member(type_, value)[0]
            assert isinstance(type_, tree.Bits)
            return self.number(type_, value, bare=self.chance(0.5))[0]

        text = f"switch ({subject}) {{\n"
        for case in cases:
            labels = [label(value) for value in case.labels] or ["default"]
            text += "".join(f"{indent}    {each}:\n" for each in labels[:-1])
            text += f"{indent}    {labels[-1]}: {self.braces(case.body, indent + '    ')}\n"
        return text + indent + "}"

    def _call(self, s: tree.Call) -> str:
        given = self.arguments(s.callee, s.arguments)
        if s.callee.kind != "control":
            return f"{s.callee.name}({given});"
        first = "hdr = hdr, md = md" if given.startswith(f"{_first(s.callee)} = ") else "hdr, md"
        return f"{s.callee.instance}.apply({', '.join(filter(None, [first, given]))});"

    def _fields(self, s: tree.FillHeader) -> str:
        values = [self.text(value) for value in s.values]
        if s.by_name:
            pairs = zip(s.fields, values, strict=True)
            return ", ".join(f"{field.name} = {value}" for field, value in pairs)
        return ", ".join(values)

    # --- Declarations -------------------------------------------------------------------------

    def parameters(self, callee: tree.Callable) -> str:
        return ", ".join(
            f"{parameter.direction} {self.type_(parameter.type)} {parameter.name}".strip()
            for parameter in callee.parameters
        )

    def callable(self, callee: tree.Callable, indent: str) -> str:
        head = "action" if callee.kind == "action" else "void"
        if callee.returns is not None:
            head = self.type_(callee.returns)
        body = self.braces(callee.body, indent)
        return f"{indent}{head} {callee.name}({self.parameters(callee)}) {body}\n"

    def _nested(self, callee: tree.Callable, prefix: str) -> str:
        more = ", ".join(
            filter(None, [f"inout {prefix}_headers_t hdr, inout {prefix}_metadata_t md",
                          self.parameters(callee)])
        )  # fmt: skip
        return (
            f"control {callee.name}({more}) {{\n{self._locals(callee)}"
            f"    apply {self.braces(callee.body, '    ')}\n}}\n"
        )

    def _locals(self, callee: tree.Callable) -> str:
        counters = "".join(
            f"    DirectCounter<bit<32>>(CounterType_t.PACKETS_AND_BYTES) {each.counter.name};\n"
            for each in callee.locals
            if isinstance(each, tree.Table) and each.counter is not None
        )
        tables = [each for each in callee.locals if isinstance(each, tree.Table)]
        meters = "".join(self.meter(each.meter) for each in tables if each.meter is not None)
        profiles = "".join(
            f"    ActionProfile(64) {each.profile};\n" + self._selector(each)
            for each in tables
            if each.profile
        )
        registers = "".join(
            self._direct_register(each.register_action)
            for each in tables
            if each.register_action is not None
        )
        return (
            counters
            + meters
            + profiles
            + registers
            + "".join(self._local(each) for each in callee.locals)
        )

    def meter(self, meter: tree.Meter | tree.DirectMeter) -> str:
        given = [f"MeterType_t.{meter.unit}"]
        if isinstance(meter, tree.Meter):
            given.insert(0, str(1 << meter.index_width))
        given += [f"8w{self.digits(value)}" for value in meter.colors or ()]
        kind = (
            f"Meter<bit<{meter.index_width}>>" if isinstance(meter, tree.Meter) else "DirectMeter"
        )
        return f"    {kind}({', '.join(given)}) {meter.name};\n"

    def _direct_register(self, action: tree.RegisterAction) -> str:
        register = action.register
        type_ = self.type_(register.type)
        initial = self.constant(register.type, register.initial)
        text = f"    DirectRegister<{type_}>({initial}) {register.name};\n"
        head = f"    DirectRegisterAction<{type_}, {type_}>({register.name}) {action.name} = "
        return text + head + self.register_body(action, type_)

    def register_body(self, action: tree.RegisterAction, type_: str) -> str:
        parameters = f"inout {type_} {action.value}, out {type_} {action.result}"
        body = self.braces(action.body, "        ")
        return f"{{\n        void apply({parameters}) {body}\n    }};\n"

    def filter_(self, filter_: tree.Filter) -> str:
        given = [1 << filter_.index_width, *(filter_.values or ())]
        kind = "Lpf" if filter_.values is None else "Wred"
        types = f"{self.type_(filter_.type)}, bit<{filter_.index_width}>"
        return f"    {kind}<{types}>({', '.join(map(str, given))}) {filter_.name};\n"

    def hash_(self, hash_: tree.Hash) -> str:
        algorithm = f"HashAlgorithm_t.{hash_.algorithm}"
        return f"    Hash<bit<{hash_.width}>>({algorithm}) {hash_.name};\n"

    def _selector(self, table: tree.Table) -> str:
        selector = table.selector
        if selector is None:
            return ""
        given = f"{table.profile}, {selector.hash.name}, SelectorMode_t.{selector.mode}, 16, 4"
        return self.hash_(selector.hash) + f"    ActionSelector({given}) {selector.name};\n"

    def _local(self, local: tree.Declare | tree.Callable | tree.Table) -> str:
        if isinstance(local, tree.Table):
            return self._table(local)
        if isinstance(local, tree.Declare):
            return f"    {self.statement(local, '    ')}\n"
        return self.callable(local, "    ")

    def _table(self, table: tree.Table) -> str:
        parts = []
        if table.keys:
            keys = "".join(
                f'            {self.text(key.expression)}: {key.kind} @name("{key.name}");\n'
                for key in table.keys
            )
            if table.selector is not None:
                subjects = [self.text(each) for each in table.selector.subjects]
                keys += "".join(f"            {each}: selector;\n" for each in subjects)
            parts.append(f"        key = {{\n{keys}        }}\n")
        # Repeated for the default action and in entries, as p4c wants them.
        self._bound = {
            each.action.name: [self.text(argument) for argument in each.directed]
            for each in table.actions
        }
        actions = "".join(
            f"            {name}{'(' + ', '.join(bound) + ')' if bound else ''};\n"
            for name, bound in self._bound.items()
        )
        parts.append(f"        actions = {{\n{actions}        }}\n")
        default = self._entry_action(table, table.default, table.default_data)
        parts.append(f"        default_action = {default};\n")
        if table.keys:
            parts.append("        size = 64;\n")
        if table.counter is not None:
            parts.append(f"        counters = {table.counter.name};\n")
        if table.meter is not None:
            parts.append(f"        meters = {table.meter.name};\n")
        if table.register_action is not None:
            parts.append(f"        registers = {table.register_action.register.name};\n")
        if table.profile:
            by = table.selector.name if table.selector is not None else table.profile
            parts.append(f"        implementation = {by};\n")
        if table.entries and table.is_constant:
            entries = "".join(f"            {self._entry(table, each)}\n" for each in table.entries)
            parts.append(f"        const entries = {{\n{entries}        }}\n")
        return f"    table {table.name} {{\n{''.join(parts)}    }}\n"

    def _entry_action(self, table: tree.Table, name: str, data: list[int]) -> str:
        parameters = table.reference(name).action.data()
        given = [self.constant(p.type, value) for p, value in zip(parameters, data, strict=True)]
        return f"{name}({', '.join([*self._bound[name], *given])})"

    def constant(self, type_: tree.Type, value: int) -> str:
        return self.text(tree.Literal(type_, value, bare=self.chance(0.5)))

    def _entry(self, table: tree.Table, entry: tree.Entry) -> str:
        pairs = zip(table.keys, entry.matches, strict=True)
        keys = [self._match(key, match) for key, match in pairs]
        text = keys[0] if len(keys) == 1 and self.chance(0.5) else f"({', '.join(keys)})"
        return f"{text}: {self._entry_action(table, entry.action, entry.data)};"

    def _match(self, key: tree.Key, match: tree.Match) -> str:
        type_ = key.expression.type
        first = self.constant(type_, match.first)
        if key.kind == "exact":
            return first
        assert isinstance(type_, tree.Bits)
        full = (1 << type_.width) - 1
        if key.kind == "range":
            return f"{first} .. {self.text(tree.Literal(type_, match.second))}"
        mask = match.second
        if key.kind == "lpm":
            mask = full ^ (full >> match.second)
        if mask == 0 and self.chance(0.5):
            return "_"
        if mask == full and self.chance(0.5):
            return first
        return f"{first} &&& {self.text(tree.Literal(type_, mask))}"


def _first(callee: tree.Callable) -> str:
    """The name of its first parameter."""
    return callee.parameters[0].name if callee.parameters else ""

"""A program's tree as the text of a P4_16 program for TNA."""

from __future__ import annotations

from collections.abc import Iterator

from . import tree
from .print_expressions import ExpressionPrinter


def source_of(program: tree.Program) -> str:
    return Printer(program.layout).program(program)


def full_name(block: tree.Block) -> str:
    return "Ingress" if block.gress == "ig" else "Egress"


class Printer(ExpressionPrinter):
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
            case tree.Advance():
                return f"pkt.advance({s.bits});"
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
            if type_ is None:
                return str(value)
            assert isinstance(type_, tree.Bits) and isinstance(value, int)
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
        return f"{s.callee.instance}.apply({', '.join(filter(None, ['hdr, md', given]))});"

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

    def _nested(self, callee: tree.Callable, gress: str) -> str:
        more = ", ".join(
            filter(None, [f"inout {gress}_headers_t hdr, inout {gress}_metadata_t md",
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
        return counters + "".join(self._local(each) for each in callee.locals)

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
            parts.append(f"        key = {{\n{keys}        }}\n")
        actions = "".join(
            f"            {each.action.name}"
            + (f"({self.list_(each.directed)})" if each.directed else "")
            + ";\n"
            for each in table.actions
        )
        parts.append(f"        actions = {{\n{actions}        }}\n")
        default = self._entry_action(table, table.default, table.default_data)
        parts.append(f"        default_action = {default};\n")
        if table.keys:
            parts.append("        size = 64;\n")
        if table.counter is not None:
            parts.append(f"        counters = {table.counter.name};\n")
        if table.entries and table.is_constant:
            entries = "".join(f"            {self._entry(table, each)}\n" for each in table.entries)
            parts.append(f"        const entries = {{\n{entries}        }}\n")
        return f"    table {table.name} {{\n{''.join(parts)}    }}\n"

    def _entry_action(self, table: tree.Table, name: str, data: list[int]) -> str:
        parameters = table.reference(name).action.data()
        pairs = zip(parameters, data, strict=True)
        return f"{name}({', '.join(self.constant(p.type, value) for p, value in pairs)})"

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
            return f"{first} .. {self.constant(type_, match.second)}"
        mask = match.second
        if key.kind == "lpm":
            mask = full ^ (full >> match.second)
        if mask == 0 and self.chance(0.5):
            return "_"
        return first if mask == full and self.chance(0.5) else f"{first} &&& {self.digits(mask)}"

    # --- Blocks -------------------------------------------------------------------------------

    def _parser_state(self, block: tree.Block, state: tree.State) -> str:
        lines = ""
        if state.name == "start":
            lines += f"        pkt.extract({block.gress}_intr_md);\n"
            lines += "        pkt.advance(PORT_METADATA_SIZE);\n" * (block.gress == "ig")
        lines += self.body(state.body, "        ")
        if not state.subjects:
            lines += f"        transition {state.cases[0].state};\n"
        else:
            lines += f"        transition select({self.list_(state.subjects)}) {{\n"
            for case in state.cases:
                lines += f"            {self._keyset(state, case)}: {case.state};\n"
            lines += "        }\n"
        return f"    state {state.name} {{\n{lines}    }}\n"

    def _keyset(self, state: tree.State, case: tree.SelectCase) -> str:
        if not case.keys:
            return "default"
        pairs = zip(state.subjects, case.keys, strict=True)
        texts = [self._key(subject.type, *key) for subject, key in pairs]
        return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"

    def _key(self, type_: tree.Type, kind: str, first: int, second: int) -> str:
        if kind == "any":
            return "_"
        text = self.constant(type_, first)
        if kind == "mask":
            return f"{text} &&& {self.digits(second)}"
        return f"{text} .. {self.constant(type_, second)}" if kind == "range" else text

    def block(self, block: tree.Block) -> str:
        g, name = block.gress, full_name(block)
        types = f"{g}_headers_t hdr", f"{g}_metadata_t md"
        long = name.lower()
        states = "".join(self._parser_state(block, state) for state in block.states)
        control = block.control
        if g == "ig":
            intrinsic = [
                "in ingress_intrinsic_metadata_t ig_intr_md",
                "in ingress_intrinsic_metadata_from_parser_t ig_prsr_md",
                "inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md",
                "inout ingress_intrinsic_metadata_for_tm_t ig_tm_md",
            ]
        else:
            intrinsic = [
                "in egress_intrinsic_metadata_t eg_intr_md",
                "in egress_intrinsic_metadata_from_parser_t eg_prsr_md",
                "inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md",
                "inout egress_intrinsic_metadata_for_output_port_t eg_oport_md",
            ]
        nested = "".join(self._nested(each, g) for each in block.nested)
        return (
            self._structs(block)
            + nested
            + f"parser {name}Parser(packet_in pkt, out {types[0]}, out {types[1]},\n"
            f"        out {long}_intrinsic_metadata_t {g}_intr_md) {{\n{states}}}\n"
            f"control {name}(inout {types[0]}, inout {types[1]},\n        "
            + ",\n        ".join(intrinsic)
            + f") {{\n{self._externs(block)}{self._locals(control)}"
            f"    apply {self.braces(control.body, '    ')}\n}}\n"
            f"control {name}Deparser(packet_out pkt, inout {types[0]}, in {types[1]},\n"
            f"        in {long}_intrinsic_metadata_for_deparser_t {g}_dprsr_md) {{\n"
            f"{self._deparser(block)}}}\n"
        )

    def _structs(self, block: tree.Block) -> str:
        def struct(name: str, lines: Iterator[str]) -> str:
            return f"struct {block.gress}_{name}_t {{\n{''.join(lines)}}}\n"

        places = [
            *((place, header.name) for place, header in block.headers),
            *((stack.name, f"{stack.type.name}[{stack.size}]") for stack in block.stacks),
        ]
        return struct(
            "headers", (f"    {type_} {place.removeprefix('hdr.')};\n" for place, type_ in places)
        ) + struct(
            "metadata",
            (f"    {self.type_(v.type)} {v.name.removeprefix('md.')};\n" for v in block.metadata),
        )

    def _externs(self, block: tree.Block) -> str:
        text = "".join(
            f"    Hash<bit<{each.width}>>(HashAlgorithm_t.{each.algorithm}) {each.name};\n"
            for each in block.hashes
        )
        for counter in block.counters:
            size = 1 << counter.index_width
            text += f"    Counter<bit<32>, bit<{counter.index_width}>>({size}, "
            text += f"CounterType_t.PACKETS_AND_BYTES) {counter.name};\n"
        for register in block.registers:
            type_ = self.type_(register.type)
            index = f"bit<{register.index_width}>"
            initial = self.constant(register.type, register.initial)
            text += f"    Register<{type_}, {index}>({1 << register.index_width}, {initial}) "
            text += f"{register.name};\n"
        for action in block.register_actions:
            type_ = self.type_(action.register.type)
            index = f"bit<{action.register.index_width}>"
            text += f"    RegisterAction<{type_}, {index}, {type_}>({action.register.name}) "
            text += f"{action.name} = {{\n        void apply(inout {type_} {action.value}, "
            text += (
                f"out {type_} {action.result}) {self.braces(action.body, '        ')}\n    }};\n"
            )
        return text + "".join(f"    {each.name}() {each.instance};\n" for each in block.nested)

    def _deparser(self, block: tree.Block) -> str:
        text = "".join(f"    Checksum() {each.name};\n" for each in block.checksums)
        lines = ""
        if block.mirror is not None:
            mirror = block.mirror
            text += f"    Mirror() {mirror.name};\n"
            emit = f"{mirror.name}.emit<{mirror.header.name}>"
            lines += f"        if (ig_dprsr_md.mirror_type == {mirror.type_number}) {{\n"
            lines += f"            {emit}({mirror.session}, {{{self.list_(mirror.values)}}});\n"
            lines += "        }\n"
        if block.resubmit is not None:
            text += f"    Resubmit() {block.resubmit.name};\n"
            lines += f"        if (ig_dprsr_md.resubmit_type == {block.resubmit.type_number}) {{\n"
            lines += f"            {block.resubmit.name}.emit();\n        }}\n"
        lines += "".join(
            f"        {each.target} = {each.name}.update({{{self.list_(each.data)}}}"
            f"{', true' if each.zeros_as_ones else ''});\n"
            for each in block.checksums
        )
        emitted = block.emitted or ["hdr"]
        lines += "".join(f"        pkt.emit({each});\n" for each in emitted)
        return f"{text}    apply {{\n{lines}    }}\n"

    # --- The program --------------------------------------------------------------------------

    def program(self, program: tree.Program) -> str:
        text = "#include <core.p4>\n#include <tna.p4>\n"
        for width in self.random.sample([1, 8, 9, 16, 32, 48], 3):
            type_ = tree.Bits(width, self.chance(0.3))
            alias = f"alias{width}_t"
            text += f"typedef {self.type_(type_)} {alias};\n"
            self.aliases[type_] = alias
        for constant in program.constants:
            text += f"const {self.type_(constant.type)} {constant.name} = {constant.text};\n"
        for header in program.header_types:
            fields = "".join(f"    {self.type_(f.type)} {f.name};\n" for f in header.fields)
            text += f"header {header.name} {{\n{fields}}}\n"
        text += "".join(self.callable(each, "") for each in program.functions)
        text += self.block(program.ingress)
        text += self.block(program.egress) if program.egress else NO_EGRESS
        stages = ("Parser", "", "Deparser")
        blocks = ", ".join(f"{name}{stage}()" for name in ("Ingress", "Egress") for stage in stages)
        return text + f"Pipeline({blocks}) pipe;\nSwitch(pipe) main;\n"


NO_EGRESS = """\
struct no_headers_t {
}
struct no_metadata_t {
}
parser EgressParser(packet_in pkt, out no_headers_t hdr, out no_metadata_t md,
        out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}
control Egress(inout no_headers_t hdr, inout no_metadata_t md,
        in egress_intrinsic_metadata_t eg_intr_md,
        in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
        inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {
    }
}
control EgressDeparser(packet_out pkt, inout no_headers_t hdr, in no_metadata_t md) {
    apply {
    }
}
"""

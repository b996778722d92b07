"""A program's tree as the text of a P4_16 program for TNA."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from . import tree
from .print_statements import StatementPrinter


def source_of(program: tree.Program) -> str:
    return Printer(program.layout).program(program)


def full_name(block: tree.Block) -> str:
    return ("Ingress" if block.gress == "ig" else "Egress") + block.suffix


def _prefix(block: tree.Block) -> str:
    """Of the types of its headers and metadata."""
    return block.gress + block.suffix


class Printer(StatementPrinter):
    # --- Blocks -------------------------------------------------------------------------------

    def _parser_state(self, state: tree.State, block: tree.Block | None = None) -> str:
        """block: whose parser the state is of; none for a subparser's."""
        before = lines = ""
        name = state.name
        if name == "start" and block is not None:
            intrinsic = f"        pkt.extract({block.gress}_intr_md);\n"
            of_port = self._of_port(block) if block.gress == "ig" else ""
            if block.resubmit is not None and block.resubmit.header is not None:
                before = _RESUBMITTED.format(intrinsic, block.resubmit.place, of_port)
                name = _BODY
            else:
                lines += intrinsic + of_port
        lines += self.body(state.body, "        ")
        if not state.subjects:
            lines += f"        transition {state.cases[0].state};\n"
        else:
            lines += f"        transition select({self.list_(state.subjects)}) {{\n"
            for case in state.cases:
                lines += f"            {self._keyset(state, case)}: {case.state};\n"
            lines += "        }\n"
        return f"{before}    state {name} {{\n{lines}    }}\n"

    def _of_port(self, block: tree.Block) -> str:
        metadata = block.port_metadata
        if metadata is None:
            return "        pkt.advance(PORT_METADATA_SIZE);\n"
        return f"        {metadata.place} = port_metadata_unpack<{metadata.struct}>(pkt);\n"

    def _subparser(self, parser: tree.Subparser, prefix: str) -> str:
        states = "".join(self._parser_state(state) for state in parser.states)
        return (
            f"parser {parser.name}(packet_in pkt, inout {prefix}_headers_t hdr,\n"
            f"        inout {prefix}_metadata_t md) {{\n{states}}}\n"
        )

    def _keyset(self, state: tree.State, case: tree.SelectCase) -> str:
        if case.value_set is not None:
            return case.value_set.name
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
        g, name, prefix = block.gress, full_name(block), _prefix(block)
        types = f"{prefix}_headers_t hdr", f"{prefix}_metadata_t md"
        long = "ingress" if g == "ig" else "egress"
        statements = [each for state in block.states for each in state.body]
        subparsers = [each for each in statements if isinstance(each, tree.Subparser)]
        states = f"    Checksum() {block.parser_checksum};\n" * bool(block.parser_checksum)
        states += "".join(self._parser_local(each) for each in (*block.value_sets, *subparsers))
        states += "".join(self._parser_state(state, block) for state in block.states)
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
        nested = "".join(self._nested(each, prefix) for each in block.nested)
        return (
            self._structs(block)
            + nested
            + "".join(self._subparser(each, prefix) for each in subparsers)
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

    def _parser_local(self, local: tree.ValueSet | tree.Subparser) -> str:
        if isinstance(local, tree.ValueSet):
            return f"    value_set<{self.type_(local.type)}>(16) {local.name};\n"
        return f"    {local.name}() {local.instance};\n"

    def _structs(self, block: tree.Block) -> str:
        places = [
            *((header.name, place) for place, header in block.headers),
            *((f"{stack.type.name}[{stack.size}]", stack.name) for stack in block.stacks),
        ]
        metadata = [(self.type_(each.type), each.name) for each in block.metadata]
        if block.resubmit is not None and block.resubmit.header is not None:
            metadata.append((block.resubmit.header.name, block.resubmit.place))
        text = _struct(f"{_prefix(block)}_headers_t", places)
        if block.port_metadata is not None:
            of_port = block.port_metadata
            fields = [(self.type_(each.type), each.name) for each in of_port.fields]
            text += _struct(of_port.struct, fields)
            metadata.append((of_port.struct, of_port.place))
        text += _struct(f"{_prefix(block)}_metadata_t", metadata)
        if block.digest is not None:
            fields = zip(block.digest.fields, block.digest.values, strict=True)
            message = [(self.type_(value.type), name) for name, value in fields]
            text += _struct(block.digest.struct, message)
        return text

    def _externs(self, block: tree.Block) -> str:
        text = "".join(self.hash_(each) for each in block.hashes)
        text += "".join(self.meter(each) for each in block.meters)
        text += "".join(self.filter_(each) for each in block.filters)
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
            text += f"{action.name} = {self.register_body(action, type_)}"
        return text + "".join(f"    {each.name}() {each.instance};\n" for each in block.nested)

    def _deparser(self, block: tree.Block) -> str:
        text = "".join(f"    Checksum() {each.name};\n" for each in block.checksums)
        lines = ""
        for request, made, call in self._requests(block):
            is_typed = self.chance(0.4)
            text += f"    {made}({request.type_number if is_typed else ''}) {request.name};\n"
            condition = f"{block.gress}_dprsr_md.{_TYPE_FIELDS[type(request)]}"
            if is_typed and self.chance(0.7):  # whose type is not asked once more
                lines += f"        {request.name}.{call};\n"
            else:
                lines += f"        if ({condition} == {request.type_number}) {{\n"
                lines += f"            {request.name}.{call};\n        }}\n"
        lines += "".join(
            f"        {each.target} = {each.name}.update({{{self.list_(each.data)}}}"
            f"{', true' if each.zeros_as_ones else ''});\n"
            for each in block.checksums
        )
        emitted = block.emitted or ["hdr"]
        lines += "".join(f"        pkt.emit({each});\n" for each in emitted)
        return f"{text}    apply {{\n{lines}    }}\n"

    def _requests(
        self, block: tree.Block
    ) -> Iterator[tuple[tree.Mirror | tree.Resubmit | tree.Digest, str, str]]:
        """Each with its type and the call in the deparser."""
        if block.mirror is not None:
            mirror = block.mirror
            call = f"emit<{mirror.header.name}>({mirror.session}, {{{self.list_(mirror.values)}}})"
            yield mirror, "Mirror", call
        if block.resubmit is not None:
            header, values = block.resubmit.header, self.list_(block.resubmit.values)
            call = "emit()" if header is None else f"emit<{header.name}>({{{values}}})"
            yield block.resubmit, "Resubmit", call
        if block.digest is not None:
            digest = block.digest
            yield digest, f"Digest<{digest.struct}>", f"pack({{{self.list_(digest.values)}}})"

    # --- The program --------------------------------------------------------------------------

    def program(self, program: tree.Program) -> str:
        text = "#include <core.p4>\n#include <tna.p4>\n"
        for width in self.random.sample([1, 8, 9, 16, 32, 48], 3):
            type_ = tree.Bits(width, self.chance(0.3))
            alias = f"alias{width}_t"
            text += f"typedef {self.type_(type_)} {alias};\n"
            self.aliases[type_] = alias
        text += "".join(self._declarations(each) for each in program.pipelines())
        text += "".join(self.block(each) for each in program.blocks())
        if any(each.egress is None for each in program.pipelines()):
            text += NO_EGRESS
        names = ["pipe", "pipe_1"][: len(program.pipelines())]
        for name, pipeline in zip(names, program.pipelines(), strict=True):
            text += f"Pipeline({_stages(pipeline)}) {name};\n"
        return text + f"Switch({', '.join(names)}) main;\n"

    def _declarations(self, program: tree.Program) -> str:
        text = ""
        for enum in program.enums:
            members = ", ".join(f"{name} = {self.digits(value)}" for name, value in enum.members)
            text += f"enum bit<{enum.width}> {enum.name} {{ {members} }}\n"
        for constant in program.constants:
            text += f"const {self.type_(constant.type)} {constant.name} = {constant.text};\n"
        for header in program.header_types:
            fields = "".join(f"    {self.type_(f.type)} {f.name};\n" for f in header.fields)
            if header.options:
                fields += f"    varbit<{tree.OPTIONS_BITS}> {header.options};\n"
            text += f"header {header.name} {{\n{fields}}}\n"
        return text + "".join(self.callable(each, "") for each in program.functions)


def _stages(program: tree.Program) -> str:
    egress = "NoEgress" if program.egress is None else full_name(program.egress)
    stages = ("Parser", "", "Deparser")
    names = (full_name(program.ingress), egress)
    return ", ".join(f"{name}{stage}()" for name in names for stage in stages)


def _struct(name: str, members: Iterable[tuple[str, str]]) -> str:
    """members: types and places."""
    lines = "".join(f"    {type_} {place.rpartition('.')[2]};\n" for type_, place in members)
    return f"struct {name} {{\n{lines}}}\n"


_TYPE_FIELDS = {
    tree.Mirror: "mirror_type", tree.Resubmit: "resubmit_type", tree.Digest: "digest_type",
}  # fmt: skip
_BODY = "body_of_start"
_RESUBMITTED = """\
    state start {{
{}        transition select(ig_intr_md.resubmit_flag) {{ 1: second_pass; default: first_pass; }}
    }}
    state second_pass {{
        pkt.extract({});
        transition body_of_start;
    }}
    state first_pass {{
{}        transition body_of_start;
    }}
"""
NO_EGRESS = """\
struct no_headers_t {
}
struct no_metadata_t {
}
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
    apply {
    }
}
control NoEgressDeparser(packet_out pkt, inout no_headers_t hdr, in no_metadata_t md) {
    apply {
    }
}
"""

"""The two halves of the pipeline: how a packet passes parser, control and deparser, and its
intrinsic metadata.
"""

from __future__ import annotations

from dataclasses import dataclass

from p4soft.check import types
from p4soft.elaborate import Alias, BlockInstance, Pipes
from p4soft.emit import port_metadata
from p4soft.emit.cpp_types import cpp_type
from p4soft.emit.externs.deparsers import selectors, types_with_zero, uses
from p4soft.emit.naming import identifier
from p4soft.emit.state import Emission
from p4soft.emit.text import Lines
from p4soft.frontend import syntax
from p4soft.tree import walk


@dataclass(frozen=True)
class Half:
    """Ingress or egress."""

    name: str  # of the C++ function
    parser: str  # keys of Pipeline.blocks
    control: str
    deparser: str
    prefix: str
    port: str  # member of C++ Packet: the port of the pipe that the packet is in
    now: str  # C++ expression of the time, ns
    after: tuple[str, ...]  # C++ lines that copy intrinsic metadata to the packet
    metadata: dict[str, str]  # type's name -> C++ variable


INGRESS = Half(
    "ingress",
    "ingress_parser",
    "ingress",
    "ingress_deparser",
    "write_ingress_prefix",
    "ingress_port",
    "packet.ingress_mac_tstamp_ns",
    (
        "packet.has_ucast_egress_port = for_tm_.ucast_egress_port != kNoEgressPort;",
        "packet.ucast_egress_port = for_tm_.ucast_egress_port;",
        "packet.drop_ctl = for_deparser_.drop_ctl;",
        "packet.bypass_egress = for_tm_.bypass_egress != 0;",
        "packet.qid = for_tm_.qid;",
        "packet.mcast_grp_a = for_tm_.mcast_grp_a;",
        "packet.mcast_grp_b = for_tm_.mcast_grp_b;",
        "packet.rid = for_tm_.rid;",
        "packet.level1_exclusion_id = for_tm_.level1_exclusion_id;",
        "packet.level2_exclusion_id = for_tm_.level2_exclusion_id;",
        "packet.copy_to_cpu = for_tm_.copy_to_cpu != 0;",
    ),
    {
        "ingress_intrinsic_metadata_t": "intrinsic_",
        "ingress_intrinsic_metadata_from_parser_t": "from_parser_",
        "ingress_intrinsic_metadata_for_deparser_t": "for_deparser_",
        "ingress_intrinsic_metadata_for_tm_t": "for_tm_",
    },
)
EGRESS = Half(
    "egress",
    "egress_parser",
    "egress",
    "egress_deparser",
    "write_egress_prefix",
    "egress_port",
    "packet.enq_tstamp_ns + packet.deq_timedelta_ns",
    ("packet.drop_ctl = for_deparser_.drop_ctl;",),
    {
        "egress_intrinsic_metadata_t": "intrinsic_",
        "egress_intrinsic_metadata_from_parser_t": "from_parser_",
        "egress_intrinsic_metadata_for_deparser_t": "for_deparser_",
        "egress_intrinsic_metadata_for_output_port_t": "for_output_port_",
    },
)


def emit_choice(half: Half, pipes: Pipes, output: Lines) -> None:
    """The half of a switch of several pipes: a port belongs to one of them."""
    with output.braces(f"void {half.name}(Packet& packet) override"):
        pipe = f"packet.{half.port} / kPortsPerPipe % {len(pipes.of_pipe)}"
        with output.braces(f"switch ({pipe})"):
            for number, pipeline in enumerate(pipes.of_pipe):
                output.add(f"case {number}: return {half.name}_{pipeline}(packet);")


def emit_half(emission: Emission, half: Half, pipes: Pipes, output: Lines) -> None:
    parser, control, deparser = (
        emission.pipeline.blocks[name] for name in (half.parser, half.control, half.deparser)
    )
    reads_error = _reads_parser_error(control)
    of_port = emission.pipeline.port_metadata if half is INGRESS else None
    with output.braces(_signature(half, pipes, emission.number)):
        output.add("packet_bytes_ = packet.length + kFrameCheckBytes;", f"now_ns_ = {half.now};")
        if _asks(deparser):
            output.add("packet_ = &packet;", "mirror_requested_ = false;")
        output.add(*(f"{name}_assigned_ = false;" for name in types_with_zero(deparser)))
        output.add("packet.mirrored = false;")
        if half is INGRESS:
            output.add("packet.resubmit = false;")
        if emission.uses_exit:
            output.add("exited_ = false;")
        output.add(f"PacketReader reader_({half.prefix}(packet), packet.data + packet.length);")
        if of_port is not None:
            port_metadata.arrive(of_port, output)
        for name, position in (("headers_", 1), ("metadata_", 2)):
            output.add(
                f"{cpp_type(parser.declaration.parameters[position].symbol.type)} {name}{{}};"
            )
        for type_name, variable in half.metadata.items():
            output.add(f"[[maybe_unused]] p4::{type_name} {variable}{{}};")
        if half is INGRESS:
            output.add("for_tm_.ucast_egress_port = kNoEgressPort;")
        _bind_aliases(emission, half, output)
        returned = f"parse_{parser.identifier}({_arguments(parser, half)})"
        output.add(f"const std::uint16_t parsed_ = {returned};")
        # The residues of checksums are deposited when the parser has ended.
        output.add(*(f"{emission.alias(alias)}.follow();" for alias in _aliases(emission, half)))
        output.trace(f'trace_.parsed("{parser.path}", parsed_);')
        output.add("packet.parser_error = parser_error_of(parsed_);")
        if half is INGRESS:
            # A control that reads parser_err decides itself, but never sees what matched no case.
            fatal = "kParserNoMatch" if reads_error else "0xFFFF"
            with output.braces(f"if ((packet.parser_error & {fatal}) != 0)"):
                output.add(
                    "packet.drop_ctl = kDropAll;",
                    "packet.has_ucast_egress_port = false;",
                    "return;",
                )
        output.add(
            "from_parser_.parser_err = packet.parser_error;",
            "from_parser_.global_tstamp = to_bit<48>(now_ns_);",
        )
        output.add(f"apply_{control.identifier}({_arguments(control, half)});")
        if emission.uses_exit:
            output.add("exited_ = false;")
        output.add(
            *(
                f"if (!{name}_assigned_) for_deparser_.{name} = kNoType;"
                for name in types_with_zero(deparser)
            )
        )
        output.add(*(f"{name}_ = for_deparser_.{name};" for name in selectors(deparser)))
        output.add(f"{deparser.identifier}_writer writer_;")
        output.add(f"apply_{deparser.identifier}({_arguments(deparser, half)});")
        output.add(*half.after)
        if half is INGRESS and uses(deparser, "Mirror"):
            output.add("mirror_original(packet, reader_);")
        if uses(deparser, "Resubmit"):
            output.add(
                "packet.resubmit = packet.resubmit && (packet.drop_ctl & kDropFrame) == 0;",
                "if (packet.resubmit) return;  // the frame as it arrived",
            )
        output.add("if (!rebuild_frame(packet, reader_, writer_)) packet.drop_ctl = kDropAll;")
        if half is EGRESS and uses(deparser, "Mirror"):
            output.add("mirror_rebuilt(packet);")


def _bind_aliases(emission: Emission, half: Half, output: Lines) -> None:
    control = emission.pipeline.blocks[half.control]
    names = [parameter.name for parameter in control.declaration.parameters]
    variables = dict(zip(names, _arguments(control, half).split(", "), strict=True))
    for alias in _aliases(emission, half):
        whole, part = (
            ".".join([variables[f.parameter], *(identifier(step) for _, step in f.steps)])
            for f in (alias.whole, alias.part)
        )
        output.add(f"{emission.alias(alias)}.bind({whole}, {part});")
        widths = f"{alias.whole.width}, {alias.part.width}"
        emission.members.add(f"Alias<{widths}> {emission.alias(alias)};")


def _aliases(emission: Emission, half: Half) -> list[Alias]:
    return [alias for alias in emission.pipeline.aliases if alias.gress == half.control]


def _signature(half: Half, pipes: Pipes, number: int) -> str:
    """Of pipeline `number`: the switch calls it, or what chooses by the port (emit_choice)."""
    if len(pipes.of_pipe) == 1:
        return f"void {half.name}(Packet& packet) override"
    return f"void {half.name}_{number}(Packet& packet)"


def _asks(deparser: BlockInstance) -> bool:
    return uses(deparser, "Mirror", "Resubmit", "Digest")


def _arguments(block: BlockInstance, half: Half) -> str:
    """The variables for a top block's parameters: packet, headers and metadata by place, the others
    by type.
    """
    texts = []
    for place, parameter in enumerate(block.declaration.parameters):
        type_ = parameter.symbol.type
        if isinstance(type_, types.Generic):
            texts.append("reader_" if type_.name == "packet_in" else "writer_")
        elif isinstance(type_, types.Composite) and type_.name in half.metadata:
            texts.append(half.metadata[type_.name])
        else:
            texts.append("headers_" if _is_headers(block, place) else "metadata_")
    return ", ".join(texts)


def _is_headers(block: BlockInstance, place: int) -> bool:
    """Headers come first, or second after packet_in or packet_out."""
    first = block.declaration.parameters[0].symbol.type
    return place == (1 if isinstance(first, types.Generic) else 0)


def _reads_parser_error(control: BlockInstance) -> bool:
    return any(
        isinstance(node, syntax.Member) and node.name == "parser_err"
        for block in control.with_descendants()
        for node in walk(block.declaration)
    )

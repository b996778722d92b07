"""P4 programs around a few lines under test."""

from __future__ import annotations

PREAMBLE = """\
#include <core.p4>
#include <tna.p4>

header data_h {
    bit<8> kind;
    bit<8> a;
    bit<16> b;
    bit<32> c;
    bit<48> mac;
}

header extra_h {
    bit<16> x;
    bit<16> y;
}
"""

METADATA = """\
struct headers_t {
    data_h data;
    extra_h extra;
}

struct metadata_t {
    bit<8> m8;
    bit<16> m16;
    bit<32> m32;
    bool flag;
}
"""

PARSER = """\
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.data);
        transition accept;
    }
"""

EGRESS = """\
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

control NoEgress(inout no_headers_t hdr, inout no_metadata_t md, in egress_intrinsic_metadata_t
eg_intr_md, in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
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

BLOCKS = (
    "IngressParser",
    "Ingress",
    "IngressDeparser",
    "NoEgressParser",
    "NoEgress",
    "NoEgressDeparser",
)


def egress_of_data(apply: str, local: str = "", constructor: str = "") -> str:
    """An egress that takes the header `data` and sends it; local, apply: of its control."""
    return f"""
parser EgressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {{
    state start {{
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.data);
        transition accept;
    }}
}}
control Egress(inout headers_t hdr, inout metadata_t md, in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md){constructor} {{
{local}
    apply {{
{apply}
    }}
}}
control EgressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md) {{
    apply {{
        pkt.emit(hdr);
    }}
}}
"""


def program(
    apply: str = "",
    *,
    top: str = "",
    local: str = "",
    preamble: str = PREAMBLE,
    metadata: str = METADATA,
    parser: str = PARSER,
    parser_local: str = "",
    deparser: str = "pkt.emit(hdr);",
    deparser_local: str = "",
    egress: str = EGRESS,
    blocks: tuple[str, ...] = BLOCKS,
) -> str:
    """A whole program. Without a port of its own it sends every packet back to port 5, bypassing
    egress.
    """
    return f"""\
{preamble}{metadata}{top}
parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {{
{parser_local}
{parser}}}

control Ingress(inout headers_t hdr, inout metadata_t md, in ingress_intrinsic_metadata_t
ig_intr_md, in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {{
{local}
    apply {{
        ig_tm_md.ucast_egress_port = 5;
        ig_tm_md.bypass_egress = 1;
{apply}
    }}
}}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {{
{deparser_local}
    apply {{
        {deparser}
    }}
}}
{egress}
Pipeline({", ".join(f"{block}()" for block in blocks)}) pipe;
Switch(pipe) main;
"""

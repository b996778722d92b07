// Requests to a virtual address are spread over backends by the hash of their flow; answers get the virtual address back.
#include "frame.p4"

struct metadata_t {
    bit<8> group;
    bit<16> flow_hash;
    bool rewritten;
}

FRAME_PARSER(metadata_t)

control LoadBalancer(
        inout headers_t hdr,
        inout metadata_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Hash<bit<16>>(HashAlgorithm_t.CRC16) crc16;

    action balance(bit<8> group) {
        md.group = group;
    }

    table virtual_service {
        key = {
            hdr.ipv4.dst_addr: exact;
            hdr.udp.dst_port: exact;
        }
        actions = {
            balance;
            NoAction;
        }
        const default_action = NoAction();
        size = 64;
    }

    action hash_flow() {
        md.flow_hash = crc16.get({hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.udp.src_port, hdr.udp.dst_port});
    }

    table flow_hash {
        actions = {
            hash_flow;
        }
        const default_action = hash_flow();
        size = 1;
    }

    action to_backend(bit<32> address) {
        hdr.ipv4.dst_addr = address;
        md.rewritten = true;
    }

    // A group's backends share the 65,536 hashes; weights are the lengths of their ranges.
    table backend {
        key = {
            md.group: exact;
            md.flow_hash: range;
        }
        actions = {
            to_backend;
            NoAction;
        }
        const default_action = NoAction();
        size = 1024;
    }

    action from_service(bit<32> address) {
        hdr.ipv4.src_addr = address;
        md.rewritten = true;
    }

    table answer {
        key = {
            hdr.ipv4.src_addr: exact;
            hdr.udp.src_port: exact;
        }
        actions = {
            from_service;
            NoAction;
        }
        const default_action = NoAction();
        size = 1024;
    }

    action forward(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
    }

    action drop() {
        ig_dprsr_md.drop_ctl = 1;
    }

    table route {
        key = {
            hdr.ipv4.dst_addr: lpm;
        }
        actions = {
            forward;
            drop;
        }
        const default_action = drop();
        size = 512;
    }

    apply {
        ig_tm_md.bypass_egress = 1;
        if (hdr.udp.isValid()) {
            if (virtual_service.apply().hit) {
                flow_hash.apply();
                backend.apply();
            } else {
                answer.apply();
            }
        }
        if (hdr.ipv4.isValid()) {
            route.apply();
        } else {
            drop();
        }
        if (md.rewritten && hdr.udp.isValid()) {
            hdr.udp.checksum = 0;
        }
    }
}

control LoadBalancerDeparser(
        packet_out pkt,
        inout headers_t hdr,
        in metadata_t md,
        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Checksum() ipv4_checksum;

    apply {
        if (md.rewritten) {
            hdr.ipv4.hdr_checksum = ipv4_checksum.update({
                hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.diffserv, hdr.ipv4.total_len, hdr.ipv4.identification,
                hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src_addr,
                hdr.ipv4.dst_addr});
        }
        pkt.emit(hdr);
    }
}

Pipeline(FrameParser(), LoadBalancer(), LoadBalancerDeparser(), NoEgressParser(), NoEgress(), NoEgressDeparser()) pipe;

Switch(pipe) main;

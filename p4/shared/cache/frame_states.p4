// States of an egress parser: `parse_key_value` for packets of key-value operations behind their bridge header, `parse_control` for control
// frames. Included inside a parser.
//
// With its value a packet is 240 bytes of headers; the Tofino compiler takes more than 160 only with --disable-parse-max-depth-limit, as such
// packets do not pass at line rate.
#define VALUE_STATE(STATE, VALUE, NEXT) \
    state STATE { pkt.extract(hdr.VALUE); transition NEXT; }

    state parse_key_value {
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.ipv4);
        pkt.extract(hdr.udp);
        pkt.extract(hdr.op);
        pkt.extract(hdr.request);
        transition select(hdr.op.optype) {
            optype_t.PUTREQ: parse_vallen;
            optype_t.GETRES_LATEST_SEQ: parse_vallen;
            optype_t.GETRES_DELETED_SEQ: parse_vallen;
            optype_t.VALUEUPDATE: parse_vallen;
            default: accept;
        }
    }

    state parse_vallen {
        pkt.extract(hdr.vallen);
        transition select(hdr.vallen.vallen) {
            0: parse_shadow;
            1 .. 8: parse_value_15;
            9 .. 16: parse_value_14;
            17 .. 24: parse_value_13;
            25 .. 32: parse_value_12;
            33 .. 40: parse_value_11;
            41 .. 48: parse_value_10;
            49 .. 56: parse_value_9;
            57 .. 64: parse_value_8;
            65 .. 72: parse_value_7;
            73 .. 80: parse_value_6;
            81 .. 88: parse_value_5;
            89 .. 96: parse_value_4;
            97 .. 104: parse_value_3;
            105 .. 112: parse_value_2;
            113 .. 120: parse_value_1;
            121 .. 128: parse_value_0;
        }
    }

    state parse_control {
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.command);
        pkt.extract(hdr.op);
        pkt.extract(hdr.request);
        pkt.extract(hdr.vallen);
        transition parse_value_0;
    }

    VALUE_STATE(parse_value_0, value_0, parse_value_1)
    VALUE_STATE(parse_value_1, value_1, parse_value_2)
    VALUE_STATE(parse_value_2, value_2, parse_value_3)
    VALUE_STATE(parse_value_3, value_3, parse_value_4)
    VALUE_STATE(parse_value_4, value_4, parse_value_5)
    VALUE_STATE(parse_value_5, value_5, parse_value_6)
    VALUE_STATE(parse_value_6, value_6, parse_value_7)
    VALUE_STATE(parse_value_7, value_7, parse_value_8)
    VALUE_STATE(parse_value_8, value_8, parse_value_9)
    VALUE_STATE(parse_value_9, value_9, parse_value_10)
    VALUE_STATE(parse_value_10, value_10, parse_value_11)
    VALUE_STATE(parse_value_11, value_11, parse_value_12)
    VALUE_STATE(parse_value_12, value_12, parse_value_13)
    VALUE_STATE(parse_value_13, value_13, parse_value_14)
    VALUE_STATE(parse_value_14, value_14, parse_value_15)

    state parse_value_15 {
        pkt.extract(hdr.value_15);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_CONTROL: parse_seq;
            default: parse_shadow;
        }
    }

    state parse_shadow {
        pkt.extract(hdr.shadow);
        transition select(hdr.shadow.optype) {
            optype_t.PUTREQ: accept;
            optype_t.GETRES_LATEST_SEQ: parse_seq_and_stat;
            optype_t.GETRES_DELETED_SEQ: parse_seq_and_stat;
            optype_t.VALUEUPDATE: parse_seq_and_stat;
        }
    }

    state parse_seq_and_stat {
        pkt.extract(hdr.seq);
        pkt.extract(hdr.stat);
        transition accept;
    }

    state parse_seq {
        pkt.extract(hdr.seq);
        transition accept;
    }

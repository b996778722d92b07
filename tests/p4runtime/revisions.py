"""Revisions of everything.p4, as an operator makes them of a program that runs."""

from __future__ import annotations

from pathlib import Path

# Each: what the text has, and what it has instead.
Changes = dict[str, str]

# One more table, in front of the others.
MORE: Changes = {
    "    table prefixes {": """    table guests {
        key = {
            hdr.ethernet.src_addr : exact;
        }
        actions = {
            mark;
            NoAction;
        }
        default_action = NoAction();
        size = 16;
    }

    table prefixes {""",
    "        seen.count(0);": """        guests.apply();
        seen.count(0);""",
}

# A table that begins with an entry.
BEGUN: Changes = {
    """            hdr.ethernet.dst_addr : lpm;
        }
        actions = {
            mark;
            NoAction;
        }
""": """            hdr.ethernet.dst_addr : lpm;
        }
        actions = {
            mark;
            NoAction;
        }
        entries = {
            0x020000000000 &&& 0xff0000000000 : mark(3);
        }
""",
}

# Of each kind of object one that is gone, or another.
LESS: Changes = {
    # The table `prefixes` is gone.
    """    table prefixes {
        key = {
            hdr.ethernet.dst_addr : lpm;
        }
        actions = {
            mark;
            NoAction;
        }
        default_action = NoAction();
        size = 64;
    }
""": "",
    "        prefixes.apply();\n": "",
    # Another key.
    """    table tallied {
        key = {
            hdr.ethernet.dst_addr : exact;""": """    table tallied {
        key = {
            hdr.ethernet.dst_addr : ternary;""",
    # An action that is none of the table's any more, and one with another parameter.
    """            filter;
            thin_out;
""": """            filter;
""",
    """    action thin_out(bit<8> index) {
        hdr.ethernet.src_addr[15:8] = early.execute(hdr.ethernet.dst_addr[7:0], index);
    }
""": "",
    "    Wred<bit<8>, bit<8>>(8, 1, 0) early;\n": "",
    """    action to_group(MulticastGroupId_t group) {
        ig_tm_md.mcast_grp_a = group;""": """    action to_group(bit<8> group) {
        ig_tm_md.mcast_grp_a = (bit<16>) group;""",
    # Smaller.
    """        key = {
            hdr.ethernet.ether_type : range;
            hdr.ethernet.src_addr : ternary;
        }
        actions = {
            mark;
            NoAction;
        }
        const default_action = NoAction();
        size = 4;""": """        key = {
            hdr.ethernet.ether_type : range;
            hdr.ethernet.src_addr : ternary;
        }
        actions = {
            mark;
            NoAction;
        }
        const default_action = NoAction();
        size = 1;""",
    # A constant default entry, and no direct counter.
    "        default_action = discard();\n        counters = forwarded;": (
        "        const default_action = discard();"
    ),
    "        forwarded.count();\n": "",
    "    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) forwarded;\n": "",
    # No time-outs.
    "        idle_timeout = true;\n": "",
    # No direct meter.
    "        hdr.ethernet.src_addr[39:32] = allowance.execute();\n": "",
    "        meters = allowance;\n": "",
    "    DirectMeter(MeterType_t.BYTES) allowance;\n": "",
    # Smaller groups.
    "ActionSelector(members, choice, SelectorMode_t.FAIR, 4, 4) groups": (
        "ActionSelector(members, choice, SelectorMode_t.FAIR, 2, 4) groups"
    ),
    # Fewer cells, cells of another width, limits of another unit; a counter that is gone.
    "    Register<bit<32>, bit<8>>(256, 7) hits;": "    Register<bit<32>, bit<8>>(16, 7) hits;",
    "    Register<pair_t, bit<8>>(16) pairs;": "    Register<bit<32>, bit<8>>(16) pairs;",
    """    RegisterAction<pair_t, bit<8>, bit<32>>(pairs) count_pair = {
        void apply(inout pair_t value) {
            value.first = value.first + 1;""": (
        "    RegisterAction<bit<32>, bit<8>, bit<32>>(pairs) count_pair = {\n"
        "        void apply(inout bit<32> value) {\n"
        "            value = value + 0;"
    ),
    "    Meter<bit<8>>(4, MeterType_t.PACKETS) pace;": (
        "    Meter<bit<8>>(4, MeterType_t.BYTES) pace;"
    ),
    "    Counter<bit<64>, bit<8>>(16, CounterType_t.PACKETS_AND_BYTES) seen;\n": "",
    "        seen.count(0);\n": "",
    # A smaller value set, and a digest of another type.
    "    value_set<bit<16>>(4) unwanted;": "    value_set<bit<16>>(1) unwanted;",
    "struct learnt_t {\n    bit<48> source;\n    bit<9> port;": (
        "struct learnt_t {\n    bit<48> source;\n    bit<16> port;"
    ),
    "learn.pack({md.source, md.from_port});": "learn.pack({md.source, (bit<16>) md.from_port});",
}


def write_revision(source: Path, changes: Changes, path: Path) -> Path:
    text = source.read_text()
    for before, after in changes.items():
        assert text.count(before) >= 1, before
        text = text.replace(before, after)
    path.write_text(text)
    return path

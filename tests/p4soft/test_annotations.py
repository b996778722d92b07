"""Every annotation has its effect, changes nothing, or is refused; so does every member of tna.p4's
intrinsic metadata.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from p4_programs import EGRESS, program
from refusals import check_refused

from p4soft.check.annotations import EFFECTS, HINTS
from p4soft.check.members import WITHOUT_EFFECT
from p4soft.cli import INCLUDE, translate
from p4soft.errors import P4Warning

REPOSITORY = Path(__file__).parents[2]


def hinted(annotations: str) -> str:
    """A program with annotations on whatever can have some."""
    text = program(
        """
        @H { hdr.data.a = 1; }
        @H t.apply();
        """,
        top="""
@H header more_h { @H bit<8> x; }
@H const bit<8> K = 1;
@H typedef bit<8> byte_t;
@H enum bit<8> kind_t { ONE = 1 }
@H bit<8> same(@H in bit<8> x) { return x; }
""",
        local="""
    @H Register<bit<8>, bit<8>>(4) r;
    @H RegisterAction<bit<8>, bit<8>, bit<8>>(r) get = {
        @H void apply(inout bit<8> value, out bit<8> rv) { rv = value; }
    };
    @H bit<8> v;
    @H action set(@H bit<8> n) { v = same(n); hdr.data.a = get.execute(n); }
    @H table t {
        @H key = { hdr.data.kind: exact @H; }
        @H actions = { @H set; @H NoAction; }
        @H const entries = { 1: set(2) @H; }
        @H size = 8;
    }
""",
        parser_local="    @H value_set<bit<8>>(4) vs;",
    ).replace("parser IngressParser", "@H parser IngressParser")
    return text.replace("@H", annotations).replace("Pipeline(", f"{annotations} Pipeline(")


def translated(text: str, directory: Path) -> tuple[str, object]:
    """C++ without both descriptions, and the schema without the annotations it repeats."""
    path = directory / "hinted.p4"
    path.write_text(text)
    code, schema, p4info = translate(path, [], {})
    assert schema in code and p4info in code

    def bare(value: object) -> object:
        if isinstance(value, dict):
            return {k: bare(v) for k, v in value.items() if k != "annotations"}
        return [bare(v) for v in value] if isinstance(value, list) else value

    return code.replace(schema, "").replace(p4info, ""), bare(json.loads(schema))


def test_hints_change_nothing(tmp_path: Path) -> None:
    plain = translated(hinted(""), tmp_path)
    # No two objects have the same @id; test_p4info has it.
    bare = " ".join(f"@{name}" for name in sorted(HINTS - {"controller_header", "id"}))
    assert translated(hinted(bare), tmp_path) == plain
    assert translated(hinted('@controller_header("packet_in")'), tmp_path) == plain
    assert translated(hinted('@stage(3) @pa_container_size("ingress", "x", 8)'), tmp_path) == plain
    pragma = "\n@pragma stage 3\n@pragma ternary 1\n"
    assert translated(hinted(pragma), tmp_path) == plain


def test_name_is_that_of_the_control_plane(load) -> None:
    source = program(
        "t.apply();",
        local="""
    @name("counts") Counter<bit<64>, bit<8>>(4, CounterType_t.PACKETS) c;
    @name(".mark") action set(bit<8> n) { hdr.data.a = n; }
    @name("chosen") table t { key = { hdr.data.kind: exact @name("k"); } actions = { set; } }
""",
        parser_local='@name("known") value_set<bit<8>>(4) vs;',
    )
    switch = load(source)
    update = {"op": "upsert", "table": "chosen", "key": {"k": 1}, "action": "mark"}
    switch.command("table_write", updates=[update | {"data": {"n": 7}}])
    assert switch.send(1, bytes([1]) + bytes(13))[0][1][1] == 7
    names = {table["name"] for table in switch.command("schema")["tables"]}
    assert names == {"pipe.Ingress.chosen", "pipe.Ingress.counts", "pipe.IngressParser.known"}


def test_what_would_end_the_strings_of_the_code_is_kept(load) -> None:
    """The schema and the P4Info stand in the C++ as they are, between R"p4soft( and this."""
    end = ")p4soft"
    source = program(
        "t.apply();",
        local=f"""
    @brief("brief{end}") @description("all{end}{end}") @name("t{end}")
    table t {{ key = {{ hdr.data.kind: exact @name("k{end}"); }} actions = {{ NoAction; }} }}
""",
    )
    switch = load(source)
    (table,) = switch.command("schema")["tables"]
    assert table["name"] == f"pipe.Ingress.t{end}"
    assert table["key"][0]["name"] == f"k{end}"
    p4info = switch.command("p4info")["p4info"]
    for text in (f'brief: "brief{end}"', f'description: "all{end}{end}"', f'name: "k{end}"'):
        assert text in p4info


HIDDEN = program(
    "t.apply(); hdr.data.a = seen.execute(0);",
    local="""
    @hidden action set(bit<8> n) { hdr.data.b[7:0] = n; }
    @hidden table t {
        key = { hdr.data.kind: exact; }
        actions = { set; }
        const entries = { 1: set(7); }
    }
    @hidden Register<bit<8>, bit<1>>(1) cells;
    RegisterAction<bit<8>, bit<1>, bit<8>>(cells) seen = {
        void apply(inout bit<8> value, out bit<8> rv) { value = value + 1; rv = value; }
    };
    Counter<bit<64>, bit<8>>(4, CounterType_t.PACKETS) known;
""",
    parser_local="@hidden value_set<bit<8>>(4) vs;",
)


def test_hidden_is_nothing_to_the_control_plane(load, tmp_path: Path) -> None:
    switch = load(HIDDEN)
    assert [t["name"] for t in switch.command("schema")["tables"]] == ["pipe.Ingress.known"]
    frames = [switch.send(1, bytes([1]) + bytes(13))[0][1] for _ in range(2)]
    assert [frame[:4].hex() for frame in frames] == ["01010007", "01020007"]
    path = tmp_path / "hidden.p4"
    path.write_text(HIDDEN)
    p4info = translate(path, [], {}).p4info
    names = re.findall(r'^    name: "(.*)"', p4info, re.M)
    assert names == ["Ingress.known"]


WITH_PARTS = program(
    "t.apply(); u.apply();",
    local="""
    Hash<bit<16>>(HashAlgorithm_t.CRC16) hash;
    DirectCounter<bit<64>>(CounterType_t.PACKETS) counter;
    ActionProfile(8) profile;
    ActionProfile(8) members;
    ActionSelector(members, hash, SelectorMode_t.FAIR, 16, 8) groups;
    action set(bit<8> n) { hdr.data.a = n; counter.count(); }
    action put(bit<8> n) { hdr.data.b[7:0] = n; }
    table t {
        key = { hdr.data.kind: exact; }
        actions = { set; }
        counters = counter;
        implementation = profile;
    }
    table u {
        key = { hdr.data.kind: exact; hdr.data.a: selector; }
        actions = { put; }
        implementation = groups;
    }
""",
)


@pytest.mark.parametrize(
    ("declaration", "name"),
    [
        ("DirectCounter<bit<64>>", "counter"),
        ("ActionProfile(8) profile", "profile"),
        ("ActionProfile(8) members", "members"),
        ("ActionSelector", "groups"),
        ("table t", "t"),
        ("table u", "u"),
    ],
)
def test_what_belongs_to_something_hidden_is_described(
    declaration: str, name: str, tmp_path: Path
) -> None:
    path = tmp_path / "parts.p4"
    path.write_text(WITH_PARTS.replace(declaration, f"@hidden {declaration}"))
    _, schema, p4info = translate(path, [], {})
    shown = [table["name"] for table in json.loads(schema)["tables"]]
    of_selector = {"groups", "groups_get_member"}
    others = {"t", "u", "profile", "members"} - {name}
    left = others if name in of_selector else others | of_selector
    assert sorted(shown) == sorted(f"pipe.Ingress.{other}" for other in left)
    assert f'"Ingress.{name}"' not in p4info


UNUSED = program(
    "ig_tm_md.packet_color = 3; ig_tm_md.deflect_on_drop = 1;",
    egress=EGRESS.replace(
        "    apply {\n", "    apply { if (eg_intr_md.deflection_flag == 1) { exit; }\n", 1
    ),
)


def test_members_for_what_is_not_configured_give_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "unused.p4"
    path.write_text(UNUSED)
    warnings: list[P4Warning] = []
    translate(path, [], {}, warnings.append)
    says = " of ingress_intrinsic_metadata_for_tm_t changes nothing here: no "
    assert [warning.message for warning in warnings] == [
        f"'packet_color'{says}queue drops by colour",
        f"'deflect_on_drop'{says}packet is deflected",
        "'deflection_flag' of egress_intrinsic_metadata_t changes nothing here: no packet is "
        "deflected",
    ]


INSTANCE = "Counter<bit<64>, bit<8>>(4, CounterType_t.PACKETS) c;"
REFUSED: dict[str, tuple[str, str]] = {
    "unknown annotation": (
        program(local=f"/*^*/@fancy(1) {INSTANCE}"),
        "annotation @fancy is not supported by p4soft; supported: @abstract,",
    ),
    "aliased header": (
        program().replace(
            "control Ingress(", '/*^*/@pa_alias("ingress", "hdr.data.a", "md.m8") control Ingress('
        ),
        "@pa_alias of 'hdr.data.a' is not supported by p4soft; supported: fields of bit<W> in",
    ),
    "alias of three": (
        program().replace(
            "control Ingress(", '/*^*/@pa_alias("ingress", "md.a", "md.b", "md.c") control Ingress('
        ),
        'this @pa_alias is not supported by p4soft; supported: @pa_alias("ingress" or "egress", ',
    ),
    "annotation without its place": (
        program(local='/*^*/@symmetric("a", "b") ' + INSTANCE),
        "@symmetric here is not supported by p4soft; supported: @symmetric on an instance of Hash",
    ),
    "annotated property": (
        program(local="table t { actions = { NoAction; } /*^*/@tableonly size = 4; }"),
        "@tableonly here is not supported",
    ),
    "checksum in a control": (
        program(local="Checksum() /*^*/sum;"),
        "a Checksum belongs in a parser or deparser",
    ),
    "update in a parser": (
        program(
            parser_local="Checksum() sum;",
            parser="""
    state start { pkt.extract(hdr.data); md.m16 = /*^*/sum.update(hdr.data); transition accept; }
""",
        ),
        "Checksum.update belongs in a deparser",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_effect_is_refused(name: str, tmp_path: Path) -> None:
    check_refused(*REFUSED[name], tmp_path)


VARIABLES = {
    "ingress_intrinsic_metadata_t": "ig_intr_md",
    "ingress_intrinsic_metadata_from_parser_t": "ig_prsr_md",
    "ingress_intrinsic_metadata_for_tm_t": "ig_tm_md",
    "egress_intrinsic_metadata_t": "eg_intr_md",
    "egress_intrinsic_metadata_from_parser_t": "eg_prsr_md",
    "egress_intrinsic_metadata_for_deparser_t": "eg_dprsr_md",
    "egress_intrinsic_metadata_for_output_port_t": "eg_oport_md",
}
MEMBERS = [(type_, name) for type_, names in WITHOUT_EFFECT.items() for name in names.split()]


@pytest.mark.parametrize(("type_", "member"), MEMBERS)
def test_members_without_effect_are_refused(type_: str, member: str, tmp_path: Path) -> None:
    """Whether they are read or handed to something that writes them."""
    use = f"use({VARIABLES[type_]}./*^*/{member} == 0);"
    function = "void use(in bool x) { }\n"
    text = program(use, top=function)
    if type_.startswith("egress"):
        before, after = EGRESS.split("    apply {\n", 1)
        text = program(top=function, egress=f"{before}    apply {{ {use}\n{after}")
    check_refused(text, f"'{member}' of {type_} is not supported by p4soft", tmp_path)


WISHES = program(
    """
        ig_tm_md.packet_color = 3;
        ig_tm_md.ingress_cos = 5;
        ig_tm_md.deflect_on_drop = 1;
        hdr.data.a = (bit<8>) (ig_tm_md.packet_color ++ ig_tm_md.ingress_cos);
        ig_tm_md.bypass_egress = 0;
    """,
    egress=EGRESS.replace("struct no_headers_t {", "struct no_headers_t { data_h data;")
    .replace("pkt.extract(eg_intr_md);", "pkt.extract(eg_intr_md); pkt.extract(hdr.data);")
    .replace("    apply {\n", "    apply { hdr.data.b = (bit<16>) eg_intr_md.deflection_flag;\n", 1)
    .replace("no_metadata_t md) {\n    apply {", "no_metadata_t md) {\n    apply { pkt.emit(hdr);"),
)


def test_wishes_to_a_traffic_manager_that_does_not_have_them(load) -> None:
    """They are fields like others, and no frame is deflected."""
    ((port, out),) = load(WISHES).send(1, bytes([0, 0, 0xFF, 0xFF]) + bytes(10))
    assert (port, out[1], out[2:4]) == (5, 3 << 3 | 5, b"\0\0")


# What generated code and its runtime call something, and what is no identifier of C++.
TAKEN = ["packet", "packet_bytes", "now_ns", "mirror_copy", "digests", "case1", "1st", "$", "2.x"]


def test_names_of_instances_are_nothing_to_generated_code(load) -> None:
    """Each is a register with a number of its own, which the packet adds up."""
    registers, actions, calls = [], [], []
    for number, name in enumerate(TAKEN):
        registers.append(f'@name("{name}") Register<bit<16>, bit<1>>(1, {1 << number}) r{number};')
        actions.append(
            f"RegisterAction<bit<16>, bit<1>, bit<16>>(r{number}) get{number} = "
            "{ void apply(inout bit<16> value, out bit<16> result) { result = value; } };"
        )
        calls.append(f"hdr.data.b = hdr.data.b + get{number}.execute(0);")
    text = program("\n".join(calls), top="\n".join(registers), local="\n".join(actions))
    target = load(text)
    assert target.send(1, bytes(14)) == [(5, bytes([0, 0, 0x01, 0xFF]) + bytes(10))]
    for number, name in enumerate(TAKEN):
        read = target.command("register_read", table=f"pipe.{name}", first=0, count=1)
        assert read["values"] == [1 << number]


# Members of tna.p4's intrinsic metadata, and where their effect is tested.
P4SOFT = "tests/p4soft/test_{}.py"
SHOWN = {
    P4SOFT.format("copies"): """
        resubmit_flag drop_ctl digest_type resubmit_type mirror_type copy_to_cpu mcast_grp_a
        mcast_grp_b level1_exclusion_id level2_exclusion_id rid egress_rid egress_rid_first
    """,
    P4SOFT.format("externs"): """
        ingress_port ucast_egress_port bypass_egress qid egress_port egress_qid pkt_length
        ingress_mac_tstamp global_tstamp enq_tstamp deq_timedelta
    """,
    P4SOFT.format("parsers"): "parser_err",
    "src/softswitch/traffic_manager_test.cc": "enq_qdepth deq_qdepth",
    # Of groups with several paths or link aggregation: $MULTICAST_LAG_ID is refused there.
    P4SOFT.format("annotations"): """
        level1_mcast_hash level2_mcast_hash packet_color ingress_cos deflect_on_drop
        deflection_flag
    """,
}


def test_every_member_of_the_intrinsic_metadata_is_known() -> None:
    text = (INCLUDE / "tofino1_base.p4").read_text()
    declared = set()
    composite = re.compile(r"^(?:header|struct) (\w+_intrinsic_\w+) \{(.*?)^\}", re.M | re.S)
    for type_, body in composite.findall(text):
        for member in re.findall(r"(\w+);", re.sub(r"@padding[^;]*;", "", body)):
            declared.add((type_, member))
    assert set(MEMBERS) <= declared
    shown = [name for names in SHOWN.values() for name in names.split()]
    assert {member for _, member in declared - set(MEMBERS)} == set(shown)
    for file, names in SHOWN.items():
        tests = (REPOSITORY / file).read_text()
        assert [name for name in names.split() if name not in tests] == []


def test_every_annotation_has_one_row_in_the_documentation() -> None:
    document = (REPOSITORY / "docs/p4soft.md").read_text()
    section = document.split("## Annotations\n")[1].split("\n## ")[0]
    rows = [line.split("|")[1:4] for line in section.splitlines() if line.startswith("| `@")]
    names = [name for first, _, _ in rows for name in re.findall(r"`@(\w+)`", first)]
    assert sorted(names) == sorted(set(EFFECTS) - {"abstract"} | HINTS)
    for first, effect, tests in rows:
        assert effect.strip(), first
        assert re.search(r"`test_\w+(::\w+)?`", tests), first

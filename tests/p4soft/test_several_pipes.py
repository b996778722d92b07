"""Switch(a, b) main: a port belongs to pipe `port / 128`, and each pipe runs its own pipeline.

Pipe 0 has ports 0 to 127, pipe 1 128 to 255; ingress is that of the port a packet came from, egress
that of the port it goes to. With two pipelines, pipes 2 and 3 of a switch run them again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from p4_programs import PARSER, egress_of_data, program
from refusals import check_refused

from p4soft.cli import translate

EGRESS = egress_of_data("        hdr.data.b[7:0] = number;", constructor="(bit<8> number)")
# One control, instantiated with another number in each pipe.
BLOCKS = program(
    """
        hdr.data.a = number;
        md.m8 = number;
        t.apply();
        hdr.data.c = count.execute(0);
        ig_tm_md.bypass_egress = 0;
        ig_dprsr_md.digest_type = 1;
        """,
    metadata="""
struct headers_t { data_h data; }
struct metadata_t { bit<8> m8; bit<8> room; bit<9> to; }
""",
    top="""
struct learnt_t { bit<8> kind; bit<8> number; }
struct port_t { bit<8> room; }
Register<bit<32>, bit<8>>(4) cells;
""",
    local="""
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) count = {
        void apply(inout bit<32> value, out bit<32> rv) { value = value + 1; rv = value; }
    };
    action go(PortId_t port) { ig_tm_md.ucast_egress_port = port; }
    action stay() { ig_tm_md.ucast_egress_port = ig_intr_md.ingress_port; }
    table t {
        key = { hdr.data.kind: exact; }
        actions = { go; stay; }
        default_action = stay();
        size = 4;
    }
""",
    parser=PARSER.replace(
        "pkt.advance(PORT_METADATA_SIZE);",
        "port_t port = port_metadata_unpack<port_t>(pkt); md.room = port.room;",
    ),
    deparser_local="    Digest<learnt_t>() learn;",
    deparser="""
        if (ig_dprsr_md.digest_type == 1) { learn.pack({hdr.data.kind, md.m8}); }
        pkt.emit(hdr);""",
    egress=EGRESS,
)
TEXT = BLOCKS[: BLOCKS.index("Pipeline(")].replace("ig_tm_md) {", "ig_tm_md)(bit<8> number) {")
PIPELINE = """
Pipeline(IngressParser(), Ingress({number}), IngressDeparser(), EgressParser(), Egress({number}),
         EgressDeparser()) {name};
"""
TWO = (
    TEXT
    + PIPELINE.format(name="first", number=1)
    + PIPELINE.format(name="second", number=2)
    + "Switch(first, second) main;\n"
)
ONE_TWICE = TEXT + PIPELINE.format(name="only", number=1) + "Switch(only, only) main;\n"


def send(switch: Any, port: int, kind: int = 9) -> tuple[int, int, int, int]:
    """Port, ingress pipeline, egress pipeline, count of what comes out."""
    ((out_port, out),) = switch.send(port, bytes([kind]) + bytes(13))
    return out_port, out[1], out[3], int.from_bytes(out[4:8], "big")


@pytest.fixture
def switch(load: Any) -> Any:
    loaded = load(TWO)
    loaded.command("register_clear")
    for table in ("first.Ingress_0.t", "second.Ingress_1.t"):
        loaded.command("table_write", updates=[{"op": "clear", "table": table}])
    loaded.command("digest_read")
    return loaded


@pytest.mark.parametrize(("port", "number"), [(5, 1), (127, 1), (128, 2), (255, 2), (256, 1)])
def test_a_port_belongs_to_a_pipe(switch: Any, port: int, number: int) -> None:
    assert send(switch, port)[:3] == (port, number, number)


def test_each_pipe_has_its_own_registers(switch: Any) -> None:
    """Those of the top level, too."""
    assert [send(switch, port)[3] for port in (5, 5, 133, 5, 133)] == [1, 2, 1, 3, 2]
    read = [switch.command("register_read", table=f"{pipe}.cells") for pipe in ("first", "second")]
    assert [each["values"][0] for each in read] == [3, 2]


def test_each_pipe_has_its_own_tables_and_egress_is_that_of_the_port(switch: Any) -> None:
    entry = {"key": {"hdr.data.kind": 9}, "action": "go", "data": {"port": 140}}
    update = {"op": "insert", "table": "first.Ingress_0.t"}
    switch.command("table_write", updates=[update | entry])
    assert send(switch, 5)[:3] == (140, 1, 2)
    assert send(switch, 133)[:3] == (133, 2, 2)


def test_digests_are_those_of_their_pipe(switch: Any) -> None:
    send(switch, 133, kind=7)
    send(switch, 5, kind=8)
    digests = switch.command("digest_read")["digests"]
    assert [(each["name"], each["pipe"]) for each in digests] == [
        ("second.IngressDeparser.learn", 1),
        ("first.IngressDeparser.learn", 0),
    ]
    assert [each["fields"] for each in digests] == [
        {"kind": 7, "number": 2},
        {"kind": 8, "number": 1},
    ]


def test_one_pipeline_may_run_in_several_pipes(load: Any) -> None:
    """Its state is one, as everywhere here where pipes share a pipeline."""
    switch = load(ONE_TWICE)
    assert [send(switch, port)[3] for port in (5, 133)] == [1, 2]


def test_names_begin_with_the_pipelines(tmp_path: Path) -> None:
    path = tmp_path / "two.p4"
    path.write_text(TWO)
    made = translate(path, [], {})
    document = json.loads(made.schema)
    names = [table["name"] for table in document["tables"]]
    half = len(names) // 2
    # A table of Ingress(1) and Ingress(2) is `first.Ingress_0.t` and `second.Ingress_1.t`, as in
    # P4Testgen's tests of p4c's sample multipipe_simple; of other blocks the names are the same.
    assert [
        name.partition(".")[2].replace("Ingress_0.", "Ingress_1.") for name in names[:half]
    ] == [name.partition(".")[2] for name in names[half:]]
    assert {"first.Ingress_0.t", "second.Ingress_1.t"} <= set(names)
    assert {name.partition(".")[0] for name in names[:half]} == {"first"}
    assert {name.partition(".")[0] for name in names[half:]} == {"second"}
    ids = [table["id"] for table in document["tables"]]
    assert len(set(ids)) == len(ids)
    assert [each["name"].partition(".")[0] for each in document["learn_filters"]] == [
        "first",
        "second",
    ]


def test_pipelines_of_one_name_are_refused(tmp_path: Path) -> None:
    """One of them would not run."""
    named = PIPELINE.format(name="second", number=2).replace(
        "Pipeline(", '@name("first") Pipeline(', 1
    )
    text = TEXT + PIPELINE.format(name="first", number=1) + named
    text += "Switch(first, /*^*/second) main;\n"
    check_refused(text, "another pipeline is 'first' to the control plane already", tmp_path)

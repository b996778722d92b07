"""`make tofino`: its table, with a stand-in for the compiler that leaves minimal reports."""

from __future__ import annotations

import json
import os
import select
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from p4soft.cli import translate
from turntable_tofino import p4infos
from turntable_tofino.__main__ import main
from turntable_tofino.compiler import compile_program
from turntable_tofino.reports import ReportError, Usage, read_usage
from turntable_tofino.schemas import differences

REPOSITORY = Path(__file__).parents[2]
NOCACHE = REPOSITORY / "p4/nocache/nocache.p4"


def stage_table(number: int, **more: Any) -> dict[str, Any]:
    return {"stage_number": number, "size": 1024, **more}


# Shaped as the compiler's: match tables have their stages inside match_attributes.
CONTEXT = {
    "tables": [
        {
            "name": "SwitchIngressParser.$PORT_METADATA",
            "direction": "ingress",
            "table_type": "match",
            "match_attributes": {"stage_tables": [stage_table(-1)]},
        },
        {
            "name": "SwitchIngress.t",
            "direction": "ingress",
            "table_type": "match",
            "match_attributes": {"stage_tables": [stage_table(0), stage_table(1)]},
        },
        {
            "name": "SwitchIngress.r",
            "direction": "ingress",
            "table_type": "stateful",
            "stage_tables": [stage_table(1), stage_table(1), stage_table(4)],
        },
        {
            "name": "cond-3",
            "direction": "egress",
            "table_type": "condition",
            "stage_tables": [stage_table(2)],
        },
    ]
}
SRAM, TCAM = {"row": 7, "column": 0}, {"row": 0, "column": 1}
RESOURCES = {
    "resources": {
        "mau": {
            "mau_stages": [
                {
                    "stage_number": 0,
                    "rams": {"srams": [SRAM, SRAM], "nRows": 8, "nColumns": 10},
                    "tcams": {"tcams": [TCAM], "nRows": 12, "nColumns": 2},
                },
                {"stage_number": 1, "rams": {"srams": [SRAM]}, "tcams": {"tcams": [TCAM, TCAM]}},
            ]
        }
    }
}
PHV = {
    "containers": [
        {"phv_number": 0, "bit_width": 32, "container_type": "normal", "gress": "ingress"},
        {"phv_number": 64, "bit_width": 8, "container_type": "normal", "gress": "ingress"},
        {"phv_number": 65, "bit_width": 8, "container_type": "normal", "gress": "egress"},
        {"phv_number": 300, "bit_width": 16, "container_type": "tagalong", "gress": "egress"},
    ]
}
USAGE = Usage(3, 1, 2, 3, 3, {8: 2, 32: 1})


def write_reports(directory: Path) -> None:
    (directory / "pipe/logs").mkdir(parents=True)
    (directory / "pipe/context.json").write_text(json.dumps(CONTEXT))
    (directory / "pipe/logs/resources.json").write_text(json.dumps(RESOURCES))
    (directory / "pipe/logs/phv.json").write_text(json.dumps(PHV))


def test_usage_is_counted_from_the_reports(tmp_path: Path) -> None:
    write_reports(tmp_path)
    assert read_usage(tmp_path) == USAGE


def test_missing_or_other_reports_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"holds 0 files context.json"):
        read_usage(tmp_path)
    write_reports(tmp_path)
    (tmp_path / "pipe/logs/phv.json").write_text("{}")
    with pytest.raises(ReportError, match="lacks 'containers'"):
        read_usage(tmp_path)


@pytest.fixture
def fake_p4c(tmp_path: Path) -> Path:
    """Leaves what lies in `prepared`; without it, fails as the compiler does."""
    path = tmp_path / "p4c"
    prepared = tmp_path / "prepared"
    path.write_text(
        "#!/bin/sh\n"
        'while [ "$1" != -o ]; do [ "$1" != --p4runtime-files ] || p4info="$2"; shift; done\n'
        'rm -rf "$2"; mkdir "$2"\n'
        f'[ -d {prepared} ] || {{ echo "x.p4(3): error: Table placement"; exit 9; }}\n'
        f'cp -r {prepared}/. "$2"\n'
        'mv "$2/p4info" "$p4info" || true\n'
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def prepare(directory: Path) -> None:
    """What a good compiler leaves for NoCache."""
    write_reports(directory / "prepared")
    (directory / "prepared/pipe/tofino.bin").write_bytes(b"\0")
    ours = translate(NOCACHE, [], {})
    (directory / "prepared/bfrt.json").write_text(ours.schema)
    (directory / "prepared/p4info").write_text(ours.p4info)


def run(fake_p4c: Path) -> int:
    output = fake_p4c.parent / "out"
    return main(["--p4c", str(fake_p4c), "--output", str(output), str(NOCACHE)])


def test_program_that_fits(
    fake_p4c: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare(tmp_path)
    assert run(fake_p4c) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == [
        "nocache", "0", "3", "+", "1", "2", "3", "3", "2,", "0,", "1",
    ]  # fmt: skip


def test_program_that_does_not_fit(fake_p4c: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(fake_p4c) == 1
    *_, row, reason = capsys.readouterr().out.splitlines()
    assert row.split() == ["nocache", "9", "-", "-", "-", "-", "-"]
    assert reason.startswith("nocache: x.p4(3): error: Table placement; see ")


def test_a_compiler_that_does_not_end_is_ended_with_its_children(tmp_path: Path) -> None:
    held = tmp_path / "held"
    os.mkfifo(held)
    slow = tmp_path / "p4c"
    slow.write_text(f"#!/bin/sh\nexec > {held}\nsleep 1000 &\nwait\n")
    slow.chmod(0o755)
    reader = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
    try:
        result = compile_program(slow, NOCACHE, tmp_path / "out/nocache", limit_s=1)
        assert result.status is None
        assert result.wrong == [f"not compiled within 1 s; see {tmp_path}/out/nocache.log"]
        # Its end comes when nobody has it open any more.
        assert select.select([reader], [], [], 20) == ([reader], [], [])
        assert os.read(reader, 1) == b""
    finally:
        os.close(reader)


def test_missing_binary_fails(
    fake_p4c: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare(tmp_path)
    (tmp_path / "prepared/pipe/tofino.bin").unlink()
    assert run(fake_p4c) == 1
    assert "nocache: no tofino.bin; see " in capsys.readouterr().out


def test_other_names_in_the_compilers_schema_fail(
    fake_p4c: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare(tmp_path)
    path = tmp_path / "prepared/bfrt.json"
    path.write_text(path.read_text().replace("ipv4_lpm", "ipv4_route"))
    assert run(fake_p4c) == 1
    said = capsys.readouterr().out
    assert "nocache: table pipe.SwitchIngress.forwarding.ipv4_lpm: only p4soft has it" in said


def test_another_p4info_fails(
    fake_p4c: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare(tmp_path)
    path = tmp_path / "prepared/p4info"
    compiled = path.read_text()
    path.write_text(compiled.replace("match_type: LPM", "match_type: TERNARY"))
    assert run(fake_p4c) == 1
    assert (
        "nocache: P4Info: tables SwitchIngress.forwarding.ipv4_lpm: match_fields: dst_addr: "
        "match_type: p4soft says LPM, the compiler TERNARY"
    ) in capsys.readouterr().out
    path.unlink()
    assert run(fake_p4c) == 1
    assert "nocache: the compiler left no " in capsys.readouterr().out


def test_make_takes_a_compiler_programs_and_an_output_directory(
    fake_p4c: Path, tmp_path: Path
) -> None:
    prepare(tmp_path)
    output = tmp_path / "chosen"
    variables = [f"P4C={fake_p4c}", f"PROGRAMS={NOCACHE}", f"OUTPUT={output}"]
    subprocess.run(["make", "tofino", *variables], cwd=REPOSITORY, check=True)
    assert (output / "nocache/pipe/tofino.bin").exists()


def test_no_compiler_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--p4c", "/nowhere/p4c"])
    assert "expected P4C=/path/to/p4c" in capsys.readouterr().err


def schema(**table: Any) -> dict[str, Any]:
    fields = {
        "name": "pipe.C.t",
        "id": 1,
        "table_type": "MatchAction_Direct",
        "key": [{"name": "k", "match_type": "Exact", "type": {"type": "bytes", "width": 8}}],
        "action_specs": [
            {"name": "C.f", "data": [{"name": "v", "type": {"type": "bytes", "width": 16}}]}
        ],
        "data": [{"singleton": {"name": "$COUNTER_SPEC_PKTS", "type": {"type": "uint64"}}}],
    }
    learn = {"name": "pipe.D.l", "fields": [{"name": "x", "type": {"type": "bytes", "width": 9}}]}
    return {"tables": [fields | table], "learn_filters": [learn]}


@pytest.mark.parametrize(
    ("table", "line"),
    [
        (
            {"key": [{"name": "k", "match_type": "LPM", "type": {"type": "bytes", "width": 8}}]},
            "table pipe.C.t: key: k: p4soft says Exact bytes 8, the compiler LPM bytes 8",
        ),
        ({"data": []}, "table pipe.C.t: data: $COUNTER_SPEC_PKTS: only p4soft has it"),
        (
            {"action_specs": [{"name": "C.f", "data": []}]},
            "table pipe.C.t: action: C.f: v: only p4soft has it",
        ),
        (
            {"table_type": "Register"},
            "table pipe.C.t: kind: p4soft says MatchAction_Direct, the compiler Register",
        ),
    ],
)
def test_differences_of_schemas(table: dict[str, Any], line: str) -> None:
    assert differences(schema(), schema(**table)) == [line]


def test_ids_and_tables_of_the_chip_may_differ() -> None:
    theirs = schema(id=77, size=4096)
    theirs["tables"].append({"name": "pipe.$PORT", "table_type": "PortMetadata"})
    assert differences(schema(), theirs) == []
    theirs["learn_filters"] = []
    assert differences(schema(), theirs) == ["digest pipe.D.l: only p4soft has it"]


TABLE = """
tables {{ preamble {{ id: {id} name: "C.t" alias: "t" }} size: {size} }}
"""


def test_differences_of_p4infos() -> None:
    one = TABLE.format(id=33554433, size=16)
    two = 'tables { preamble { id: 33554434 name: "C.u" alias: "u" } }'
    assert p4infos.differences(one + two, two + one) == []  # the order does not count
    assert p4infos.differences(one, one + two) == ["tables C.u: only the compiler has it"]
    assert p4infos.differences(one + two, one + two + two) == [
        "tables C.u, item 2: only the compiler has it"
    ]
    assert p4infos.differences(one, TABLE.format(id=33554433, size=8)) == [
        "tables C.t: size: p4soft says 16, the compiler 8"
    ]
    assert p4infos.differences(one, TABLE.format(id=33554435, size=16)) == [
        "tables C.t: preamble: id: p4soft says 33554433, the compiler 33554435"
    ]

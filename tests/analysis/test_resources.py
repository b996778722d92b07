"""Experiment 10: programs counted side by side, with the compiler's reports where there are any."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest

from turntable.systems.farreach import resources, resources_page
from turntable_core.errors import TurntableError


def schema(registers: int) -> str:
    """So many registers of 1,000 cells of 16 bits, and a table of 100 keys of 32."""
    index = {"name": "$REGISTER_INDEX", "match_type": "Exact", "type": {"type": "uint32"}}
    cell = {"singleton": {"type": {"type": "bytes", "width": 16}}}
    register = {"table_type": "Register", "size": 1000, "key": [index], "data": [cell]}
    field = {"name": "k", "match_type": "LPM", "type": {"type": "bytes", "width": 32}}
    table = {"table_type": "MatchAction_Direct", "size": 100, "key": [field], "data": []}
    return json.dumps({"tables": [table, *[register] * registers]})


@pytest.fixture
def build(tmp_path: Path) -> Path:
    directory = tmp_path / "build" / "lib" / "p4"
    directory.mkdir(parents=True)
    for method, registers in (("farreach", 3), ("netcache", 2), ("nocache", 0)):
        (directory / f"{method}.bfrt.json").write_text(schema(registers))
        source = tmp_path / "p4" / method
        source.mkdir(parents=True)
        (source / f"{method}.p4").write_text("")
    return tmp_path / "build"


def add_reports(build: Path, method: str) -> Path:
    """As the compiler leaves them: tables in stages 0 and 3 of egress, one register."""
    directory = build / "tofino" / method
    directory.mkdir(parents=True)
    stages = [{"stage_number": 0}, {"stage_number": 3}]
    context = {"tables": [
        {"direction": "egress", "table_type": "match", "stage_tables": stages},
        {"direction": "egress", "table_type": "stateful", "stage_tables": stages[1:]},
    ]}  # fmt: skip
    mau = {"mau_stages": [{"rams": {"srams": [{}] * 5}, "tcams": {"tcams": [{}]}}]}
    phv = {"containers": [{"bit_width": 32, "container_type": "normal"}]}
    (directory / "context.json").write_text(json.dumps(context))
    (directory / "phv.json").write_text(json.dumps(phv))
    report = directory / "resources.json"
    report.write_text(json.dumps({"resources": {"mau": mau}}))
    return report


def rows_of(build: Path, run: Path) -> list[dict[str, str]]:
    resources.write(run, resources.read_programs(build, build.parent / "p4"), "smoke")
    with (run / "summary.csv").open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def test_a_row_per_method_and_nothing_where_no_compiler_was_asked(
    build: Path, tmp_path: Path
) -> None:
    rows = rows_of(build, tmp_path / "run")
    assert [(row["method"], row["registers"], row["register_bits"]) for row in rows] == [
        ("farreach", "3", "48000"),
        ("netcache", "2", "32000"),
        ("nocache", "0", "0"),
    ]
    assert {row["ternary_key_bits"] for row in rows} == {"3200"}
    for row in rows:
        assert row["stateful_alus"] == row["sram_blocks"] == ""  # not known is not 0
        assert "make tofino" in row["compiler"]


def test_reports_of_the_compiler_are_read(build: Path, tmp_path: Path) -> None:
    add_reports(build, "farreach")
    farreach, netcache, _ = rows_of(build, tmp_path / "run")
    wanted = {"stages": "2", "egress_stages": "2", "ingress_stages": "0", "stateful_alus": "1",
              "sram_blocks": "5", "tcam_blocks": "1", "phv_32": "1", "phv_8": "0"}  # fmt: skip
    assert {name: farreach[name] for name in wanted} == wanted
    assert netcache["stages"] == ""


def test_reports_that_are_older_than_the_program_are_not(build: Path, tmp_path: Path) -> None:
    os.utime(add_reports(build, "farreach"), (1, 1))
    farreach, *_ = rows_of(build, tmp_path / "run")
    assert farreach["stages"] == ""
    assert "older than the program" in farreach["compiler"]


def test_the_page_has_both_counts_and_says_whose(build: Path) -> None:
    programs = resources.read_programs(build, build.parent / "p4")
    page = resources_page.render("run", programs, "smoke")
    assert "48,000" in page
    assert "42,827,776" in page  # 5,228 KiB: FarReach reference, section 9
    assert "counted by p4soft" in page
    assert "was not found" in page
    assert page.count("<svg") == 1
    assert "SRAM" not in page.partition("<svg")[2].partition("</svg>")[0]


def test_a_program_that_was_not_built_is_named(build: Path) -> None:
    (build / "lib" / "p4" / "netcache.bfrt.json").unlink()
    with pytest.raises(TurntableError, match=r"netcache\.bfrt\.json does not exist; build it"):
        resources.read_programs(build, build.parent / "p4")

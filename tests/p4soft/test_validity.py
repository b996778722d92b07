"""Warnings of writes to headers that may be invalid; the poison in headers that become valid."""

from __future__ import annotations

from pathlib import Path

import pytest
from p4_programs import program
from packet.compilation import compile_program
from packet.targets import MemoryTarget
from refusals import MARK

from p4soft.cli import translate
from p4soft.errors import P4Warning

REPOSITORY = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"
# Packets of these programs have no header `extra` unless one is made.
LATER = "and setValid() at "
NEVER = "'hdr.extra' is invalid on every path to here, and the value is lost"
SOMETIMES = "'hdr.extra' may be invalid, and the value is lost then"


def table(name: str, action: str, body: str) -> str:
    return f"""
    action {action}() {{ {body} }}
    table {name} {{ key = {{ hdr.data.a : exact; }} actions = {{ {action}; }} size = 4; }}
"""


FILL = table("fill", "filled", f"{MARK}hdr.extra.x = 1;")
OPEN = table("open", "opened", "hdr.extra.setValid();")
FLIP = table("flip", "flipped", "hdr.extra.setValid();")
OPEN_AND_SET = table("open", "opened", "hdr.extra.setValid(); hdr.extra.x = 2;")
INNER = """
control Inner(inout bit<16> value) {
    apply { /*^*/value = 1; }
}
"""

WARNED = {
    "never valid": (program(f"{MARK}hdr.extra.x = 1;"), NEVER),
    "valid afterwards": (program(f"{MARK}hdr.extra.x = 1; hdr.extra.setValid();"), LATER),
    "on one branch": (
        program(f"if (hdr.data.a == 1) {{ hdr.extra.setValid(); }} {MARK}hdr.extra.x = 1;"),
        SOMETIMES,
    ),
    "by an action of a table": (program("fill.apply(); open.apply();", local=FILL + OPEN), LATER),
    "read before it is written again": (
        program(
            "fill.apply(); hdr.extra.setValid(); hdr.data.b = hdr.extra.x; hdr.extra.x = 3;",
            local=FILL,
        ),
        LATER,
    ),
    "a slice written again": (
        program("fill.apply(); hdr.extra.setValid(); hdr.extra.x[3:0] = 3;", local=FILL),
        LATER,
    ),
    "through a parameter": (
        program(
            "inner.apply(hdr.extra.x); hdr.extra.setValid();", local="    Inner() inner;", top=INNER
        ),
        LATER,
    ),
    "by exit": (
        program("fill.apply(); if (hdr.data.a == 1) { hdr.extra.setValid(); exit; }", local=FILL),
        LATER,
    ),
    "after setInvalid": (
        program(f"hdr.extra.setValid(); hdr.extra.setInvalid(); {MARK}hdr.extra.x = 1;"),
        NEVER,
    ),
    "under the wrong condition": (
        program(f"if (!hdr.extra.isValid() || hdr.data.a == 1) {{ {MARK}hdr.extra.x = 1; }}"),
        NEVER,
    ),
}


def warnings_of(text: str, directory: Path) -> list[P4Warning]:
    path = directory / "program.p4"
    path.write_text(text)
    warnings: list[P4Warning] = []
    translate(path, [], {}, warn=warnings.append)
    return warnings


@pytest.mark.parametrize("name", WARNED)
def test_warned(name: str, tmp_path: Path) -> None:
    text, message = WARNED[name]
    before, _, _ = text.partition(MARK)
    [warning] = warnings_of(text, tmp_path)
    column = len(before.rpartition("\n")[2]) + len(MARK) + 1
    assert (warning.position.line, warning.position.column) == (before.count("\n") + 1, column)
    assert message in warning.message


SILENT = {
    "after setValid": program("hdr.extra.setValid(); hdr.extra.x = 1;"),
    "inside isValid": program(
        "if (hdr.data.a == 1) { hdr.extra.setValid(); }"
        " if (hdr.data.b == 1 && hdr.extra.isValid()) { hdr.extra.x = 1; }"
    ),
    "on both branches": program(
        "if (hdr.data.a == 1) { hdr.extra.setValid(); } else { hdr.extra.setValid(); }"
        " hdr.extra.x = 1;"
    ),
    "an extracted header": program("hdr.data.a = 1;"),
    "all of it assigned": program("hdr.extra = {1, 2}; hdr.extra.x = 3;"),
    "written again": program(
        "open.apply(); fill.apply(); hdr.extra.setValid(); hdr.extra.x = 2;", local=FILL + OPEN
    ),
    "written again by the action that makes it valid": program(
        "flip.apply(); fill.apply(); open.apply();", local=FLIP + FILL + OPEN_AND_SET
    ),
    "perhaps a table's key says that it is there": program(
        "open.apply(); fill.apply();", local=FILL + OPEN
    ),
}


@pytest.mark.parametrize("name", SILENT)
def test_not_warned(name: str, tmp_path: Path) -> None:
    assert warnings_of(SILENT[name], tmp_path) == []


WHOLE_PROGRAMS = [
    path
    for pattern in ("p4/*/*.p4", "tests/p4soft/programs/*.p4", "bench/programs/**/*.p4")
    for path in sorted(REPOSITORY.glob(pattern))
    if path.read_text().endswith("main;\n")
]


@pytest.mark.parametrize("path", WHOLE_PROGRAMS, ids=lambda path: path.stem)
def test_programs_of_this_repository(path: Path) -> None:
    warnings: list[P4Warning] = []
    translate(path, [PROGRAMS], {}, warn=warnings.append)
    # Written in the way that was usual before there was this check, to see that it finds all that.
    if path.stem == "farreach_sized":
        fields = {warning.message.split("'")[1].split(".")[1].rstrip("0123456789")
                  for warning in warnings}  # fmt: skip
        assert fields == {"bridge", "vallen", "value"}
    else:
        assert warnings == []


EARLY_AND_LATE = program("""
    hdr.extra.x = 1;
    hdr.extra.setValid();
    hdr.extra.y = 2;
""")


@pytest.mark.parametrize(("poisoned", "sent"), [(False, "00010002"), (True, "a5a50002")])
def test_poison(poisoned: bool, sent: str, tmp_path: Path, build_dir: Path) -> None:
    (tmp_path / "early.p4").write_text(EARLY_AND_LATE)
    library = compile_program(tmp_path / "early.p4", [], tmp_path, build_dir, poisoned=poisoned)
    switch = MemoryTarget(build_dir / "bin" / "p4run", library)
    try:
        [(_, frame)] = switch.send(1, bytes(14))
    finally:
        switch.close()
    assert frame[14:18].hex() == sent

"""The support table of docs/p4soft.md: every row names tests that exist, and whatever the
translator refuses as unsupported has a test and a row.
"""

from __future__ import annotations

import ast
import importlib
import re
import traceback
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
import test_annotations
import test_byte_adjustment
import test_copies
import test_register_rules
import test_wrong_programs

import p4soft
from p4soft.cli import translate
from p4soft.emit.externs import EXTERNS
from p4soft.errors import P4Error

REPOSITORY = Path(__file__).parents[2]
SOURCES = Path(p4soft.__file__).parent
# `test_file`, `test_file::test_function` or `test_file[case of a refused program]`
REFERENCE = re.compile(r"`(?:packet/)?(test_\w+)(?:::(\w+)|\[([^`]+)\])?`")
# The refused programs of each file: name -> (program, part of the message)
REFUSED = {
    "test_wrong_programs": test_wrong_programs.ALL_CASES,
    "test_register_rules": test_register_rules.BROKEN,
    "test_copies": test_copies.MISPLACED,
    "test_byte_adjustment": test_byte_adjustment.ADJUSTMENTS,
    "test_annotations": test_annotations.REFUSED,
}


@cache
def rows() -> list[tuple[str, str, str]]:
    """Construct, "yes" or what else is said, and the cell with the tests."""
    text = (REPOSITORY / "docs/p4soft.md").read_text().split("## Support")[1].split("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")][2:]
    cells = (re.split(r"(?<!\\)\|", line.strip("|")) for line in lines)
    return [tuple(cell.strip() for cell in row) for row in cells]  # type: ignore[misc]


def module(name: str) -> ModuleType:
    of_packets = name in ("test_nocache", "test_netclone", "test_priority")
    return importlib.import_module(f"packet.{name}" if of_packets else name)


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0][:40])
def test_every_row_names_tests_that_exist(row: tuple[str, str, str]) -> None:
    construct, said, tests = row
    references = REFERENCE.findall(tests)
    assert references, f"no test for: {construct}"
    for file, function, case in references:
        if function:
            assert callable(getattr(module(file), function, None)), f"{file} has no {function}"
        elif case:
            assert case in REFUSED[file], f"{file} refuses no program called '{case}'"
        else:
            assert any(name.startswith("test_") for name in vars(module(file)))
    refuses = any(case for _, _, case in references)
    assert refuses == said.startswith("error"), f"{construct}: {said}, but the tests are {tests}"


def refusals() -> Iterator[tuple[str, int, int]]:
    """Every `raise unsupported(...)` of the translator: file, first and last line."""
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            error = node.exc if isinstance(node, ast.Raise) else None
            if isinstance(error, ast.Call) and ast.unparse(error.func) == "unsupported":
                yield str(path), node.lineno, node.end_lineno or node.lineno


def test_whatever_is_unsupported_has_a_test_and_a_row(tmp_path: Path) -> None:
    named = {(file, case) for row in rows() for file, _, case in REFERENCE.findall(row[2])}
    places = dict.fromkeys(refusals(), False)
    path = tmp_path / "refused.p4"
    for file, cases in REFUSED.items():
        for name, (text, _) in cases.items():
            path.write_text(text)
            with pytest.raises(P4Error) as error:
                translate(path, [], {})
            raised = traceback.extract_tb(error.value.__traceback__)[-1]
            for place in places:
                where, first, last = place
                if raised.filename == where and first <= (raised.lineno or 0) <= last:
                    places[place] = True
                    assert (file, name) in named, f"no row of the table names `{file}[{name}]`"
    untested = [f"{where}:{line}" for (where, line, _), tested in places.items() if not tested]
    assert untested == []


def test_extern_that_is_declared_is_supported_or_refused_by_a_test() -> None:
    declared = re.findall(
        r"^extern (\w+)(?:<[^>]*>)? \{", (SOURCES / "include/tofino1_base.p4").read_text(), re.M
    )
    refused = set(test_wrong_programs.UNSUPPORTED_EXTERNS)
    assert set(declared) - set(EXTERNS) == refused

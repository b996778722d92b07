"""When a program is compiled again, and when not: every part of what it is made from counts."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from p4soft.emit.program import Translation
from p4soft.run import cache, compiler
from p4soft.run.cache import CompiledProgram
from p4soft.run.compiler import Compiler
from p4soft.run.errors import RunError
from p4soft.run.installation import Installation

MADE = Translation("int code;\n", "{}\n", "pkg_info {}\n")
# Writes what it is asked to; `-o FILE` are its last words.
SCRIPT = """\
#!/bin/sh
[ "$1" != --version ] || { echo "compiler $VERSION"; exit; }
for file; do :; done
echo "$@" >"$file"
"""


@pytest.fixture
def installed(tmp_path: Path) -> Installation:
    headers = tmp_path / "include"
    (headers / "dataplane").mkdir(parents=True)
    (headers / "dataplane" / "table.h").write_text("// one\n")
    library = tmp_path / "library.a"
    library.write_text("one\n")
    return Installation(headers, library, tmp_path / "bin", "install it")


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "compiler"
    path.write_text(SCRIPT)
    path.chmod(0o755)
    monkeypatch.setenv("VERSION", "1")
    return path


@pytest.fixture
def compiled(
    tmp_path: Path, installed: Installation, script: Path
) -> Callable[..., CompiledProgram]:
    def get(
        name: str = "forward", made: Translation = MADE, *, traced: bool = False
    ) -> CompiledProgram:
        chosen = compiler.find(str(script))
        directory = tmp_path / "cache"
        return cache.compiled(name, made, chosen, installed, directory, traced=traced)

    return get


def test_the_same_is_taken_from_the_cache(compiled: Callable[..., CompiledProgram]) -> None:
    first, second = compiled(), compiled()
    assert first.seconds is not None
    assert second.seconds is None
    assert second.library == first.library
    assert second.library.is_file()
    assert second.schema.read_text() == "{}\n"
    assert second.p4info.read_text() == "pkg_info {}\n"


def test_another_program_compiler_or_runtime_is_compiled(
    compiled: Callable[..., CompiledProgram],
    installed: Installation,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    places = [compiled().library]
    for made in (MADE._replace(code="int other;\n"), MADE._replace(schema="{ }\n")):
        places.append(compiled(made=made).library)
    places.append(compiled(name="other").library)
    traced = compiled(traced=True)
    assert traced.library.with_suffix(".trace.so").is_file()
    places.append(traced.library)
    monkeypatch.setenv("VERSION", "2")
    places.append(compiled().library)
    (installed.headers / "dataplane" / "table.h").write_text("// two\n")
    places.append(compiled().library)
    installed.library.write_text("two\n")
    places.append(compiled().library)
    assert len({place.parent for place in places}) == 8


def test_a_failed_compilation_is_not_kept(
    compiled: Callable[..., CompiledProgram], script: Path, tmp_path: Path
) -> None:
    script.write_text(SCRIPT.replace("for file", "echo 'no such type' >&2; exit 1; for file"))
    with pytest.raises(RunError, match=r"no such type\ncompiler 1 cannot compile"):
        compiled()
    assert list((tmp_path / "cache").iterdir()) == []


def test_those_used_last_are_kept(compiled: Callable[..., CompiledProgram]) -> None:
    made = [compiled(name=f"p{number}").library for number in range(32)]
    for age, library in enumerate(reversed(made)):
        os.utime(library.parent, (1e9 - age, 1e9 - age))
    assert compiled(name="p0").seconds is None, "used again"
    compiled(name="another")
    assert [library.exists() for library in made] == [True, False] + [True] * 30


def test_a_library_that_is_missing_says_how_it_is_made(
    installed: Installation, tmp_path: Path
) -> None:
    without = replace(installed, library=tmp_path / "none.a")
    with pytest.raises(RunError, match=r"there is no .*/none\.a; install it"):
        cache.compiled("p", MADE, Compiler("/bin/true", "1"), without, tmp_path, traced=False)

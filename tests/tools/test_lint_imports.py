"""scripts/lint_imports.py: which imports go the wrong way, or round."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LINT = Path(__file__).resolve().parents[2] / "scripts/lint_imports.py"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """One module per package, none of which imports anything."""
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    for package in (
        "core/turntable_core",
        "systems/turntable_systems",
        "systems/turntable_systems/soup",
        "analysis/turntable",
        "plugins/module_utils/turntable_testbed",
    ):
        (tmp_path / package).mkdir(parents=True)
        (tmp_path / package / "__init__.py").write_text("")
    write(tmp_path, "core/turntable_core/systems.py", "import turntable_systems\n")
    return tmp_path


def write(repository: Path, file: str, text: str) -> None:
    (repository / file).write_text(text)


def said(repository: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, LINT], cwd=repository, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1 if done.stdout else 0, "")
    return done.stdout.splitlines()


def test_nothing_is_wrong_with_the_right_direction(repository: Path) -> None:
    write(repository, "systems/turntable_systems/soup/a.py", "from turntable_core import systems\n")
    text = "from turntable_core import systems\nimport turntable_systems.soup.a\n"
    write(repository, "analysis/turntable/a.py", text)
    write(repository, "core/turntable_core/a.py", "import json\nimport turntable_testbed\n")
    assert said(repository) == []


@pytest.mark.parametrize(
    ("file", "line", "imported"),
    [
        ("core/turntable_core/a.py", "import turntable_systems.soup", "turntable_systems.soup"),
        (
            "core/turntable_core/a.py",
            "from turntable_systems import soup",
            "turntable_systems.soup",
        ),
        ("core/turntable_core/a.py", "import turntable_systems", "turntable_systems"),
        (
            "core/turntable_core/systems.py",
            "import turntable_systems.soup",
            "turntable_systems.soup",
        ),
        ("core/turntable_core/a.py", "def f():\n    import turntable", "turntable"),
        ("systems/turntable_systems/soup/a.py", "from turntable import x", "turntable"),
        ("plugins/module_utils/turntable_testbed/a.py", "import turntable_core", "turntable_core"),
        (
            "core/turntable_core/a.py",
            "if TYPE_CHECKING:\n    from turntable_systems.soup import A",
            "turntable_systems.soup",
        ),
    ],
)
def test_wrong_directions_are_named(repository: Path, file: str, line: str, imported: str) -> None:
    write(repository, file, f"import json\n{line}\n")
    (problem,) = said(repository)
    number = 1 + len(line.splitlines())
    assert problem.startswith(f"{file}:{number}: imports {imported}; ")


def test_a_circle_is_named(repository: Path) -> None:
    write(repository, "core/turntable_core/a.py", "from turntable_core.b import x\n")
    write(repository, "core/turntable_core/b.py", "from turntable_core import c\n")
    write(repository, "core/turntable_core/c.py", "def f():\n    from . import a\n")
    (problem,) = said(repository)
    assert problem.startswith("modules import each other: turntable_core.")
    assert {f"turntable_core.{name}" for name in "abc"} <= set(problem.split())


def test_what_is_imported_for_types_alone_closes_no_circle(repository: Path) -> None:
    write(repository, "core/turntable_core/a.py", "from turntable_core.b import x\n")
    text = "if TYPE_CHECKING:\n    from turntable_core.a import y\n"
    write(repository, "core/turntable_core/b.py", text)
    assert said(repository) == []


@pytest.mark.parametrize("name", ["a.cc", "a.h", "a.hpp"])
@pytest.mark.parametrize("named", ['"soup/pot/lid.h"', "<soup/pot/lid.h>", '"../soup/pot/lid.h"'])
def test_a_library_in_cpp_knows_no_system(repository: Path, name: str, named: str) -> None:
    for component in ("node", "soup/pot", "bench"):
        (repository / "src" / component).mkdir(parents=True)
        text = f'#include "node/node.h"\n#  include {named}\n'
        write(repository, f"src/{component}/{name}", text)
    assert said(repository) == [
        f"src/node/{name}:2: includes a header of soup; src/node knows no other system. "
        "Move what both need into a library of its own"
    ]

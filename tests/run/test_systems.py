"""Systems are found by name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from turntable_core import systems
from turntable_core.errors import TurntableError


def test_a_system_is_found_by_its_name_and_by_the_one_it_had() -> None:
    assert systems.names() == ["fake"]
    assert systems.find("fake").name == "fake"
    assert systems.find("feint") is systems.find("fake")


def test_an_unknown_system_is_refused() -> None:
    with pytest.raises(TurntableError, match=r"'fkae': expected one of fake \(did you mean 'fake'"):
        systems.find("fkae")


@pytest.fixture
def with_hello(tmp_path: Path) -> dict[str, str]:
    """Environment of a process for which there is one system more: its module asks for a name that
    there is not.
    """
    (tmp_path / "systems/hello").mkdir(parents=True)
    (tmp_path / "systems/hello/__init__.py").write_text("from .system import SYSTEM\n")
    (tmp_path / "systems/hello/system.py").write_text("import os\n\nSYSTEM = Helo()\n")
    (tmp_path / "experiments/hello").mkdir(parents=True)
    return os.environ | {"TURNTABLE_SYSTEMS": str(tmp_path), "HELLO": str(tmp_path)}


HELLO_FAULT = "systems/hello/system.py:3: NameError: name 'Helo' is not defined"


def printed(program: str, environment: dict[str, str]) -> str:
    lines = subprocess.run(
        [sys.executable, "-c", f"from turntable_core import catalogue, systems\n{program}"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert lines.returncode == 0, lines.stderr
    return lines.stdout


def test_a_mistake_in_one_system_leaves_the_others_alone(with_hello: dict[str, str]) -> None:
    said = printed(
        "systems.import_components()\n"
        "print(systems.find('farreach').name, *(system.name for system in systems.every()))",
        with_hello,
    )
    found, *every = said.split()
    assert found == "farreach"
    assert "farreach" in every
    assert "hello" not in every


def test_a_broken_system_is_listed_with_its_mistake(with_hello: dict[str, str]) -> None:
    repository = Path(__file__).parents[2]
    said = printed(
        f"from pathlib import Path\nprint(catalogue.render(Path({str(repository)!r})))", with_hello
    )
    assert f"  hello: cannot be used: {with_hello['HELLO']}/{HELLO_FAULT}" in said.splitlines()
    assert "farreach/smoke  cannot" not in said


def test_asking_for_a_broken_system_gives_its_mistake(with_hello: dict[str, str]) -> None:
    said = printed(
        "try:\n    systems.find('hello')\n"
        "except systems.TurntableError as error:\n    print(error)",
        with_hello,
    )
    assert said == f"system 'hello' cannot be used: {with_hello['HELLO']}/{HELLO_FAULT}\n"


def test_a_mistake_in_a_component_is_found_too(with_hello: dict[str, str]) -> None:
    directory = Path(with_hello["HELLO"], "systems/hello")
    (directory / "system.py").write_text(
        "class System:\n    components = 'turntable_systems.hello.parts'\n\nSYSTEM = System()\n"
    )
    (directory / "parts").mkdir()
    (directory / "parts/__init__.py").touch()
    (directory / "parts/node.py").write_text("def start(:\n")
    said = printed("print(systems.broken())", with_hello)
    assert f"{directory}/parts/node.py:1: SyntaxError: " in said


def test_a_system_may_lie_outside_of_the_repository() -> None:
    fakes = Path(__file__).parent / "fakes"
    names = subprocess.run(
        [sys.executable, "-c", "from turntable_core import systems; print(*systems.names())"],
        env={"TURNTABLE_SYSTEMS": str(fakes)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert {"fake", "farreach"} <= set(names)

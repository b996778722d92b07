"""scripts/lint_pins.py against an index of made-up packages."""

from __future__ import annotations

import functools
import html
import importlib.util
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]

Check = Callable[[str, list[str], list[str]], list[str]]


def load() -> ModuleType:
    path = REPOSITORY / "scripts/lint_pins.py"
    spec = importlib.util.spec_from_file_location("lint_pins", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    directory = tmp_path / "index"
    directory.mkdir()
    handler = functools.partial(QuietHandler, directory=directory)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/simple")
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
        monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
        yield directory
        server.shutdown()
        thread.join()


@pytest.fixture
def check(tmp_path: Path, index: Path) -> Check:
    """Of a Python, the lines of requirements.txt and those of constraints.txt."""

    def checked(python: str, requirements: list[str], constraints: list[str]) -> list[str]:
        files = [tmp_path / "requirements.txt", tmp_path / "constraints.txt"]
        files[0].write_text("\n".join(["# A comment.", "-c constraints.txt", *requirements]))
        files[1].write_text("\n".join(constraints))
        return load().check(python, *files)

    publish(index, "soup", "2.0", requires_python=">=3.9")
    publish(index, "soup", "4.1", requires_python=">=3.11.5")
    publish(index, "spoon", "1.0", needs=['fork==1.0; python_version < "3.12"', "soup<4.1"])
    publish(index, "fork", "1.0")
    publish(index, "fork", "1.1")
    return checked


def publish(
    index: Path, name: str, version: str, requires_python: str = ">=3.8", needs: tuple | list = ()
) -> None:
    """Adds a wheel that consists of metadata to the index."""
    page = index / "simple" / name / "index.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    wheel, info = f"{name}-{version}-py3-none-any.whl", f"{name}-{version}.dist-info"
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Python: {requires_python}", *(f"Requires-Dist: {need}" for need in needs)]
    with zipfile.ZipFile(page.with_name(wheel), "w") as archive:
        archive.writestr(f"{info}/METADATA", "\n".join([*lines, ""]))
        tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        archive.writestr(f"{info}/WHEEL", tags)
        archive.writestr(f"{info}/RECORD", "")
    allowed = html.escape(requires_python)
    with page.open("a") as links:
        links.write(f'<a href="{wheel}" data-requires-python="{allowed}">{wheel}</a>\n')


def test_pins_that_fit_pass(check: Check) -> None:
    assert check("3.11.2", ["spoon==1.0"], ["spoon==1.0", "soup==2.0", "fork==1.0"]) == []


def test_a_pin_for_a_later_python_is_named_with_what_it_needs(check: Check) -> None:
    (problem,) = check("3.11.2", ["soup==4.1"], ["soup==4.1"])
    assert problem.startswith("soup==4.1 needs Python >=3.11.5; expected")
    assert check("3.12.3", ["soup==4.1"], ["soup==4.1"]) == []


def test_a_version_that_is_not_on_the_index_is_named(check: Check) -> None:
    (problem,) = check("3.12.3", ["soup==3.0"], ["soup==3.0"])
    assert "no wheel of soup==3.0 for it; expected" in problem


def test_pins_of_what_is_installed_later_are_beside_the_others(
    check: Check, tmp_path: Path
) -> None:
    assert check("3.12.3", ["soup==2.0"], ["soup==2.0"]) == []
    later = [tmp_path / "later.txt", tmp_path / "constraints.txt", tmp_path / "later-pins.txt"]
    later[0].write_text("-r requirements.txt\n-c later-pins.txt\nfork==1.0\n")
    later[2].write_text("fork==1.0\n")
    assert load().check("3.12.3", *later) == []
    later[2].write_text("fork==1.1\nspoon==1.0\n")
    told = sorted(load().check("3.12.3", *later))
    assert told[0].startswith("later.txt needs fork==1.0, but the pin is fork==1.1")
    assert told[1] == "nothing needs the pin spoon==1.0"


def test_an_index_that_does_not_answer_is_not_taken_for_a_wrong_pin(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    (problem,) = check("3.12.3", ["soup==2.0"], ["soup==2.0"])
    assert "expected an answer of the package index" in problem


def test_what_only_one_python_needs_is_pinned_too(check: Check) -> None:
    (problem,) = check("3.11.2", ["spoon==1.0"], ["spoon==1.0", "soup==2.0"])
    assert problem.startswith("spoon needs fork==1.0;")
    assert "has no pin" in problem
    assert check("3.12.3", ["spoon==1.0"], ["spoon==1.0", "soup==2.0"]) == []


def test_a_pin_that_others_do_not_allow_is_named(check: Check) -> None:
    pins = ["spoon==1.0", "soup==2.0", "fork==1.1"]
    (problem,) = check("3.11.2", ["spoon==1.0"], pins)
    assert problem.startswith("spoon needs fork==1.0;")
    assert "but the pin is fork==1.1" in problem


def test_a_pin_that_nothing_needs_is_named(check: Check) -> None:
    assert check("3.12.3", ["soup==2.0"], ["soup==2.0", "fork==1.0"]) == [
        "nothing needs the pin fork==1.0"
    ]

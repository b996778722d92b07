"""scripts/ as a person calls them: without an activated environment."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
OF_DEBIAN = "/usr/bin:/bin"
NEED_THE_ENVIRONMENT = ("crash", "lab", "lint", "list", "soak")


def call(script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": OF_DEBIAN, "LC_ALL": "C.UTF-8", "HOME": os.environ.get("HOME", "/root")}
    return subprocess.run(
        [script, *arguments], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("name", ["crash", "soak"])
def test_scripts_find_the_environment(name: str) -> None:
    done = call(REPOSITORY / "scripts" / name, "--help")
    assert done.returncode == 0, done.stderr
    assert f"usage: {name}" in done.stdout


@pytest.mark.parametrize("name", NEED_THE_ENVIRONMENT)
def test_without_an_environment_they_say_what_makes_one(tmp_path: Path, name: str) -> None:
    shutil.copytree(REPOSITORY / "scripts", tmp_path / "scripts")
    done = call(tmp_path / "scripts" / name)
    assert done.returncode == 1
    assert done.stderr == f"{name}: there is no Python environment yet; run: make setup\n"


@pytest.mark.parametrize("name", ["crash", "soak"])
def test_where_setup_was_interrupted_they_say_so(tmp_path: Path, name: str) -> None:
    shutil.copytree(REPOSITORY / "scripts", tmp_path / "scripts")
    make = [sys.executable, "-m", "venv", "--without-pip", tmp_path / ".venv"]
    subprocess.run(make, check=True)
    done = call(tmp_path / "scripts" / name)
    assert done.returncode == 1
    expected = rf"{name}: the Python environment is incomplete \(.*\); run: make setup\n"
    assert re.fullmatch(expected, done.stderr)


@pytest.mark.parametrize(
    ("name", "arguments", "status"),
    [
        ("setup", ("--help",), 0),
        ("setup", ("--hepl",), 2),
        ("stages", ("--help",), 0),
        ("stages", ("demo",), 2),
        ("latest-result", ("--help",), 0),
        ("latest-result", (), 2),
        ("lab", ("--help",), 0),
        ("lint", ("--help",), 0),
        ("lint", ("pyhton",), 2),
    ],
)
def test_help_is_help(tmp_path: Path, name: str, arguments: tuple[str, ...], status: int) -> None:
    shutil.copytree(REPOSITORY / "scripts", tmp_path / "scripts")
    done = call(tmp_path / "scripts" / name, *arguments)
    assert done.returncode == status, done.stderr
    assert f"scripts/{name}" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["scripts"], "it has begun its work"


def test_lint_looks_at_the_files_that_it_is_given(tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "scripts", tmp_path / "scripts")
    (tmp_path / ".venv").symlink_to(sys.prefix)
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    (tmp_path / "good.py").write_text("import os\n\nprint(os.sep)\n")
    (tmp_path / "bad.py").write_text("import os\n")
    statuses = {
        files: call(tmp_path / "scripts/lint", "python", "docs", *files).returncode
        for files in (("good.py",), ("bad.py",), ("good.py", "bad.py"), ())
    }
    assert list(statuses.values()) == [0, 1, 1, 1]


@pytest.mark.parametrize(
    ("preset", "build"),
    [("release", "build"), ("sanitize", "build/sanitize"), ("threads", "build/threads")],
)
def test_a_build_without_tests_does_not_pass(tmp_path: Path, preset: str, build: str) -> None:
    shutil.copy(REPOSITORY / "CMakePresets.json", tmp_path)
    (tmp_path / build).mkdir(parents=True)
    command = ["ctest", "--preset", preset]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "No tests were found" in done.stderr
    assert done.returncode != 0


def test_no_result_of_an_unknown_experiment() -> None:
    done = call(REPOSITORY / "scripts/latest-result", "nosuch")
    assert done.returncode == 1
    assert "no finished run of nosuch: expected results/nosuch/RUN/summary.csv" in done.stderr


@pytest.fixture
def build_without_kvclient(tmp_path: Path) -> Iterator[Path]:
    """The programs, without one that every rack needs last."""
    build = Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build"))
    (tmp_path / "bin").mkdir()
    for program in (build / "bin").iterdir():
        if program.name != "kvclient":
            (tmp_path / "bin" / program.name).symlink_to(program)
    (tmp_path / "lib").symlink_to(build / "lib")
    return tmp_path


@pytest.mark.skipif(os.geteuid() != 0, reason="racks are network namespaces: needs root")
def test_a_crash_rack_that_fails_keeps_its_directory(build_without_kvclient: Path) -> None:
    seed = "77"
    options = ("--points=1", "--method=farreach", f"--seed={seed}")
    done = call(REPOSITORY / "scripts/crash", *options, f"--build={build_without_kvclient}")
    assert done.returncode == 1
    kept = Path(re.search(r"^kept: (.*)$", done.stdout, re.MULTILINE)[1])
    again = re.search(r"^again: (.*)$", done.stdout, re.MULTILINE)[1]
    assert again.startswith("scripts/crash --points 1 --method farreach --seed 77 ")
    try:
        events = [json.loads(line) for line in (kept / "events.ndjson").read_text().splitlines()]
        assert [event["event"] for event in events] == ["setup", "failed"]
        assert (events[0]["method"], events[0]["seed"]) == ("farreach", int(seed))
        assert (kept / "switch0/softswitch.log").exists()
    finally:
        shutil.rmtree(kept)

"""The software switch away from its checkout: as a tarball that was moved, and by pip."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
from packet.live_switch import Links

from .conftest import IN, OUT, REPOSITORY, Command, Run

pytestmark = pytest.mark.long
FRAME = bytes(range(60))
BARE: Command = ["env", "-i"]  # no PATH, no HOME, nothing


@pytest.fixture(scope="session")
def tree(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tarball, unpacked in one directory and moved to another."""
    subprocess.run(["make", "package"], cwd=REPOSITORY, check=True, capture_output=True)
    [tarball] = (REPOSITORY / "build" / "package").glob("*.tar.gz")
    unpacked, moved = (tmp_path_factory.mktemp(name) for name in ("unpacked", "moved"))
    subprocess.run(["tar", "--extract", "--file", tarball], cwd=unpacked, check=True)
    [root] = unpacked.iterdir()
    return shutil.move(root, moved / "elsewhere")


def assert_forwards(run: Run, links: Links) -> None:
    links.sockets[IN].send(FRAME)
    assert links.sockets[OUT].recv(100) == FRAME
    assert run.said["BF Runtime"].endswith(", program forward")
    assert run.said["P4Runtime"].endswith(", program forward")
    assert run.end() == 0


def test_a_moved_tree_runs_with_an_empty_environment(
    tree: Path, start: Callable[..., Run], links: Links, tmp_path: Path
) -> None:
    run = start("--cache-dir", tmp_path / "cache", p4soft=[*BARE, tree / "bin" / "p4soft"])
    assert run.said["control"].startswith(f"{tree}/bin/nodectl --directory /tmp/")
    assert "compiled in " in run.said["program"]
    assert_forwards(run, links)


def test_nothing_in_it_points_elsewhere(tree: Path) -> None:
    places = [str(REPOSITORY), str(tree.parent).replace("/moved", "/unpacked")]
    files = [path for path in tree.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert len(files) > 100
    for path in files:
        content = path.read_bytes()
        for place in places:
            assert place.encode() not in content, f"{path} names {place}"


def test_nothing_in_it_is_for_debuggers(tree: Path) -> None:
    """What they read has the paths of sources."""
    compiled = [*(tree / "lib").glob("*.a"), *(tree / "bin").iterdir()]
    assert len(compiled) == 1 + 6
    for path in compiled:
        read = ["readelf", "--sections", "--wide", path]
        sections = subprocess.run(read, capture_output=True, text=True, check=False).stdout
        assert ".debug_" not in sections, path


def test_its_programs_need_what_the_page_says(tree: Path) -> None:
    """By the libraries that they load: each is of a Debian package that the page has installed."""
    page = (REPOSITORY / "docs" / "softswitch.md").read_text()
    [line] = re.findall(r"apt-get install (.*?) +# Debian 12", page)
    named = set(line.split())
    programs = [path for path in (tree / "bin").iterdir() if path.name != "p4soft"]
    assert len(programs) == 5
    for program in programs:
        dynamic = subprocess.check_output(["readelf", "--dynamic", program], text=True)
        assert "RPATH" not in dynamic and "RUNPATH" not in dynamic
        for library in re.findall(r"NEEDED.*\[(.*)\]", dynamic):
            packages = packages_of(library)
            if not packages:
                continue
            assert packages & closure(named), f"{program.name} needs {library} of {packages}"


def packages_of(library: str) -> set[str]:
    done = subprocess.run(
        ["dpkg-query", "--search", f"*/{library}"], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip("no packages of Debian here")
    return {line.partition(":")[0] for line in done.stdout.splitlines()}


def closure(named: set[str]) -> set[str]:
    """These packages and what they depend on."""
    command = [
        "apt-cache", "depends", "--recurse", "--installed", "--no-recommends", "--no-suggests",
        "--no-conflicts", "--no-breaks", "--no-replaces", "--no-enhances", *sorted(named),
    ]  # fmt: skip
    lines = subprocess.check_output(command, text=True).splitlines()
    return {line for line in lines if not line.startswith(" ")}


def test_pip_installs_it_with_its_headers(
    build_dir: Path,
    start: Callable[..., Run],
    links: Links,
    tmp_path: Path,
) -> None:
    prefix = tmp_path / "environment"
    venv.create(prefix, with_pip=False)
    # From a copy: pip builds in the directory that it is given.
    checkout = tmp_path / "checkout"
    files = subprocess.check_output(["git", "ls-files"], cwd=REPOSITORY, text=True).splitlines()
    for name in files:
        if (REPOSITORY / name).is_file():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPOSITORY / name, checkout / name)
    stray = checkout / "build" / "lib" / "p4" / "stray.so"  # where CMake puts compiled programs
    stray.parent.mkdir(parents=True)
    stray.touch()
    pip = [sys.executable, "-m", "pip", "--quiet"]
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path, checkout]
    subprocess.run(build, check=True)
    [wheel] = tmp_path.glob("*.whl")
    python = prefix / "bin" / "python"
    subprocess.run(
        [*pip, "--python", python, "install", "--no-deps", "--no-index", wheel], check=True
    )
    shutil.rmtree(checkout)
    assert not (prefix / "bin" / "softswitch").exists()
    assert list(prefix.rglob("stray.so")) == []
    p4soft = prefix / "bin" / "p4soft"
    told = subprocess.run(
        [p4soft, "run", __file__, "--port", "1=lo"],  # it looks whether there is one
        capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"}, check=False,
    )  # fmt: skip
    remedy = f"cmake --install build --component softswitch --prefix {prefix}"
    assert f"there is no softswitch in {prefix}/bin, nor in PATH" in told.stderr
    assert told.stderr.endswith(f"run: make setup softswitch && {remedy}\n")
    subprocess.run(remedy.split(), cwd=REPOSITORY, check=True, capture_output=True)
    run = start("--cache-dir", tmp_path / "cache", p4soft=[*BARE, p4soft])
    assert run.said["control"].startswith(f"{prefix}/bin/nodectl ")
    assert_forwards(run, links)

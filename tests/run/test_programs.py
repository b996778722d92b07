"""Copies of programs on hosts: which differ, how they are replaced, what they need."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest
from ansible.playbook.play_context import PlayContext
from ansible.plugins.loader import init_plugin_loader

from turntable_core import programs, systems
from turntable_core.connections import HostConnections
from turntable_core.errors import PhaseError, TurntableError
from turntable_core.testbed import read_testbed

from .testbeds import GROUPS, hostvars

REPOSITORY = Path(__file__).resolve().parents[2]

# Of Debian's ldd 2.36, addresses shortened.
LDD = """\
./supervisor:
\tlinux-vdso.so.1 (0x00007ffc)
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f1a)
\t/lib64/ld-linux-x86-64.so.2 (0x00007f1b)
./kvserver:
\tlinux-vdso.so.1 (0x00007ffd)
\tlibrocksdb.so.7.8 => not found
\tlibstdc++.so.6 => /lib/x86_64-linux-gnu/libstdc++.so.6 (0x00007f2a)
./nocache.bfrt.json:
\tnot a dynamic executable
"""
LDD_OF_NEWER_PROGRAM = """\
./kvclient: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by ./kvclient)
\tlinux-vdso.so.1 (0x00007ffd)
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f1a)
"""


def shell(command: str) -> str:
    return subprocess.run(
        ["/bin/sh", "-c", command], capture_output=True, text=True, check=True
    ).stdout


def test_digests_are_those_of_the_files_that_exist(tmp_path: Path) -> None:
    (tmp_path / "one two").write_bytes(b"abc")
    command = programs.digest_command(str(tmp_path), ["one two", "missing"])
    # FIPS 180-2, appendix B.1
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert programs.parse_digests(shell(command)) == {"one two": expected}
    assert programs.parse_digests(shell(programs.digest_command("/no/such", ["one"]))) == {}


def test_an_installed_program_replaces_one_that_runs(tmp_path: Path) -> None:
    staged, there = tmp_path / "staged", tmp_path / "deep/bin"
    staged.mkdir()
    shutil.copy("/bin/cat", staged / "program")
    shell(programs.install_command(str(staged), str(there), ["program"]))
    running = subprocess.Popen([there / "program"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    shutil.copy("/bin/echo", staged / "program")
    # Writing into a file that runs is refused ("text file busy").
    shell(programs.install_command(str(staged), str(there), ["program"]))
    assert shell(f"{there}/program new") == "new\n"
    assert running.communicate(b"old")[0] == b"old"
    assert [path.name for path in there.iterdir()] == ["program"]


def test_missing_libraries_are_named() -> None:
    assert programs.missing_libraries(LDD) == ["librocksdb.so.7.8"]
    assert programs.missing_libraries(LDD_OF_NEWER_PROGRAM) == ["libc.so.6: version `GLIBC_2.38'"]


def test_what_the_loader_finds_is_not_missing() -> None:
    assert programs.missing_libraries(shell(programs.libraries_command("/bin", ["cat"]))) == []


def test_package_is_that_of_the_controllers_library() -> None:
    assert programs.package_of("libc.so.6", Path("/bin/cat")) == "libc6"
    assert programs.package_of("libnothing.so.1", Path("/bin/cat")) is None


def test_a_program_that_is_not_built_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "here").write_bytes(b"")
    with pytest.raises(TurntableError, match=r"no gone; expected .* make build"):
        programs.digests_of_build(tmp_path, ["here", "gone"])
    digest = hashlib.sha256(b"").hexdigest()
    assert programs.digests_of_build(tmp_path, ["here"]) == {"here": digest}


def test_a_run_needs_the_programs_of_the_build_on_every_host(tmp_path: Path) -> None:
    init_plugin_loader()
    build = tmp_path / "build"
    files = ("supervisor", "nodectl", "sender", "receiver", "keeper", "softswitch", "agent")
    for path in [*(build / "bin" / name for name in files), build / "lib/p4/plain.so"]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.name)
    variables = hostvars()
    for name in variables:
        shutil.copytree(build, tmp_path / name)
        variables[name] |= {
            "inventory_hostname": name,
            "ansible_connection": "local",
            "turntable_bin_dir": str(tmp_path / name / "bin"),
            "turntable_p4_dir": str(tmp_path / name / "lib/p4"),
        }
    testbed = read_testbed(variables, GROUPS)

    def require() -> None:
        programs.require_build(
            HostConnections(PlayContext(), variables), testbed, systems.find("fake"), build
        )

    require()
    (tmp_path / "sender1/bin/sender").write_text("older")
    (tmp_path / "switch0/lib/p4/plain.so").unlink()
    with pytest.raises(PhaseError) as raised:
        require()
    assert raised.value.failure_class == "environment"
    assert str(raised.value).splitlines()[:-1] == [
        f"host switch0: {tmp_path}/switch0/lib/p4/plain.so is missing",
        f"host sender1: {tmp_path}/sender1/bin/sender is another build",
    ]
    # Not asked: they use the build itself, and cannot be reached.
    near = [
        host | {"turntable_bin_dir": str(build / "bin"), "ansible_connection": "pigeon"}
        for host in variables.values()
    ]
    testbed = read_testbed(dict(zip(variables, near, strict=True)), GROUPS)
    require()
    (build / "bin/receiver").unlink()
    to_do = "make programs SYSTEM=fake"
    with pytest.raises(TurntableError, match=f"build/bin: no receiver; expected .* {to_do}"):
        require()

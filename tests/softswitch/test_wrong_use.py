"""Whatever is wrong: what, where, what was expected, what to do, and an exit status."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import pytest
from packet.live_switch import Links

from .conftest import P4SOFT, Command, Start


def run(*words: str | Path, **environment: str) -> tuple[int, str]:
    done = subprocess.run(
        [*P4SOFT, "run", *words],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=60,
        check=False,
    )
    assert done.stdout == ""
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "--port is missing: expected at least one, for instance --port 1=veth1"),
        (["--port", "veth1"], "--port veth1: expected NUMBER=INTERFACE, for instance --port 1="),
        (["--port=-1=lo"], "--port -1=lo: expected NUMBER=INTERFACE"),
        (["--port", "-1=lo"], "--port -1=lo: expected NUMBER=INTERFACE"),
        (["--port", "1=lo", "-I", "/nothere"], "-I: there is no directory /nothere; expected one"),
        (["--port", "1="], "--port 1=: expected NUMBER=INTERFACE"),
        (["--cpu-port", "x=lo", "--port", "1=lo"], "--cpu-port x=lo: expected NUMBER=INTERFACE"),
        (["--port", "511=lo", "--port", "512=b"], "port 512=b: expected a number from 0 to 511 "),
        (["--port", "196=lo"], "expected a number from 0 to 511 but 68 to 71 of each"),
        (["--port", "1=lo", "--port", "1=b"], "port 1=b: 1=lo is a port already"),
        (["--port", "1=lo", "--cpu-port", "2=lo"], "port 2=lo: 1=lo is a port already"),
        (["--port", "1=lo", "--bfrt", "here"], "--bfrt here: expected ADDRESS or ADDRESS:PORT"),
        (["--port", "1=lo", "--bfrt", "127.0.0.1:99999"], "for instance 127.0.0.1:50052, or off"),
        (["--port", "1=lo", "--p4runtime", ":1"], "--p4runtime :1: expected ADDRESS"),
        (
            ["--port", "1=lo", "--bfrt", "0.0.0.0"],
            "--bfrt 0.0.0.0: this is every network of the host",
        ),
        (
            ["--port", "1=lo", "--p4runtime", "[::]:1"],
            "expected one address, for instance 127.0.0.1:9559",
        ),
        (
            ["--port", "255=lo", "--port", "256=b", "--pipes", "2"],
            "port 256=b: of pipe 2, and --pipes 2 has those from 0 to 1; expected a number below "
            "256, or more pipes",
        ),
        (
            ["--port", "1=lo", "--cpu-port", "320=b", "--pipes", "2"],
            "port 320=b: of pipe 2, and --pipes 2 has",
        ),
        (["--cpu-port", "lo", "--port", "1=lo"], "for instance --cpu-port 64=veth1"),
        (
            ["--port", "1=b", "--cpu-interface", "lo"],
            "--cpu-interface lo: it is the other end of --cpu-port 64=INTERFACE; add that",
        ),
        (
            ["--port", "1=b", "--cpu-port", "64=lo", "--cpu-interface", "lo"],
            "--cpu-interface lo: this is port 64=lo; expected the other end of it",
        ),
        (
            ["--port=1=b", "--cpu-port=64=c", "--cpu-interface=lo", "--p4runtime=off"],
            "--cpu-interface lo: packets in and out are P4Runtime's; leave out --p4runtime off",
        ),
        (["--port", "1=lo", "--tarce"], "unrecognized arguments: --tarce; p4soft run --help says"),
        (["--port", "1=lo", "-D", "1X"], "'1X' is not NAME or NAME=VALUE"),
    ],
)  # fmt: skip
def test_wrong_usage(source: Path, words: list[str], says: str) -> None:
    status, errors = run(source, *words)
    assert says in errors
    assert status == 2


def test_an_interface_that_is_missing_is_named_with_those_that_are_there(source: Path) -> None:
    status, errors = run(source, "--port", "3=nosuch0")
    assert "port 3=nosuch0: there is no interface nosuch0 in this network namespace" in errors
    assert "there are " in errors and "lo" in errors
    assert "ip link add nosuch0 type veth peer name nosuch0-peer" in errors
    assert status == 1


def may_open_packet_sockets() -> bool:
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    except PermissionError:
        return False
    return True


needs_root = pytest.mark.skipif(not may_open_packet_sockets(), reason="opens packet sockets")


@needs_root
@pytest.mark.parametrize("capability", ["net_raw", "net_admin"])
def test_a_user_who_may_not_open_packet_sockets_is_told(source: Path, capability: str) -> None:
    drop = ["setpriv", f"--bounding-set=-{capability}", f"--inh-caps=-{capability}"]
    done = subprocess.run(
        [*drop, *P4SOFT, "run", source, "--port", "1=lo"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "expected root, or the capabilities CAP_NET_RAW and CAP_NET_ADMIN" in done.stderr
    assert done.returncode == 1


@needs_root
@pytest.mark.parametrize("option", ["--pcap-dir", "--cache-dir"])
def test_captures_and_the_cache_need_a_directory(
    build_dir: Path, source: Path, tmp_path: Path, option: str
) -> None:
    (file := tmp_path / "file").touch()
    include = source.parent / "include"
    status, errors = run(source, "-I", include, "--port", "1=lo", option, file)
    assert errors == (
        f"p4soft: {option} {file}: File exists; expected a directory, or a place for one\n"
    )
    assert status == 2


@needs_root
def test_no_compiler(build_dir: Path, source: Path) -> None:
    status, errors = run(source, "--port", "1=lo", "--compiler", "nosuch++")
    assert "there is no C++ compiler: nosuch++ not found in PATH" in errors
    assert "apt-get install g++" in errors
    assert status == 1
    assert run(source, "--port", "1=lo", CXX="/nowhere/g++") == (
        1, errors.replace("nosuch++", "/nowhere/g++")
    )  # fmt: skip


@needs_root
def test_nothing_compiled_yet(source: Path, tmp_path: Path) -> None:
    status, errors = run(
        source, "--port", "1=lo", TURNTABLE_BUILD_DIR=str(tmp_path), PATH="/usr/bin:/bin"
    )
    assert f"there is no softswitch in {tmp_path}/bin, nor in PATH; run in " in errors
    assert "make setup softswitch" in errors
    assert status == 1


@needs_root
def test_a_program_that_is_refused(build_dir: Path, source: Path) -> None:
    status, errors = run(source, "--port", "1=lo")
    assert f"{source}:" in errors
    assert "error: cannot find 'out.p4' in " in errors
    assert "add its directory with -I" in errors
    assert status == 1


@pytest.mark.parametrize("command", ["run", "compile", "translate"])
def test_the_program_is_a_file(source: Path, tmp_path: Path, command: str) -> None:
    none = tmp_path / "none.p4"
    for program, says in (
        (none, f"there is no file {none}; expected a program's top file"),
        (source.parent, f"{source.parent} is a directory; expected a program's top file, for "),
    ):
        done = subprocess.run(
            [*P4SOFT, command, program, "--output", tmp_path] if command != "run"
            else [*P4SOFT, command, program, "--port", "1=lo"],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert says in done.stderr
        assert done.returncode == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("header_type h_t { fields { x : 8; } }\n", "1:1: error: 'header_type' is P4_14, and p4"),
        ("#include <tofino/constants.p4>\n", "; it is one of P4_14, and p4soft translates P4_16"),
    ],
)
def test_a_p4_14_program_is_named_as_such(tmp_path: Path, text: str, says: str) -> None:
    (program := tmp_path / "old.p4").write_text(text)
    done = subprocess.run(
        [*P4SOFT, "translate", program, "--output", tmp_path],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert says in done.stderr
    assert "p4test --std p4-14" in done.stderr
    assert done.returncode == 1


def test_what_softswitch_refuses_is_said_by_it(
    build_dir: Path, links: Links, source: Path, tmp_path: Path
) -> None:
    done = subprocess.run(
        [
            "ip", "netns", "exec", links.namespace, *P4SOFT, "run", source,
            "-I", source.parent / "include", "--cache-dir", tmp_path, "--port", "1=s1",
            "--", "--port-driver", "nosuch",
        ],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert "softswitch: --port-driver: nosuch not in {af_packet,af_xdp}" in done.stderr
    assert "\nRun softswitch --help for more information.\n" in done.stderr
    assert "p4soft: softswitch ended with status 2 before it was ready" in done.stderr
    assert done.returncode == 1


@pytest.mark.parametrize("driver", ["af_packet", "af_xdp"])
def test_an_interface_that_is_a_port_of_another_switch(
    start: Start, links: Links, arguments: Command, driver: str
) -> None:
    """Both would receive each frame."""
    start("--bfrt", "off", "--p4runtime", "off")
    done = subprocess.run(
        [
            "ip", "netns", "exec", links.namespace, *P4SOFT, *arguments,
            "--bfrt", "off", "--p4runtime", "off", "--", "--port-driver", driver,
        ],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert "softswitch: port 1: interface s1 is a port already, of this softswitch or another" in (
        done.stderr
    )
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("option", "server", "other"),
    [("--bfrt", "bfrt-server", "--p4runtime"), ("--p4runtime", "p4runtime-server", "--bfrt")],
)
def test_a_port_that_another_switch_has(
    start: Start, links: Links, arguments: Command, option: str, server: str, other: str
) -> None:
    first = start(option, "127.0.0.1:0", other, "off")
    taken = first.said[{"--bfrt": "BF Runtime", "--p4runtime": "P4Runtime"}[option]].split(",")[0]
    others = [word for word in arguments if not str(word).startswith("--port=")]
    done = subprocess.run(
        [
            "ip", "netns", "exec", links.namespace, *P4SOFT, *others, "--port=1=t1",
            option, taken, other, "off",
        ],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert f"{server}: cannot listen on {taken}: Address already in use" in done.stderr
    assert "no switch" not in done.stderr, "it had one"
    assert done.stderr.endswith(
        f"p4soft: {server} ended with status 1 before it was ready (its messages: above); "
        f"{option} 127.0.0.1:0 takes a port that is free\n"
    )
    assert done.returncode == 1

"""`p4soft run`: a program forwards, is watched, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from packet.live_switch import DEADLINE_S, Links

from p4soft.run import node

from .conftest import IN, OUT, P4SOFT, Command, Start
from .processes import await_end, await_file, children

FRAME = bytes(range(60))


def pcap_frames(path: Path) -> list[bytes]:
    """By the format's description: 24 bytes, then for each frame 16 bytes with its length."""
    content = path.read_bytes()
    frames, at = [], 24
    while at < len(content):
        _, _, captured, length = struct.unpack_from("=4I", content, at)
        assert captured == length
        frames.append(content[at + 16 : at + 16 + captured])
        at += 16 + captured
    return frames


def test_frames_pass_and_are_captured(start: Start, links: Links, tmp_path: Path) -> None:
    captures = tmp_path / "captures"
    run = start("--pcap-dir", captures)
    links.sockets[IN].send(FRAME)
    assert links.sockets[OUT].recv(100) == FRAME
    assert pcap_frames(captures / f"s{IN}_in.pcap") == [FRAME]
    assert pcap_frames(captures / f"s{OUT}_out.pcap") == [FRAME]
    assert pcap_frames(captures / f"s{OUT}_in.pcap") == []
    assert run.end() == 0


def test_it_says_where_everything_is(start: Start) -> None:
    run = start()
    assert run.said["program"].startswith("forward, translated in ")
    # Where it was not in the cache.
    assert ("compiling" in run.said) == ("compiled in" in run.said["program"])
    assert run.said["ports"] == f"{IN} = s{IN}, {OUT} = s{OUT}"
    for server in ("BF Runtime", "P4Runtime"):
        address, _, program = run.said[server].partition(", ")
        assert program == "program forward"
        assert int(address.removeprefix("127.0.0.1:")) > 0
    assert Path(run.said["P4Info"]).read_text().count("pkg_info") == 1
    assert node.ask(run.control_directory, "softswitch", "info")["program"] == "forward"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_nothing_is_left_when_it_is_ended(start: Start, number: signal.Signals) -> None:
    run = start()
    pids = children(run.process.pid)
    assert len(pids) == 3, "the switch and two servers"
    directory = run.control_directory
    assert directory.is_dir()
    assert run.end(number) == 0
    await_end(pids)
    assert not directory.exists()


def test_a_switch_that_hangs_is_killed_and_its_servers_end_with_it(start: Start) -> None:
    run = start()
    pids = children(run.process.pid)
    os.kill(pids[0], signal.SIGSTOP)
    assert run.end() == 0
    await_end(pids)


def test_nothing_runs_when_it_was_killed(start: Start) -> None:
    run = start()
    pids = children(run.process.pid)
    directory = run.control_directory
    run.process.kill()
    await_end(pids)
    assert directory.is_dir(), "nobody was there to remove it"
    again = start()
    assert not directory.exists(), "the next one does"
    assert again.end() == 0


def test_an_end_of_one_is_the_end_of_all(start: Start) -> None:
    run = start()
    pids = children(run.process.pid)
    node.ask(run.control_directory, "bfrt-server", "shutdown")
    _, errors = run.process.communicate(timeout=DEADLINE_S)
    assert run.process.returncode == 1
    assert "p4soft: bfrt-server ended with status 0" in errors
    await_end(pids)


def test_the_number_of_pipes_is_that_of_switch_and_server(start: Start) -> None:
    run = start("--pipes", "4")
    assert node.ask(run.control_directory, "softswitch", "info")["pipes"] == 4
    commands = [
        Path(f"/proc/{pid}/cmdline").read_text().split("\0") for pid in children(run.process.pid)
    ]
    [server] = [words for words in commands if words[0].endswith("bfrt-server")]
    assert server[server.index("--pipes") + 1] == "4"


def test_servers_may_be_left_out(start: Start) -> None:
    run = start("--bfrt", "off", "--p4runtime", "off")
    assert "BF Runtime" not in run.said
    assert len(children(run.process.pid)) == 1


def test_options_of_softswitch_follow(start: Start) -> None:
    run = start("--trace", "count=0", "--", "--frames", "512")
    assert node.ask(run.control_directory, "softswitch", "trace_read")["traces"] == []


# The compiler has a child of its own, as g++ has, and a temporary file; it writes both ids.
ENDLESS_COMPILER = """\
#!/bin/sh
[ "$1" != --version ] || { echo compiler 1; exit; }
mktemp >/dev/null
sleep 1000 & echo "$$ $!" >"$PIDS"; wait
"""


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def compiling(
    build_dir: Path,
    links: Links,
    arguments: Command,
    cache: Path,
    tmp_path: Path,
) -> Iterator[tuple[subprocess.Popen[bytes], list[int]]]:
    """`p4soft run` while it compiles, with the ids of its compiler's processes."""
    compiler, pids = tmp_path / "compiler", tmp_path / "pids"
    compiler.write_text(ENDLESS_COMPILER)
    compiler.chmod(0o755)
    options = ["--cache-dir", cache, "--compiler", compiler]
    process = subprocess.Popen(
        ["ip", "netns", "exec", links.namespace, *P4SOFT, *arguments, *options],
        env={**os.environ, "PIDS": str(pids)},
    )
    try:
        yield process, [int(word) for word in await_file(pids).split()]
    finally:
        process.kill()
        process.wait(DEADLINE_S)


def test_a_killed_compilation_leaves_nothing(
    compiling: tuple[subprocess.Popen[bytes], list[int]], start: Start, cache: Path
) -> None:
    process, pids = compiling
    process.kill()
    process.wait(DEADLINE_S)
    await_end(pids)
    # What it left in the cache is removed by the next one.
    assert len(list(cache.glob("p4soft-*/*/tmp.*"))) == 1
    run = start("--cache-dir", cache)
    assert list(cache.glob("p4soft-*")) == []
    assert run.end() == 0


def test_ctrl_c_ends_a_compilation(
    compiling: tuple[subprocess.Popen[bytes], list[int]], cache: Path
) -> None:
    process, pids = compiling
    process.send_signal(signal.SIGINT)
    assert process.wait(DEADLINE_S) == 128 + signal.SIGINT
    await_end(pids)
    assert list(cache.iterdir()) == []

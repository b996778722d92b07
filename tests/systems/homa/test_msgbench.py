"""`msgbench` as it is typed: a server and a client over loopback, and what it refuses."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kv.ports import free_port
from turntable.systems.homa.artifact.baseline import read_baseline
from turntable.systems.homa.artifact.experiment import read_experiment
from turntable.systems.homa.msgbench import seconds

REPOSITORY = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build"))
MSGBENCH = (sys.executable, "-m", "turntable.systems.homa.msgbench")
HOST = "127.0.0.1"
DEADLINE_S = 240
# Long ticks: a busy machine is not taken for a lost packet.
TRANSPORT = ("--tick-ms", "100", "--build", str(BUILD))

TABLE = "115\n50 0.5\n100 0.9\n500 1.0\n"  # the mean comes first


def msgbench(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*MSGBENCH, *map(str, words)],
        capture_output=True, text=True, check=False, timeout=DEADLINE_S,
    )  # fmt: skip


@pytest.fixture(scope="module")
def sizes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sizes") / "three.txt"
    path.write_text(TABLE)
    return path


@contextlib.contextmanager
def served(client_port: int, *words: str | Path) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """Its port, and the server, ended with Ctrl-C."""
    port = free_port()
    argv = [*MSGBENCH, "server", "--address", HOST, "--port", port, "--clients"]
    argv += [f"{HOST}:{client_port}", *TRANSPORT, *words]
    process = subprocess.Popen(list(map(str, argv)), stdout=subprocess.PIPE, text=True)
    try:
        assert "Ctrl-C ends it" in process.stdout.readline()
        yield port, process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(DEADLINE_S)


@pytest.fixture(scope="module")
def client(sizes: Path) -> Iterator[list[str]]:
    """How a client of a server that is up is called."""
    client_port = free_port()
    with served(client_port, "--workload", sizes) as (port, _):
        own = ["--address", HOST, "--port", str(client_port)]
        yield [*own, "--servers", f"{HOST}:{port}", *TRANSPORT]


def test_baseline_then_load_then_slowdowns(client: list[str], sizes: Path, tmp_path: Path) -> None:
    files = tmp_path / "files"
    done = msgbench("client", *client, "--workload", sizes, "--unloaded", "5", "--output", files)
    assert done.returncode == 0, done.stderr
    baseline = read_baseline(files / "homa_three_baseline.txt")
    assert list(baseline.ns_by_bytes) == [50, 100, 500]

    # 1 Mb/s of 115 bytes on average: 1,087 calls/s. Without a link it is 0.01 % of 10 Gb/s.
    rate = ("--gbps", "0.001", "--seconds", "1.5")
    done = msgbench("client", *client, "--workload", sizes, *rate, "--output", files)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    told = [line for line in lines if re.match(r" +[12] s .* Kops/s .* Gbps out .* Gbps in", line)]
    assert len(told) == 2
    assert "slowdown P50" in done.stdout
    counts = _counts(done.stdout)
    assert counts["answered"] == counts["offered"] > 0
    assert counts["wrong"] == 0

    rows = read_experiment(files / "HomaP8_three_0.01_experiment.txt")
    assert sum(row.samples for row in rows) == counts["answered"]
    assert [row.size for row in rows] == [50, 100, 500]

    shown = msgbench("import", files, "--figure", tmp_path / "slowdown.png")
    assert shown.returncode == 0, shown.stderr
    assert "HomaP8" in shown.stdout
    assert (tmp_path / "slowdown.png").stat().st_size > 0
    again = msgbench("client", "--address", HOST, "--plot-only", "--output", files)
    assert again.stdout.splitlines()[:4] == shown.stdout.splitlines()[:4]
    assert (files / "slowdown.svg").is_file()


def _counts(text: str) -> dict[str, int]:
    (line,) = (line for line in text.splitlines() if " offered, " in line)
    found = re.findall(r"(\d[\d,]*) (\w+)", line)
    return {name: int(number.replace(",", "")) for number, name in found}


def test_echoes_of_five_sizes(client: list[str]) -> None:
    done = msgbench("echo-basic", *client, "--count", "3")
    assert done.returncode == 0, done.stderr
    names = [line.split()[0] for line in done.stdout.splitlines()]
    suffixes = ("", ".min", ".9", ".99", ".999")
    expected = []
    for size in ("100", "1K", "10K", "100K", "1M"):
        expected += [*(f"echo{size}{suffix}" for suffix in suffixes), f"echoBw{size}"]
    assert names == expected


def test_an_interrupted_client_shows_what_it_measured(client: list[str], sizes: Path) -> None:
    words = ["client", *client, "--workload", sizes, "--gbps", "0.001", "--seconds", "600"]
    process = subprocess.Popen([*MSGBENCH, *map(str, words)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().startswith("    1 s")
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=DEADLINE_S)
    assert "interrupted: what was measured until now" in rest
    counts = _counts(rest)
    assert counts["offered"] > 0
    assert process.returncode == (0 if counts["answered"] else 1)


def test_answers_of_100_bytes(sizes: Path) -> None:
    client_port = free_port()
    with served(client_port, "--priorities", "1", "--one-way") as (port, _):
        own = ["--address", HOST, "--port", str(client_port), "--servers", f"{HOST}:{port}"]
        rate = ["--workload", "5000", "--gbps", "0.004", "--seconds", "1", "--one-way"]
        done = msgbench("client", *own, *rate, "--priorities", "1", *TRANSPORT)
    assert done.returncode == 0, done.stderr
    assert _counts(done.stdout)["wrong"] == 0


def test_a_server_ends_with_its_node() -> None:
    with served(free_port(), "--priorities", "1") as (port, process):
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert len(children) == 1
    assert process.returncode == 0
    assert not Path(f"/proc/{children[0]}").exists()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as again:
        again.bind((HOST, port))


def test_a_node_ends_with_a_server_that_is_killed() -> None:
    with served(free_port(), "--priorities", "1") as (_, process):
        (child,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        ended = os.pidfd_open(int(child))
        process.kill()
        process.wait()
        is_over, _, _ = select.select([ended], [], [], DEADLINE_S)
        os.close(ended)
        assert is_over, "the node lives on"


CLIENT = ["client", "--address", HOST, "--servers", f"{HOST}:1", "--build", str(BUILD)]
W3 = ["--workload", "W3"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([*CLIENT, "--workload", "W9", "--gbps", "1"], "--workload: 'W9' is not accepted; expect"),
        ([*CLIENT, "--workload", "0", "--gbps", "1"], "messages of 0 bytes"),
        ([*CLIENT, *W3, "--gbps", "0"], "--gbps: '0' is not accepted; expected a number above 0"),
        ([*CLIENT, *W3, "--gbps", "nan"], "--gbps: 'nan' is not accepted"),
        ([*CLIENT, *W3], "expected --gbps, --load, or --unloaded"),
        ([*CLIENT, *W3, "--load", "0.8"], "expected --link-gbps with it"),
        ([*CLIENT, *W3, "--gbps", "1", "--priorities", "9"], "--priorities"),
        ([*CLIENT, "--plot-only"], "--output is missing"),
        (["client", "--address", HOST, *W3, "--gbps", "1"], "--servers is missing"),
        (["client", "--address", "host", *W3], "'host' is not accepted; expected an IPv4 address"),
        (["server", "--address", HOST, "--clients", HOST], "expected IP:PORT"),
        (["server", "--address", HOST, "--clients", f"{HOST}:1"], "the clients' --workload too"),
        ([*CLIENT, *W3, "--gbps", "1", "--build", "/nowhere"], "/nowhere/bin/homa-sim"),
        (["import", "/nowhere"], "/nowhere: no such directory"),
        (["export", "nowhere", "/tmp"], "no run 'nowhere' of any experiment"),
    ],
)
def test_what_cannot_be_is_refused(words: list[str], says: str) -> None:
    done = msgbench(*words)
    assert done.returncode == 2, done.stdout
    assert says in " ".join(done.stderr.split())


def test_a_baseline_without_the_workloads_sizes_is_refused_before_anything_is_sent(
    tmp_path: Path,
) -> None:
    baseline = tmp_path / "homa_W3_baseline.txt"
    baseline.write_text("32 4.4 us\n20000000 34.1 ms\n")
    done = msgbench(*CLIENT, *W3, "--gbps", "0.01", "--baseline", baseline)
    assert done.returncode == 2
    assert f"{baseline}: has round trips of 32 to 20000000 bytes, and messages have 3 byt" in (
        done.stderr
    )


def test_a_port_in_use_is_named() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind((HOST, 0))
        port = taken.getsockname()[1]
        own = ["--address", HOST, "--port", str(port), "--clients", f"{HOST}:1"]
        done = msgbench("server", *own, "--priorities", "1", *TRANSPORT)
    assert done.returncode == 2
    assert f"{HOST}:{port}" in done.stderr


def test_a_servers_silence_is_no_answer(sizes: Path) -> None:
    """Status 1: nothing was measured."""
    own = ["--address", HOST, "--port", str(free_port()), "--servers", f"{HOST}:{free_port()}"]
    rate = ["--workload", "100", "--gbps", "0.0001", "--seconds", "0.1"]
    done = msgbench("client", *own, *rate, "--tick-ms", "1", "--build", BUILD)
    assert done.returncode == 1
    assert _counts(done.stdout)["answered"] == 0


def test_a_second_says_what_cp_node_does() -> None:
    """2,500 calls of 1,000 bytes in half a second, answered with 100 bytes each."""
    row = {
        "second": 3,
        "answered": 2500,
        "answered_bytes": 2_500_000,
        "open": 57,
        "waiting_max": 7,
        "rtt_p50_ns": 4_300,
        "rtt_p99_ns": 14_600,
        "rtt_p999_ns": 20_100,
    }
    line, lag = seconds.lines_of(row, length_s=0.5, response_bytes=100)
    assert " ".join(line.split()) == (
        "4 s 5.00 Kops/s 0.0400 Gbps out 0.0040 Gbps in RTT (us) P50 4.3 P99 14.6 P99.9 20.1 "
        "57 outstanding RPCs"
    )
    assert "Lag due to overload: up to 7 RPCs" in lag

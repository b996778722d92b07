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
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kv.ports import free_port
from turntable.systems.homa.artifact.baseline import read_baseline
from turntable.systems.homa.artifact.directory import slowdowns_in
from turntable.systems.homa.artifact.experiment import read_experiment
from turntable.systems.homa.msgbench import client as client_command
from turntable.systems.homa.msgbench import files, node, seconds, transport, unloaded
from turntable_core.errors import TurntableError

REPOSITORY = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build"))
MSGBENCH = (sys.executable, "-m", "turntable.systems.homa.msgbench")
HOST = "127.0.0.1"
DEADLINE_S = 240
# Long ticks: a busy machine is not taken for a lost packet.
TRANSPORT = ("--tick-ms", "100", "--build", str(BUILD))

TABLE = "115\n50 0.5\n100 0.9\n500 1.0\n"  # the mean comes first


# The last two hundredths have 500 and 40,000 bytes: a row of several sizes.
BASELINE = "homa_wide_baseline.txt"
WIDE = "867.5\n50 0.5\n500 0.985\n40000 1.0\n"


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


def test_the_largest_messages_have_the_slowdowns_of_their_calls(
    client: list[str], tmp_path: Path
) -> None:
    """A call's slowdown is over the baseline of its own size: no less than over the largest of its
    row's baselines, and no more than over the least.
    """
    table, files = tmp_path / "wide.txt", tmp_path / "files"
    table.write_text(WIDE)
    own = ("client", *client, "--workload", table, "--output", files)
    assert msgbench(*own, "--unloaded", "20").returncode == 0
    done = msgbench(*own, "--gbps", "0.005", "--seconds", "2")
    assert done.returncode == 0, done.stderr
    (path,) = files.glob("*_experiment.txt")
    several = [row for row in read_experiment(path) if row.least_size is not None]
    assert [(row.least_size, row.size) for row in several] == [(500, 40_000)]
    (last,) = (row for row in slowdowns_in(files) if row.size == 40_000)
    idle_us = [ns / 1e3 for ns in read_baseline(files / BASELINE).ns_by_bytes.values()][1:]
    for slowdown, us in ((last.median, several[0].median_us), (last.p99, several[0].p99_us)):
        assert 0.99 * us / max(idle_us) <= slowdown <= 1.01 * us / min(idle_us)
    # A quarter of the row's calls have 500 bytes.
    assert last.mean > 1.05 * several[0].average_us / max(idle_us)

    again = msgbench(*own, "--gbps", "0.005", "--seconds", "1")
    assert again.returncode == 2
    assert f"{path} is there already" in again.stderr
    replaced = msgbench(*own, "--gbps", "0.005", "--seconds", "1", "--replace")
    assert replaced.returncode == 0, replaced.stderr


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
BASIC, TCP = ["--protocol", "basic"], ["--protocol", "tcp"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([*CLIENT, "--workload", "W9", "--gbps", "1"], "--workload: 'W9' is not accepted; expect"),
        ([*CLIENT, "--workload", "0", "--gbps", "1"], "messages of 0 bytes"),
        ([*CLIENT, *W3, "--gbps", "0"], "--gbps: '0' is not accepted; expected a number above 0"),
        ([*CLIENT, *W3, "--gbps", "nan"], "--gbps: 'nan' is not accepted"),
        ([*CLIENT, *W3], "expected --gbps, --load, or --unloaded"),
        ([*CLIENT, *W3, "--load", "20"], "--load: '20' is not accepted; expected a share of the"),
        ([*CLIENT, *W3, "--load", "0.8"], "expected --link-gbps with it"),
        ([*CLIENT, *W3, "--gbps", "1", "--priorities", "9"], "--priorities"),
        ([*CLIENT, "--plot-only"], "--output is missing"),
        (
            ["client", "--address", HOST, *W3, "--gbps", "1"],
            "msgbench client: --servers is missing",
        ),
        (
            [*CLIENT, *W3, "--gbps", "1", "--rtt-bytes", "30000"],
            "msgbench client: --rtt-bytes: 30000 is not accepted; expected whole packets of 1442 "
            "bytes, such as 28840 or 30282",
        ),
        ([*CLIENT, *W3, "--gbps", "1", "--rtt-bytes", "900"], "1442 bytes, such as 1442"),
        ([*CLIENT, *W3, "--gbps", "1", "--payload-bytes", "63"], "63 is not accepted; expected 64"),
        ([*CLIENT, *W3, "--gbps", "1", "--payload-bytes", "8901"], "expected 64 to 8900"),
        ([*CLIENT, *W3, "--gbps", "1", *BASIC, "--priorities", "4"], "--priorities: does not app"),
        ([*CLIENT, *W3, "--gbps", "1", *TCP, "--priorities", "8"], "apply to --protocol tcp; leav"),
        (
            [*CLIENT, *W3, "--gbps", "1", *TCP, "--payload-bytes", "1470"],
            "--payload-bytes: does no",
        ),
        ([*CLIENT, *W3, "--gbps", "1", "--connections", "2"], "does not apply to --protocol homa"),
        ([*CLIENT, *W3, "--gbps", "1", "--unloaded", "2"], "--gbps: does not apply to --unloaded"),
        ([*CLIENT, "--workload", "9", "--gbps", "1", "--cap", "8"], "--cap: does not apply to a -"),
        ([*CLIENT, *W3, "--gbps", "1", "--output", "/dev/null"], "--output: /dev/null cannot be m"),
        (["client", "--address", "host", *W3], "'host' is not accepted; expected an IPv4 address"),
        (["server", "--address", HOST, "--clients", HOST], "expected IP:PORT"),
        (["server", "--address", HOST, "--clients", f"{HOST}:1"], "the clients' --workload too"),
        ([*CLIENT, *W3, "--gbps", "1", "--build", "/nowhere"], "/nowhere/bin/homa-sim"),
        (["import", "/nowhere"], "/nowhere: no such directory"),
        (["export", "nowhere", "/tmp"], "no run 'nowhere' of any experiment"),
        (["export", "nowhere", "/tmp"], "or the path of a run's directory that lies elsewhere"),
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
    assert "nothing was answered. Check that `msgbench server` runs at 127.0.0.1:" in done.stderr
    assert f"its --clients has {HOST}:{own[3]}" in done.stderr
    assert "Lag due to overload" not in done.stdout


def test_one_way_at_one_side_is_named() -> None:
    client_port = free_port()
    with served(client_port, "--priorities", "1") as (port, _):
        own = ["--address", HOST, "--port", str(client_port), "--servers", f"{HOST}:{port}"]
        rate = ["--workload", "5000", "--gbps", "0.004", "--seconds", "0.5", "--one-way"]
        done = msgbench("client", *own, *rate, "--priorities", "1", *TRANSPORT)
    assert done.returncode == 1
    assert "answers were wrong" in done.stderr
    assert "as this client is, which has --one-way" in done.stderr


def test_a_load_beyond_the_link_is_remarked(capsys: pytest.CaptureFixture[str]) -> None:
    client_command._remark_overload(Namespace(load=1.5, gbps=None, link_gbps=10.0))
    client_command._remark_overload(Namespace(load=None, gbps=12.0, link_gbps=10.0))
    remarks = capsys.readouterr().err.splitlines()
    assert [line.split(" is no less")[0] for line in remarks] == [
        "msgbench client: a load of 1.5",
        "msgbench client: a load of 1.2",
    ]
    client_command._remark_overload(Namespace(load=0.8, gbps=None, link_gbps=10.0))
    client_command._remark_overload(Namespace(load=None, gbps=12.0, link_gbps=None))
    assert not capsys.readouterr().err


def test_a_node_is_ready_when_somebody_listens(tmp_path: Path) -> None:
    path = tmp_path / "node.sock"
    assert not node._is_listened_to(path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as control:
        control.bind(str(path))
        assert path.exists()
        assert not node._is_listened_to(path)
        control.listen()
        assert node._is_listened_to(path)


def test_a_server_ends_with_sigterm_and_tells_its_sums() -> None:
    """Whatever a shell's background made of SIGINT."""
    with served(free_port(), "--priorities", "1") as (_, process):
        process.send_signal(signal.SIGTERM)
        rest, _ = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 0
    assert "0 calls served" in rest


def test_a_second_is_shown_once_though_the_node_tells_of_it_twice(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It does where it ends while it is asked."""
    options = Namespace(seconds=2.0, one_way=False)
    measurement = client_command._Measurement(options, None, None, None)
    measurement.show([SECOND | {"second": 0}])
    measurement.show([SECOND | {"second": 0}, SECOND | {"second": 1}])
    shown = [line[:7] for line in capsys.readouterr().out.splitlines() if " Kops/s" in line]
    assert shown == ["    1 s", "    2 s"]


def test_a_finished_measurement_is_not_replaced_unless_that_is_said(tmp_path: Path) -> None:
    files.require_place(tmp_path / "made/here", "file", replace_it=False)
    assert (tmp_path / "made/here").is_dir()
    (tmp_path / "file").write_text("finished")
    files.require_place(tmp_path, "file", replace_it=True)
    with pytest.raises(TurntableError, match=r"file is there already, .* or say --replace"):
        files.require_place(tmp_path, "file", replace_it=False)


def test_names_tell_one_way_and_other_sizes_apart() -> None:
    def name(**changed: object) -> str:
        given = {"workload": "w2", "one_way": False, "divide": None, "cap_bytes": None}
        return transport.workload_of(Namespace(**given | changed)).name

    assert name() == "W2"
    assert name(one_way=True) == "W2-oneway"
    assert name(divide=4.0, cap_bytes=1000) == "W2-divided4-capped1000"
    assert name(workload="100", one_way=True) == "100B-oneway"


def test_a_larger_size_that_took_less_is_remarked() -> None:
    found = {3: 16_100.0, 100: 31_700.0, 500: 13_800.0, 1000: 42_400.0}
    assert unloaded.falling(found).startswith(
        "100 bytes took 31.7 us at the least, and 500 bytes 13.8 us"
    )
    assert unloaded.falling({3: 16_000.0, 100: 15_500.0, 500: 31_000.0}) is None  # noise of 3 %


SECOND = {
    "second": 3,
    "answered": 2500,
    "answered_bytes": 2_500_000,
    "open": 57,
    "waiting_max": 7,
    "rtt_p50_ns": 4_300,
    "rtt_p99_ns": 14_600,
    "rtt_p999_ns": 20_100,
}


def test_low_rates_have_digits() -> None:
    """12 calls of 100 bytes in a second are 9.6 kb/s."""
    row = SECOND | {"answered": 12, "answered_bytes": 1200}
    line, _ = seconds.lines_of(row, length_s=1.0, response_bytes=0)
    assert "0.0000096 Gbps out" in line


def test_a_second_says_what_cp_node_does() -> None:
    """2,500 calls of 1,000 bytes in half a second, answered with 100 bytes each."""
    line, lag = seconds.lines_of(SECOND, length_s=0.5, response_bytes=100)
    assert " ".join(line.split()) == (
        "4 s 5.00 Kops/s 0.0400 Gbps out 0.0040 Gbps in RTT (us) P50 4.3 P99 14.6 P99.9 20.1 "
        "57 outstanding RPCs"
    )
    assert "Lag due to overload: up to 7 RPCs" in lag

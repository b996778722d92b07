"""The original's scripts: what their flags become, and what they write."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from argparse import Namespace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from turntable.systems.shadowfax.command import flags, log_directory, server, ycsb
from turntable_core.errors import TurntableError

GIB = 2**30
# A program that says its words, and ends as hlload does.
ECHO = """#!/bin/sh
echo "hlload: the load begins" >&2
echo "words: $*" >&2
cat "$(dirname "$0")/answer"
"""
# One that is told to end.
SERVES = """#!/bin/sh
trap 'echo ending >&2; exit 0' TERM
echo ready 22790
while :; do sleep 0.05; done
"""


def of_server(*words: str) -> Namespace:
    return server._parser().parse_args(["run", "--ip", "10.0.1.2", *words])


def of_ycsb(*words: str) -> Namespace:
    return ycsb._parser().parse_args(["run", "--servers", "10.0.1.2,10.0.1.3", *words])


def value_of(words: list[str], name: str) -> str:
    return words[words.index(name) + 1]


def program(directory: Path, text: str) -> Path:
    path = directory / "program"
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("words", "name", "value"),
    [
        (["--threads", "3"], "--threads", "3"),
        # 2^7 million buckets, 2^20 to the million.
        ([], "--index-bits", "27"),
        (["--buckets", "0"], "--index-bits", "20"),
        (["--logSizeGB", "0.5"], "--log-mb", "512"),
        (["--logDisk", "/data"], "--file", "/data/hlog"),
        (["--splits", "8"], "--range-check", "splits"),
        (["--splits", "8"], "--splits", "8"),
        (["--lock"], "--range-check", "lock"),
        (["--basePort", "30000"], "--base-port", "30000"),
        (["--mutableFraction", "0.5"], "--mutable-share", "0.5"),
        (["--metadata", "10.0.0.1:22700", "--secret", "s", "--id", "4"], "--number", "4"),
        (["--secret", "s"], "--secret", "s"),
    ],
)
def test_flags_of_the_server(words: list[str], name: str, value: str) -> None:
    assert value_of(server.arguments(of_server(*words)), name) == value


def test_a_server_without_a_number_has_16_bits_of_its_address() -> None:
    assert server.server_id(of_server()) == 1 * 256 + 2
    assert server.server_id(of_server("--id", "9")) == 9


def test_memory_is_that_of_index_and_log() -> None:
    # 2^7 x 2^20 x 64 bytes are 8 GiB, with the log 24: 80 % of 30.
    options = of_server()
    server.require_memory(options, 30 * GIB)
    with pytest.raises(
        TurntableError, match=r"index of 8\.6 GB.*log of 17\.2 GB.*at most 24\.7 GB"
    ):
        server.require_memory(options, int(28.7 * GIB))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--dfsKey", "x"], "--dfsKey: there is no tier of cloud storage"),
        (["--compile-blobs"], "--compile-blobs: there is no tier"),
        (["--splits", "8", "--lock"], "--lock and --splits: expected one"),
        (["--pinirq"], "--pinirq: interrupts are not"),
    ],
)
def test_what_a_server_has_not_is_refused_by_name(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    at = ["--logs", str(tmp_path / "logs"), "--logDisk", str(tmp_path / "storage")]
    assert server.main(["run", "--ip", "127.0.0.1", *at, *words]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert "expected" in error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("script", [server, ycsb])
def test_infiniband_without_a_device(
    script: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(flags, "RDMA_DEVICES", tmp_path / "none")
    assert script.main(["compile", "--compile-infrc"]) == 2
    assert "no RDMA device on this machine" in capsys.readouterr().err
    (tmp_path / "mlx5_0").mkdir()
    monkeypatch.setattr(flags, "RDMA_DEVICES", tmp_path)
    assert script.main(["compile", "--compile-infrc"]) == 2
    assert "there is mlx5_0, and servers speak TCP alone" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        # Little-endian batches: 16 bytes, then 17 for each request.
        ([], {"--batch": "1926", "--reads": "0", "--upserts": "0", "--seconds": "360"}),
        (["--batch-size", "4096"], {"--batch": "240"}),
        (["--batch-size", "1024"], {"--batch": "59"}),
        (["--compile-value", "256"], {"--batch": "123", "--value-bytes": "256"}),
        (["--type", "YCSB-A"], {"--reads": "0.5", "--upserts": "0.5"}),
        (["--type", "YCSB-B"], {"--reads": "0.95", "--upserts": "0.05"}),
        (["--type", "YCSB-C"], {"--reads": "1", "--upserts": "0"}),
        (["--type", "YCSB-D"], {"--reads": "0.95", "--upserts": "0.05"}),
        (["--nKeys", "7", "--threads", "2"], {"--keys": "7", "--threads": "2", "--workers": "2"}),
        ([], {"--servers": "10.0.1.2,10.0.1.3", "--pipeline": "2", "--keys": "250000000"}),
    ],
)
def test_flags_of_the_clients(words: list[str], expected: dict[str, str]) -> None:
    made = ycsb.arguments(of_ycsb(*words))
    assert {name: value_of(made, name) for name in expected} == expected


def test_filling_is_a_choice() -> None:
    assert ycsb.arguments(of_ycsb())[-1] == "--fill"
    assert ycsb.arguments(of_ycsb("--no-ycsb"))[-1] == "--fill-only"
    assert not {"--fill", "--fill-only"} & set(ycsb.arguments(of_ycsb("--no-fill")))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--loadFile", "a"], "expected both"),
        (["--splits", "8"], "server run --splits N"),
        (["--no-fill", "--no-ycsb"], "one of them at most"),
        (["--batch-size", "32"], "expected 33 to"),
        (["--batch-size", "2000000"], "to 1048576 bytes|to 1048"),
    ],
)
def test_flags_that_do_not_fit(words: list[str], says: str) -> None:
    with pytest.raises(TurntableError, match=says):
        ycsb.arguments(of_ycsb(*words))


def test_requests_of_a_file_are_as_many_as_are_said(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_bytes(bytes(80))
    files = ["--loadFile", str(keys), "--txnsFile", str(keys)]
    assert value_of(ycsb.arguments(of_ycsb(*files, "--nTxns", "10")), "--txns-file") == str(keys)
    with pytest.raises(TurntableError, match="has 80 bytes; expected 88: 8 for each of 11"):
        ycsb.arguments(of_ycsb(*files, "--nTxns", "11"))


def test_servers_without_a_metadata_service_are_shown_the_secret_too() -> None:
    assert value_of(ycsb.arguments(of_ycsb("--secret", "s")), "--secret") == "s"
    assert "--secret" not in ycsb.arguments(of_ycsb("--metadata", "10.0.0.1:1"))


def test_the_first_server_gives_to_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ycsb, "path_of", Path)
    cluster = ["--metadata", "10.0.0.1:1", "--secret", "s"]
    made = ycsb.migration(of_ycsb("--migrate", *cluster, "--migrate-percent", "25"))
    assert made[0] == "hlmigrate"
    assert [value_of(made, name) for name in ("--from", "--to", "--share")] == ["0", "1", "0.25"]
    assert ycsb.migration(of_ycsb(*cluster)) == []
    with pytest.raises(TurntableError, match="--metadata and --secret"):
        ycsb.migration(of_ycsb("--migrate"))
    with pytest.raises(TurntableError, match="two servers or more"):
        ycsb.migration(of_ycsb("--migrate", *cluster, "--servers", "10.0.1.2"))


ANSWER = {
    "fill": {"stored": 1000, "seconds": 0.5},
    "operations": 300_000,
    "operations_per_s": 3e6,
    "round_trip_ns": None,
    "sample_ns": 50_000_000,
    "samples": [
        {"operations": 100_000, "pending": 3, "by_server": [100_000]},
        {"operations": 200_000, "pending": 0, "by_server": [50_000, 150_000]},
    ],
}


def test_samples_are_of_all_servers_and_of_the_first_and_the_last() -> None:
    assert ycsb.samples(ANSWER) == (
        "TimeSec ThroughputMops Pending Source Target\n"
        "0.050 2.000000 3 2.000000 0.000000\n"
        "0.100 4.000000 0 1.000000 3.000000\n"
    )


def test_a_run_of_clients(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], histogram_text: str
) -> None:
    hlload = program(tmp_path, ECHO)
    (tmp_path / "answer").write_text(json.dumps(ANSWER | {"round_trip_ns": histogram_text}))
    words = ["run", "--servers", "127.0.0.1", "--binary", str(hlload), "--sample"]
    assert ycsb.main([*words, "--threads", "1", "--logs", str(tmp_path / "logs")]) == 0
    newest = tmp_path / "logs" / "client" / "latest"
    text = (newest / "ycsb.log").read_text()
    assert capsys.readouterr().err == text
    assert "words: --base-port 22790" in text
    assert "::INFO::ycsb.py:_report:" in text
    assert "Filled 1000 keys in 0.5 s (0.002 Mops/sec)" in text
    assert "Throughput: 3.000 Mops/sec" in text
    assert "Median latency of a batch: 2143" in text
    # 1 thread x 1 server x 2 x 1926 operations / 3 M/s.
    assert "a mean of 1284.00 us" in text
    assert (newest / "samples.data").read_text() == ycsb.samples(ANSWER)


def test_clients_that_fail_are_no_run(tmp_path: Path) -> None:
    hlload = program(tmp_path, "#!/bin/sh\necho none of it\nexit 3\n")
    words = ["run", "--servers", "127.0.0.1", "--binary", str(hlload)]
    assert ycsb.main([*words, "--logs", str(tmp_path / "logs")]) == 1
    assert "hlload has ended with 3" in (tmp_path / "logs/client/latest/ycsb.log").read_text()


@pytest.fixture
def histogram_text() -> str:
    from made_raw import histogram  # noqa: PLC0415

    return histogram({2143: 10})


def test_a_server_ends_when_its_script_is_told_to(tmp_path: Path) -> None:
    words = ["run", "--ip", "127.0.0.1", "--buckets", "0", "--logSizeGB", "0.1", "--binary"]
    at = ["--logs", str(tmp_path / "logs"), "--logDisk", str(tmp_path / "storage")]
    module = [sys.executable, "-m", "turntable.systems.shadowfax.command.server"]
    script = subprocess.Popen([*module, *words, str(program(tmp_path, SERVES)), *at])
    log = tmp_path / "logs/server/latest/server1.log"
    deadline = time.monotonic() + 60
    while not (log.exists() and "ready 22790" in log.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    script.send_signal(signal.SIGTERM)
    assert script.wait(60) == 0
    assert "ending\n" in log.read_text()
    assert "hlserver has ended with 0" in log.read_text()


def test_the_newest_directory_is_latest(tmp_path: Path) -> None:
    began = datetime(2026, 1, 2, 3, 4, 5)
    first = log_directory.make(tmp_path, "server", began)
    assert first.name == "2026-01-02T03:04:05"
    second = log_directory.make(tmp_path, "server", began)  # in the same second
    assert second != first
    assert (tmp_path / "server" / "latest").readlink() == Path(second.name)
    assert sorted(each.name for each in (tmp_path / "server").iterdir()) == sorted(
        [first.name, second.name, "latest"]
    )

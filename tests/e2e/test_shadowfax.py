"""Shadowfax from plan to report: batches of two sizes, and a log that does not fit in memory."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import BUILD, playbook

pytestmark = pytest.mark.e2e

INVENTORY = "embedded-hosts"
PROGRAMS = (
    *("nodectl", "supervisor", "hlserver-node", "hlload-node", "hlmeta-node"),
    "textstore-node",
)
# Beside the testbeds of the other end-to-end tests.
TESTBED = {
    "turntable_testbed_id": f"k{os.getpid() % 100000:05d}",
    "turntable_data_network": f"198.18.{96 + os.getpid() % 32}.0/24",
    "turntable_control_network": f"198.19.{96 + os.getpid() % 32}.0/24",
}
# What is asked also holds on a machine that is too busy for a verdict about rates.
ONCE = {"profile": "smoke", "fail_on_invalid": False}
RUN = TESTBED | ONCE
# With a client and two servers.
TWO_SERVERS = "embedded-stores"
TESTBED_OF_TWO = {
    "turntable_testbed_id": f"i{os.getpid() % 100000:05d}",
    "turntable_data_network": f"198.18.{8 + os.getpid() % 24}.0/24",
    "turntable_control_network": f"198.19.{8 + os.getpid() % 24}.0/24",
}
RUN_OF_TWO = TESTBED_OF_TWO | ONCE
# Of the results themselves.
WRONG = ("errors", "add up", "have a value", "never answered", "missing")


def _testbed(results: Path, inventory: str, variables: dict[str, str]) -> Iterator[Path]:
    """The directory for results of a testbed without a switch."""
    if os.geteuid() != 0:
        pytest.skip("end-to-end tests make network namespaces: run them as root")
    missing = [name for name in PROGRAMS if not (BUILD / "bin" / name).exists()]
    if missing:
        pytest.skip(f"{BUILD}/bin lacks {', '.join(missing)}: run `make build` first")
    up = playbook("testbed_up", results, inventory, **variables)
    assert up.status == 0, up.output
    yield results
    down = playbook("testbed_down", results, inventory, purge=True, **variables)
    assert down.status == 0, down.output


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    yield from _testbed(tmp_path_factory.mktemp("results-of-shadowfax"), INVENTORY, TESTBED)


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    results = tmp_path_factory.mktemp("results-of-two-stores")
    yield from _testbed(results, TWO_SERVERS, TESTBED_OF_TWO)


def test_larger_batches_carry_more(hosts: Path) -> None:
    run = playbook("shadowfax/batch_size", hosts, INVENTORY, **RUN)
    assert run.status == 0, run.output
    rows = {int(row["batch_operations"]): row for row in run.rows()}
    assert sorted(rows) == [16, 1926]
    assert not [row["verdict"] for row in rows.values() if any(w in row["verdict"] for w in WRONG)]
    rates = {size: float(row["aggregate_ops_per_s"]) for size, row in rows.items()}
    # A system call for 16 operations, or for two thousand of them.
    assert rates[1926] > 2 * rates[16]
    assert (run.directory / "report.html").exists()


@pytest.mark.skipif(
    not all(map(shutil.which, ("memcached", "redis-server"))),
    reason="memcached or redis-server is not installed: run `make setup` first",
)
def test_beside_memcached_and_redis(hosts: Path) -> None:
    """In every store the sum of all values is that of the additions, and no key is missing (rules
    `sums` and `missing`). Which of them is faster is for a machine that does nothing else.
    """
    run = playbook("shadowfax/beside", hosts, INVENTORY, **RUN)
    assert run.status == 0, run.output
    rows = {(row["store"], int(row["batch_operations"])): row for row in run.rows()}
    stores = ("shadowfax", "memcached", "redis")
    assert set(rows) == {(store, size) for store in stores for size in (1, 100)}
    assert not [row["verdict"] for row in rows.values() if any(w in row["verdict"] for w in WRONG)]
    for store in stores:
        rates = {size: float(rows[store, size]["aggregate_ops_per_s"]) for size in (1, 100)}
        # A system call for one operation, or for a hundred.
        assert rates[100] > 2 * rates[1]
        assert bool(rows[store, 1]["store_version"]) == (store != "shadowfax")
        assert float(rows[store, 1]["fill_ops_per_s"]) > 0
    assert (run.directory / "report.html").exists()


def test_keys_move_to_a_second_server(stores: Path) -> None:
    """All that were to move are there, and sums are exact over both servers (rules `migrations` and
    `sums`). What throughput is before and after is for a machine that does nothing else.
    """
    run = playbook("shadowfax/scale_out", stores, TWO_SERVERS, **RUN_OF_TWO)
    assert run.status == 0, run.output
    (row,) = run.rows()
    assert not [word for word in (*WRONG, "did not all move") if word in row["verdict"]]
    # Half of the keys, and those that were changed several times since the last checkpoint.
    assert int(float(row["moved_records"])) >= 20_000
    assert 0 < float(row["cut_ms"]) < float(row["complete_ms"])
    assert float(row["predicted_after_ops_per_s"]) == pytest.approx(100_000, rel=0.01)


def test_longer_values(hosts: Path) -> None:
    """Every byte that was read is right (errors), and sums are exact (rule `sums`)."""
    run = playbook("shadowfax/value_size", hosts, INVENTORY, **RUN)
    assert run.status == 0, run.output
    rows = {int(row["value_bytes"]): row for row in run.rows()}
    assert sorted(rows) == [8, 256]
    assert not [row["verdict"] for row in rows.values() if any(w in row["verdict"] for w in WRONG)]
    assert all(float(row["aggregate_ops_per_s"]) > 0 for row in rows.values())


def test_a_log_on_the_device(hosts: Path) -> None:
    """Sums are exact, whatever was read from the device meanwhile (rule `sums`)."""
    run = playbook("shadowfax/memory", hosts, INVENTORY, workload="rmw", **RUN)
    assert run.status == 0, run.output
    rows = {float(row["memory_share"]): row for row in run.rows()}
    assert not [row["verdict"] for row in rows.values() if any(w in row["verdict"] for w in WRONG)]
    pending = {share: float(row["pending_share"]) for share, row in rows.items()}
    assert pending[min(pending)] > 0.1
    assert pending[max(pending)] == 0

"""Load and run phases of the released YCSB against all methods. What is expected is YCSB's own: its
counts, and with `dataintegrity` its check of every value that it reads.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hdrh.histogram import HdrHistogram

from tests.crash.rack import SERVER_NODES, Rack

from .conftest import RECORDS
from .ycsb import ONE_FIELD, WORKLOAD_A, Said, Ycsb

STOCK_BYTES = 10 * (1 + 6 + 4 + 100)  # of a value: fields with their names and lengths
OPERATIONS = 2_000
SIZES = {"recordcount": RECORDS, "operationcount": OPERATIONS}
CHECKED = WORKLOAD_A | SIZES | {"dataintegrity": "true"}

Start = Callable[..., tuple[Rack, Ycsb]]


def _served(rack: Rack, what: str) -> int:
    """Operations of all logical servers."""
    rows = [row for node in SERVER_NODES for row in rack.call(node, "stats")["logical_servers"]]
    return sum(row[what] for row in rows)


def _recorded(ran: Said) -> int:
    """Latencies in the histograms, each of which is below YCSB's largest."""
    most_us = max(ran.value(kind, "MaxLatency(us)") for kind in ("READ", "UPDATE"))
    total = 0
    for row in ran.statistics["partitions"]:
        for who in ("server", "switch"):
            histogram = HdrHistogram.decode(row[f"{who}_latency_ns"])
            total += histogram.get_total_count()
            if row[f"{who}_ops"]:
                mean_ns = row[f"{who}_latency_sum_ns"] / row[f"{who}_ops"]
                assert histogram.get_mean_value() == pytest.approx(mean_ns, rel=0.001)
                assert histogram.get_max_value() <= (most_us + 1) * 1_001
    return total


def _check_counts(ran: Said) -> None:
    """Every operation succeeded, and what was read is what YCSB says it has written."""
    assert ran.count("READ") + ran.count("UPDATE") == OPERATIONS
    assert ran.count("READ") > 0
    assert ran.count("UPDATE") > 0
    assert ran.count("VERIFY") == ran.count("READ")
    assert ran.count("VERIFY", "UNEXPECTED_STATE") == ran.count("VERIFY", "ERROR") == 0


@pytest.mark.parametrize("method", ["nocache", "netcache", "farreach"])
def test_records_of_one_field_of_128_bytes(start_ycsb: Start, method: str) -> None:
    rack, ycsb = start_ycsb(method)
    loaded = ycsb.run("-load", **CHECKED | ONE_FIELD)
    assert loaded.count("INSERT") == RECORDS
    ran = ycsb.run("-t", **CHECKED | ONE_FIELD)
    _check_counts(ran)
    assert "in 128 bytes: cacheable" in ran.text
    requests = RECORDS + OPERATIONS + loaded.statistics["retries"] + ran.statistics["retries"]
    assert loaded.total("requests_total") + ran.total("requests_total") == requests
    hits = ran.total("switch_ops")
    assert hits + ran.total("server_ops") == OPERATIONS
    assert _recorded(ran) == OPERATIONS
    # What the switch has not answered, servers have.
    assert _served(rack, "served_total") >= OPERATIONS - hits
    assert (hits > 0) == rack.setup.caches


@pytest.mark.parametrize("method", ["nocache", "netcache", "farreach"])
def test_stock_records_are_never_answered_by_the_switch(start_ycsb: Start, method: str) -> None:
    """YCSB's defaults: ten fields of 100 bytes. An update is of one field."""
    _, ycsb = start_ycsb(method, value_bytes=STOCK_BYTES)
    loaded = ycsb.run("-load", **CHECKED)
    assert loaded.count("INSERT") == RECORDS
    ran = ycsb.run("-t", **CHECKED)
    _check_counts(ran)
    assert "never cacheable" in ran.text
    assert ran.total("switch_ops") == 0
    # An update of some fields is a GET and a PUT of the record.
    asked = ran.count("READ") + 2 * ran.count("UPDATE")
    assert ran.total("requests_total") - ran.statistics["retries"] == asked


def test_records_that_take_several_datagrams(start_ycsb: Start) -> None:
    _, ycsb = start_ycsb("farreach")
    large = CHECKED | {"fieldlength": 1_000}
    assert ycsb.run("-load", **large).count("INSERT") == RECORDS
    ran = ycsb.run("-t", **large)
    _check_counts(ran)
    # 10 x (1 + 6 + 4 + 1000) bytes in fragments of 1412.
    puts = ran.count("UPDATE")
    fragments = ran.count("READ") + puts + 8 * puts
    assert ran.total("requests_total") - 8 * ran.statistics["retries"] <= fragments
    assert fragments <= ran.total("requests_total")


def test_missing_records_are_not_found(start_ycsb: Start) -> None:
    _, ycsb = start_ycsb("farreach")
    ran = ycsb.run("-t", **WORKLOAD_A | SIZES | ONE_FIELD | {"updateproportion": 0})
    assert ran.count("READ", "NOT_FOUND") == OPERATIONS


def test_inserts(start_ycsb: Start) -> None:
    """Workload D."""
    _, ycsb = start_ycsb("farreach")
    inserting = {"readproportion": 0.95, "insertproportion": 0.05, "updateproportion": 0}
    properties = CHECKED | ONE_FIELD | inserting | {"requestdistribution": "latest"}
    ycsb.run("-load", **properties)
    ran = ycsb.run("-t", **properties)
    assert ran.count("READ") + ran.count("INSERT") == OPERATIONS
    assert ran.count("INSERT") > 0
    assert ran.count("VERIFY", "UNEXPECTED_STATE") == ran.count("VERIFY", "ERROR") == 0


def test_read_modify_writes(start_ycsb: Start) -> None:
    """Workload F. YCSB counts the parts of one as reads and updates, too."""
    _, ycsb = start_ycsb("farreach")
    changing = {"updateproportion": 0, "readmodifywriteproportion": 0.5}
    properties = CHECKED | ONE_FIELD | changing
    ycsb.run("-load", **properties)
    ran = ycsb.run("-t", **properties)
    changes = ran.value("READ-MODIFY-WRITE", "Operations")
    assert 0 < changes == ran.count("UPDATE")
    assert ran.count("READ") == OPERATIONS
    assert ran.total("requests_total") - ran.statistics["retries"] == OPERATIONS + changes
    assert ran.count("VERIFY", "UNEXPECTED_STATE") == ran.count("VERIFY", "ERROR") == 0

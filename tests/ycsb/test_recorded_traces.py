"""Files with recorded requests: what workload-analyze makes of them, and how it refuses others."""

from __future__ import annotations

import gzip
import json
import re
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from recorded_traces import Line, expected, made_up, wire_key, write_csv

Program = Callable[..., subprocess.CompletedProcess[str]]
CLIENTS, SERVERS, CACHED = 4, 8, 40


def analyzed(program: Program, file: Path, *more: str, cached: int = CACHED) -> dict:
    done = program(
        *("--workload", "trace", "--recorded", str(file), "--format", "json"),
        *(f"--clients={CLIENTS}", f"--scales={SERVERS}", f"--cached={cached}", *more),
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_counts_are_those_of_the_lines(workload_analyze: Program, tmp_path: Path) -> None:
    lines = made_up(20_000)
    document = analyzed(workload_analyze, write_csv(lines, tmp_path / "trace.csv"))
    truth = expected(lines, SERVERS, CACHED)
    trace = document["scales"][0]["trace"]
    parts = trace["partitions"]
    assert [part["total"] for part in parts] == truth.requests
    assert [part["cached_requests"] for part in parts] == truth.hits
    assert [part["cached_reads"] for part in parts] == truth.read_hits
    assert [part["distinct_keys"] for part in parts] == truth.keys
    assert trace["bottleneck"] == truth.busiest
    assert trace["uncached"]["normalized"] == pytest.approx(20_000 / max(truth.requests))
    left = [all_ - hits for all_, hits in zip(truth.requests, truth.hits, strict=True)]
    assert trace["cached"]["normalized"] == pytest.approx(20_000 / max(left))
    recorded = document["recorded"]
    assert recorded["not_cacheable"]["requests"] == truth.not_cacheable > 0
    assert recorded["reads"] == sum(line.operation == "get" for line in lines)
    assert recorded["requests"] == 20_000
    assert not recorded["is_cut"]


def test_clients_take_turns(workload_analyze: Program, tmp_path: Path) -> None:
    lines = made_up(1002)
    traces = tmp_path / "traces"
    analyzed(workload_analyze, write_csv(lines, tmp_path / "t.csv"), "--trace", str(traces))
    for client in range(CLIENTS):
        requests = b"".join(
            struct.pack(">H", 1) + wire_key(line.key) + struct.pack(">I", line.value_bytes)
            if line.operation == "put"
            else struct.pack(">H", 0x30) + wire_key(line.key)
            for line in lines[client::CLIENTS]
        )
        assert (traces / f"client-{client:05d}.trace").read_bytes() == requests


def test_of_a_longer_file_the_first_requests_are_taken(
    workload_analyze: Program, tmp_path: Path
) -> None:
    lines = made_up(5000)
    whole = write_csv(lines, tmp_path / "whole.csv")
    # What comes after them is not read: not even whether it is a trace.
    with whole.open("a") as more:
        more.write("no request\n")
    cut = analyzed(workload_analyze, whole, "--operations=3000")
    alone = analyzed(workload_analyze, write_csv(lines[:3000], tmp_path / "part.csv"))
    assert cut["recorded"]["is_cut"]
    assert cut["recorded"]["digest"] == alone["recorded"]["digest"]
    assert cut["scales"] == alone["scales"]


def test_a_compressed_file_is_the_same_trace(workload_analyze: Program, tmp_path: Path) -> None:
    plain = write_csv(made_up(500), tmp_path / "trace.csv")
    packed = tmp_path / "trace.csv.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    digests = {analyzed(workload_analyze, file)["recorded"]["digest"] for file in (plain, packed)}
    assert len(digests) == 1


def test_a_byte_order_mark_is_no_part_of_the_first_key(
    workload_analyze: Program, tmp_path: Path
) -> None:
    rows = "user1,get,8\nuser2,get,8\nuser1,get,8\nuser3,get,8\n"
    plain, marked, named = (tmp_path / name for name in ("a.csv", "b.csv", "c.csv"))
    plain.write_text(rows)
    marked.write_text(rows, encoding="utf-8-sig")
    named.write_text("key,operation,value_size\n" + rows, encoding="utf-8-sig")
    recorded = [analyzed(workload_analyze, file)["recorded"] for file in (plain, marked, named)]
    assert [one["keys"] for one in recorded] == [3, 3, 3]
    assert len({one["digest"] for one in recorded}) == 1


def test_columns_may_be_named_and_others_stand_beside_them(
    workload_analyze: Program, tmp_path: Path
) -> None:
    lines = made_up(100)
    plain = write_csv(lines, tmp_path / "plain.csv")
    named = tmp_path / "named.csv"
    rows = (f"7,{line.key},9,{line.value_bytes},3,{line.operation},0\n" for line in lines)
    header = "timestamp,anonymized key,key size,value size,client id,operation,TTL\n"
    named.write_text(header + "".join(rows))
    digests = {analyzed(workload_analyze, file)["recorded"]["digest"] for file in (plain, named)}
    assert len(digests) == 1


def test_what_ycsb_prints_is_a_trace(workload_analyze: Program, tmp_path: Path) -> None:
    log = tmp_path / "ycsb.log"
    log.write_text(
        "***************** properties *****************\n"
        '"recordcount"="1000"\n'
        "**********************************************\n"
        "READ usertable user17 [ <all fields>]\n"
        "UPDATE usertable user2571001333982442796 [ field0=a b field1]=x/ ]\n"
        "INSERT usertable user19 [ field0=12345678 field1=1234 ]\n"
        "DELETE usertable user17\n"
        "[OVERALL], RunTime(ms), 1000\n"
    )
    same = tmp_path / "same.csv"
    rows = ["user17,get,", "user2571001333982442796,put,14", "user19,insert,12", "user17,delete,"]
    same.write_text("\n".join(rows))
    digests = [analyzed(workload_analyze, file)["recorded"]["digest"] for file in (log, same)]
    assert digests[0] == digests[1]


def test_what_the_released_ycsb_prints_is_a_trace(
    workload_analyze: Program, classpath: str, tmp_path: Path
) -> None:
    """Its own classes print the log; what its lines say is read here by another rule."""
    fields, length = 3, 20
    properties = {
        "workload": "site.ycsb.workloads.CoreWorkload",
        "recordcount": 50, "operationcount": 2000, "fieldcount": fields, "fieldlength": length,
        "readproportion": 0.4, "updateproportion": 0.3, "insertproportion": 0.2,
        "readmodifywriteproportion": 0.1,
    }  # fmt: skip
    options = [word for name, value in properties.items() for word in ("-p", f"{name}={value}")]
    java = ["java", "--add-opens=java.base/java.lang=ALL-UNNAMED", "-cp", classpath]
    client = ["site.ycsb.Client", "-t", "-db", "site.ycsb.BasicDB", "-threads", "2", *options]
    done = subprocess.run([*java, *client], capture_output=True, text=True, check=True, timeout=60)
    log, same = tmp_path / "ycsb.log", tmp_path / "same.csv"
    log.write_text(done.stdout)
    sizes = {"READ": "", "UPDATE": length, "INSERT": fields * length}
    found = re.findall(r"^(READ|UPDATE|INSERT) usertable (user\d+) ", done.stdout, re.MULTILINE)
    same.write_text("".join(f"{key},{verb.lower()},{sizes[verb]}\n" for verb, key in found))
    of_log, of_csv = (analyzed(workload_analyze, file)["recorded"] for file in (log, same))
    assert of_log["digest"] == of_csv["digest"]
    assert of_log["requests"] == len(found) >= 2000
    assert {verb for verb, _ in found} == set(sizes)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,get,8\nb,incr,8\n", [":2:", '"incr"', "get (read), put"]),
        ("a,get,8\nb\n", [":2:", "1 columns", "key,operation,value size"]),
        ("a,get,8\n\nb,put,\n", [":3:", 'value size ""', "from 1 to 1412"]),
        ("a,get,8\nb,put,0\n", [":2:", 'value size "0"', "from 1 to 1412"]),
        ("a,get,8\nb,put,1413\n", [":2:", "1413", "one datagram"]),
        ("a,get,-1\n", [":1:", '"-1"', "not known"]),
        (",get,8\n", [":1:", 'key ""']),
        ("key,operation\na,get\n", [":1:", "header", "`value_size`"]),
        ("key,value_size,operation\na,1,get\nb,1\n", [":3:", "3 columns, as in the header"]),
        ("READ t user1 [ <all fields>]\nSCAN t user1 5 [ <all fields>]\n", [":2:", "SCAN"]),
        ("READ t user1 [ <all fields>]\nUPDATE t user1 [ field0\n", [":2:", "field0=VALUE"]),
        ("", ["no request", "key,operation,value size"]),
        ("***\n[OVERALL], RunTime(ms), 1\n", ["no request"]),
        ("a,get,8\n", ["1 requests", "each of the 4 clients"]),
        ("a,get\0,8\nb,get,8\n", [":1:", "without zero bytes"]),
        ("a,get,8\nb,\xe9\x1b,8\n", [":2:", r'"\xC3\xA9\x1B"']),
        ("a,get,8\n" + "k" * 59 + "\xe9\n", [":2:", r'k\xC3..."']),
    ],
)
def test_what_is_no_trace_is_refused_by_line(
    workload_analyze: Program, tmp_path: Path, text: str, words: list[str]
) -> None:
    file = tmp_path / "bad.csv"
    file.write_text(text, encoding="utf-8")
    done = workload_analyze("--workload=trace", f"--recorded={file}", f"--clients={CLIENTS}")
    assert done.returncode == 2
    assert str(file) in done.stderr
    for word in words:
        assert word in done.stderr


def test_a_file_that_is_not_whole_is_refused(workload_analyze: Program, tmp_path: Path) -> None:
    packed = gzip.compress(write_csv(made_up(5000), tmp_path / "trace.csv").read_bytes())
    cut = tmp_path / "cut.csv.gz"
    cut.write_bytes(packed[: len(packed) // 2])
    for file, word in ((cut, "whole file"), (tmp_path, "whole file"), (tmp_path / "none", "No su")):
        done = workload_analyze("--workload=trace", f"--recorded={file}")
        assert done.returncode == 2
        assert word in done.stderr


def test_too_few_cold_keys_are_counted_once(workload_analyze: Program) -> None:
    """However many requests each of the others has."""
    done = workload_analyze(
        *("--workload=synthetic", "--scales=2", "--records=1000", "--clients=8", "--cached=10"),
        *("--operations=300000", "--popularity=hotin", "--hot-list=500", "--keys-changed=200"),
        *("--changes=7", "--trace"),
    )
    assert done.returncode == 2
    assert "500 keys beside the hot list; expected at least 1400" in done.stderr


def test_keys_that_are_cached_fit(workload_analyze: Program, tmp_path: Path) -> None:
    """The hottest key has one long value among short ones: no switch can keep it."""
    lines = [Line("hot", "put", 16)] * 50 + [Line("hot", "put", 129)] + [Line("warm", "get", 128)]
    document = analyzed(workload_analyze, write_csv(lines, tmp_path / "t.csv"), cached=1)
    assert document["recorded"]["not_cacheable"] == {"keys": 1, "requests": 51}
    assert sum(p["cached_requests"] for p in document["scales"][0]["trace"]["partitions"]) == 1

"""The programs of the measurements do what is said of them, and so do their equivalents."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from turntable_bench import bmv2_json, cache_loads, programs_in_memory, switch_forwarding
from turntable_bench.comparison import NotRunError
from turntable_bench.program_loads import LOADS, Load
from turntable_bench.settings import REPOSITORY, Settings

# "md" of BMv2's JSON is the metadata of large.p4; a keyless table is a run of statements.
REGISTERS = 40
TABLES = 20


@pytest.fixture(scope="session")
def build() -> Path:
    path = Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build"))
    if not (path / "lib" / "bench" / "large.so").exists():
        pytest.fail(f"no programs in {path}/lib/bench; run `make build` or set TURNTABLE_BUILD_DIR")
    return path


def in_memory(
    build: Path, program: str, requests: list[dict[str, Any]], directory: str = "bench"
) -> list[Any]:
    """The results of the requests to a program in p4run."""
    argv = [build / "bin" / "p4run", "--program", build / "lib" / directory / f"{program}.so"]
    text = "".join(json.dumps(request) + "\n" for request in requests)
    done = subprocess.run(argv, input=text, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(answer["ok"] for answer in answers), answers
    return [answer["result"] for answer in answers]


def inject(frame: bytes) -> dict[str, Any]:
    args = {"port": 1, "data": frame.hex(), "now_ns": 7}
    return {"command": "inject", "args": args}


@pytest.mark.parametrize("name", LOADS)
def test_every_frame_is_forwarded(name: str, build: Path) -> None:
    load: Load = LOADS[name]()
    requests = [*load.commands(), *map(inject, load.frames)]
    _, *results = in_memory(build, name, requests)
    ports = [frame["port"] for result in results for frame in result["frames"]]
    assert len(ports) == len(load.frames)
    assert set(ports) <= {1, 2}


# Port that it leaves at, bytes of what leaves behind Ethernet, IPv4 and UDP; outcome_t.
@pytest.mark.parametrize(
    ("kind", "port", "payload_bytes", "outcome"),
    [
        # op 18, request 4, vallen 2, value 128, shadow 2, seq 8, stat 4 bytes.
        ("GET hit", 1, 166, 3),
        ("PUT hit", 1, 36, 10),
        ("GET miss", 2, 22, 4),
    ],
)
def test_requests_for_a_full_cache(
    build: Path, kind: str, port: int, payload_bytes: int, outcome: int
) -> None:
    load = cache_loads.CACHE_LOADS[kind]()
    shown = [inject(frame) for frame in load.frames[:50]]
    counters = {"command": "counter_read", "args": {"table": "outcome"}}
    requests = [*load.commands, cache_loads.sessions(), *shown, counters]
    *results, counted = in_memory(build, cache_loads.PROGRAM, requests, "p4")
    left = [frame for result in results[-50:] for frame in result["frames"]]
    assert {(f["port"], len(f["data"]) // 2 - 42) for f in left} == {(port, payload_bytes)}
    packets = {c["index"]: c["$COUNTER_SPEC_PKTS"] for c in counted["counters"]}
    assert (len(left), packets[outcome]) == (50, 50)


def test_a_packet_passes_all_tables_and_registers_of_large(build: Path) -> None:
    load = LOADS["large"]()
    schema = json.loads((build / "lib" / "bench" / "large.bfrt.json").read_text())["tables"]
    tables = [t["name"] for t in schema if t["table_type"] == "MatchAction_Direct"]
    registers = [t["name"] for t in schema if t["table_type"] == "Register"]
    assert (len(tables), len(registers)) == (TABLES, REGISTERS)
    reads = [{"command": "register_read", "args": {"table": name}} for name in registers]
    results = in_memory(build, "large", [*load.commands(), inject(load.frames[0]), *reads])
    changed = {read["table"]: [value for value in read["values"] if value] for read in results[2:]}
    # IPv4 counts 50 of the frame's 64 bytes; all began at 0, and the frame came at 7.
    after = {"frames": 1, "bytes": 50, "longest": 50, "last_seen": 7, "sketch": 1, "seen": 1}
    assert changed == {name: [after[name.rsplit(".", 1)[-1]]] for name in registers}


def test_bmv2_gets_as_many_tables_registers_and_entries() -> None:
    load = LOADS["large"]()
    program = bmv2_json.large(load.updates)
    tables = [table for pipeline in program["pipelines"] for table in pipeline["tables"]]
    keyed = [table for table in tables if table["key"]]
    assert (len(keyed), len(program["register_arrays"])) == (TABLES, REGISTERS)
    assert sum(len(table["entries"]) for table in tables) == len(load.updates)
    actions = program["actions"]
    for table in tables:
        assert [actions[number]["name"] for number in table["action_ids"]] == table["actions"]


def test_entries_for_bmv2() -> None:
    program = bmv2_json.large(LOADS["large"]().updates)
    tables = {t["name"]: t for pipeline in program["pipelines"] for t in pipeline["tables"]}
    prefix = tables["flow1.prefixes"]["entries"][16]["match_key"]
    assert prefix == [{"match_type": "lpm", "key": "0xc613fe00", "prefix_length": 24}]
    policy = tables["flow2.policy"]["entries"][-1]
    assert policy["priority"] == 8
    assert policy["action_entry"]["action_data"] == ["0x0002"]
    assert policy["match_key"] == [
        {"match_type": "ternary", "key": "0x0000", "mask": "0x0000"},
        {"match_type": "ternary", "key": "0xc6000000", "mask": "0xff000000"},
        {"match_type": "range", "start": "0x0400", "end": "0xffff"},
    ]


def test_entries_for_swx() -> None:
    entries = LOADS["three_tables"]().swx_entries()
    assert list(entries) == ["pairs", "routes", "neighbors"]
    first = entries["pairs"].splitlines()[0]
    assert first == "match 0xc613fe01 0xc613fe02 action classify diffserv 0x0"
    assert len(entries["routes"].splitlines()) == 1024


@pytest.mark.parametrize(
    ("measure", "variable"),
    [
        (switch_forwarding.measure_bmv2, "TURNTABLE_BMV2"),
        (programs_in_memory.measure_swx, "TURNTABLE_SWX"),
    ],
)
def test_a_yardstick_that_is_not_there_is_named(
    measure: Any, variable: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = Settings(tmp_path, 1, "nocache")
    for value in ("", "/no/such/program"):
        monkeypatch.setenv(variable, value)
        with pytest.raises(NotRunError, match=variable):
            measure(settings)

"""What the binding refuses, and what it says then: no rack is needed."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from .ycsb import ONE_FIELD, WORKLOAD_A

SIZES = {"recordcount": 10, "operationcount": 10}
DEADLINE_S = 60
SERVER = {"kv.server": "127.0.0.1"}
NOBODY = {"kv.server": "127.0.0.1:9", "kv.timeout_ms": 20, "kv.attempts": 2}


def _ycsb(class_path: str, **properties: Any) -> subprocess.CompletedProcess[str]:
    given = WORKLOAD_A | SIZES | ONE_FIELD | properties
    words = [word for name, value in given.items() for word in ("-p", f"{name}={value}")]
    return subprocess.run(
        ["java", "-cp", class_path, "site.ycsb.Client", "-db", "turntable.ycsb.KvClient", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=DEADLINE_S,
    )


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({}, "property kv.server is missing; expected the address"),
        (SERVER | {"scanproportion": 0.95}, "by hash, which cannot scan; expected 0"),
        (SERVER | {"kv.timeout_ms": "soon"}, "expected a whole number from 1 to 60000"),
        (SERVER | {"kv.controller": "127.0.0.1"}, "property kv.secret is missing"),
    ],
)  # fmt: skip
def test_settings_that_cannot_work_end_the_process(
    class_path: str, properties: dict[str, Any], message: str
) -> None:
    done = _ycsb(class_path, **properties)
    assert message in done.stdout
    assert done.returncode != 0
    assert "[OVERALL]" not in done.stdout


def test_no_answer_is_an_unavailable_service(class_path: str) -> None:
    """Nobody listens on the discard port of this machine."""
    done = _ycsb(class_path, **NOBODY, updateproportion=0)
    assert "[READ], Return=SERVICE_UNAVAILABLE, 10" in done.stdout
    assert "[RETRY], Return=TIMEOUT, 10" in done.stdout

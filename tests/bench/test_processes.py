"""How `make bench` starts programs and what it says about their processor time."""

from __future__ import annotations

import os
import sys

import pytest

from turntable_bench.comparison import NotRunError
from turntable_bench.processes import (
    cpu_ns_per_operation,
    cpu_seconds,
    need,
    pinned,
    run,
    running,
    wait_ready,
)

BUSY = "import time\nwhile time.process_time() < 0.3: pass\nprint('done')"


def test_start_and_warm_up_cancel_out() -> None:
    # 2 s to start, then 500 ns for each operation.
    assert cpu_ns_per_operation(lambda n: 2 + n * 500e-9, 1000, 5_000_000) == pytest.approx(500)


def test_processor_time_is_that_of_the_program() -> None:
    busy = run([sys.executable, "-c", BUSY])
    assert busy.output == "done\n"
    assert busy.cpu_s >= 0.3
    assert run(["sleep", "0.3"]).cpu_s < busy.cpu_s


def test_a_program_that_fails_is_an_error_with_its_last_words() -> None:
    with pytest.raises(RuntimeError, match=r"(?s)ended with 3:.*no luck"):
        run(["sh", "-c", "echo no luck >&2; exit 3"])


def test_a_program_that_hangs_is_ended() -> None:
    with pytest.raises(RuntimeError, match="ended with 124"):
        run(["sleep", "60"], deadline_s=1)


def test_pinned_stays_on_one_processor_that_exists() -> None:
    script = "import os; print(len(os.sched_getaffinity(0)), max(os.sched_getaffinity(0)))"
    for cpu in (0, 1000):
        count, last = map(int, run(pinned(cpu, [sys.executable, "-c", script])).output.split())
        assert count == 1
        assert last == (min if cpu == 0 else max)(os.sched_getaffinity(0))


def test_a_missing_program_is_named_with_its_package() -> None:
    with pytest.raises(NotRunError, match=r"no-such-program is missing.* rocksdb-tools"):
        need("no-such-program", "rocksdb-tools")


def test_threads_that_have_ended_count() -> None:
    script = (
        "import threading, time\n"
        "def burn():\n"
        "    while time.thread_time() < 0.3: pass\n"
        "thread = threading.Thread(target=burn); thread.start(); thread.join()\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)"
    )
    with running([sys.executable, "-c", script]) as process:
        wait_ready(process, "burner")
        assert cpu_seconds(process.pid) >= 0.3

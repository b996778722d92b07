"""What is read from YCSB's output (that of site.ycsb.Client 0.17.0)."""

from __future__ import annotations

from turntable_bench.java import operations_that_succeeded

OUTPUT = """\
[OVERALL], RunTime(ms), 1477
[READ], Operations, 100
[READ], Return=OK, 97
[READ], Return=ERROR, 3
[UPDATE], Return=OK, 102
"""


def test_only_operations_that_succeeded_count() -> None:
    assert operations_that_succeeded(OUTPUT) == 199


def test_no_output_means_no_operations() -> None:
    assert operations_that_succeeded("") == 0

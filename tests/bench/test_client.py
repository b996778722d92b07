"""What `make bench` charges kvclient with."""

from __future__ import annotations

import pytest

from turntable_bench.client import ns_per_sent


def test_generation_is_charged_for_what_was_sent_only() -> None:
    # 100 ns to generate an operation and 4000 ns to send it; a quarter of the traces is sent.
    assert ns_per_sent(0.1, 1.0, generated=1_000_000, sent=250_000) == pytest.approx(4100)


def test_traces_that_are_sent_twice_were_generated_once() -> None:
    assert ns_per_sent(0.1, 8.0, generated=1_000_000, sent=2_000_000) == pytest.approx(4050)

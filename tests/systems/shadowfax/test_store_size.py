"""Pages of a log and buckets of an index, against numbers worked out by hand."""

from __future__ import annotations

import pytest

from turntable_systems.shadowfax import store_size

from .conftest import parameters


@pytest.mark.parametrize(
    ("keys", "servers", "share", "page_bits", "pages"),
    [
        # 24,000,000 bytes of data, doubled: 45.8 pages of 1,048,576.
        (1_000_000, 1, 2, 20, 46),
        # A tenth of them: 36.6 pages of 65,536.
        (1_000_000, 1, 0.1, 16, 37),
        # A quarter of the data at each of four servers: 11.4 pages.
        (1_000_000, 4, 2, 20, 12),
        # The original's: 6,000,000,000 bytes, 178.8 pages of 32 MiB.
        (250_000_000, 1, 1, 25, 179),
        (20_000, 1, 2, 12, 235),  # 960,000 / 4096 = 234.4
    ],
)
def test_a_log_has_whole_pages_for_at_least_its_share(
    keys: int, servers: int, share: float, page_bits: int, pages: int
) -> None:
    cell = parameters(keys=keys, servers=servers, memory_share=share, page_bits=page_bits)
    assert store_size.pages(cell) == pages
    assert store_size.log_bytes(cell) == pages * 2**page_bits


@pytest.mark.parametrize(
    ("value_bytes", "record"),
    # 8 + 8 + 8; others have a word with their length before, and fill the last word.
    [(8, 24), (9, 40), (16, 40), (64, 88), (256, 280), (1024, 1048)],
)
def test_a_record_has_whole_words(value_bytes: int, record: int) -> None:
    cell = parameters(value_bytes=value_bytes, servers=1)
    assert store_size.record_bytes(cell) == record
    assert store_size.data_bytes(cell) == record * 1_000_000


def test_a_value_takes_half_a_page_at_most() -> None:
    assert store_size.most_value_bytes(parameters(page_bits=12)) == 2048
    assert store_size.most_value_bytes(parameters(page_bits=25)) == 65_536


@pytest.mark.parametrize("share", [0.1, 0.3, 0.7])
def test_a_share_is_the_decimal_that_is_written(share: float) -> None:
    """5120 keys at three servers are ten pages of data each. As a binary number 0.1 is a bit more
    than a tenth, which would take two of them.
    """
    cell = parameters(keys=5120, servers=3, memory_share=share, page_bits=12)
    assert store_size.data_bytes(cell) == 10 * 4096
    assert store_size.pages(cell) == round(10 * share)


@pytest.mark.parametrize(
    ("keys", "servers", "bits"),
    [
        (1, 1, 4),
        (64, 1, 4),  # 16 buckets
        (65, 1, 5),  # 16.25
        (128, 1, 5),
        (129, 1, 6),
        (129, 2, 5),  # 64.5 keys: 16.1 buckets of each server
        (20_000, 1, 13),  # 5,000, between 2^12 and 2^13
        (1_000_000, 1, 18),  # 250,000, between 131,072 and 262,144
        (250_000_000, 1, 26),  # 62,500,000, between 33,554,432 and 67,108,864
    ],
)
def test_an_index_has_at_most_four_keys_a_bucket(keys: int, servers: int, bits: int) -> None:
    cell = parameters(keys=keys, servers=servers)
    assert store_size.index_bits(cell) == bits
    assert store_size.index_bytes(cell) == 64 * 2**bits


def test_an_index_may_have_another_size() -> None:
    assert store_size.index_bits(parameters(index_bits=27)) == 27

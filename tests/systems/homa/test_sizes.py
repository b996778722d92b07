"""Sizes by share of the messages, beside the published percentiles."""

from __future__ import annotations

import pytest

from turntable_systems.homa import sizes

from .conftest import parameters

SHARES = [0.1, 0.5, 0.9, 0.99, 1]

# Homa reference §6: 10, 50, 90, 99 % and the largest, of which some are rounded.
PUBLISHED = {
    "W1": [2, 27, 503, 1876, 100e3],
    "W2": [3, 269, 512, 3151, 3.5e6],
    "W3": [36, 268, 1755, 31e3, 15.2e6],
    "W4": [315, 662, 120e3, 3.4e6, 10e6],
    "W5": [5.9e3, 72e3, 4.9e6, 27.4e6, 29.4e6],
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_percentiles_are_the_published_ones(name: str) -> None:
    found = sizes.at_shares(parameters(sizes=name, cap_bytes=0), SHARES)
    assert found == pytest.approx(PUBLISHED[name], rel=0.02)


def test_they_are_divided_rounded_and_then_capped() -> None:
    """3,151 / 10 is 315.1; 3 / 10 is 0.3, and no message is empty."""
    of_w2 = parameters(sizes="W2", divide=10, cap_bytes=300)
    assert sizes.at_shares(of_w2, SHARES) == [1, 27, 51, 300, 300]


def test_one_size_has_all_shares() -> None:
    assert sizes.at_shares(parameters(sizes="fixed", message_bytes=100), [0, 1]) == [100, 100]

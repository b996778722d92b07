"""The order within blocks as evidence of a difference."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product

import pytest

from turntable.systems.swan.blocks import Blocks, chance_of_order

THREE_ROWS = {0: [1.0, 2.0, 3.0], 1: [5.0, 6.0, 4.0], 2: [2.0, 9.0, 1.0]}


@pytest.mark.parametrize(
    ("second", "chance"),
    [
        ({0: [4.0], 1: [100.0], 2: [10.0]}, 2 * (1 / 4) ** 3),
        ({0: [0.5], 1: [3.0], 2: [0.1]}, 2 * (1 / 4) ** 3),  # below
        ({0: [4.0], 1: [100.0]}, 2 * (1 / 4) ** 2),  # nothing of the third counts
        ({0: [4.0], 1: [100.0], 2: [9.0]}, 1),  # a tie
        ({0: [4.0], 1: [3.0], 2: [10.0]}, 1),  # above, and below
        ({0: [2.5], 1: [100.0], 2: [10.0]}, 1),  # in between
        ({3: [4.0]}, 1),
        ({}, 1),
    ],
)
def test_all_beyond_in_every_block(second: Blocks, chance: float) -> None:
    assert chance_of_order(THREE_ROWS, second) == pytest.approx(chance)


def labelled(block: Sequence[int], size: int) -> list[tuple[list[int], list[int]]]:
    """All ways to call `size` of a block's values the second sample."""
    return [
        ([v for i, v in enumerate(block) if i not in chosen], [block[i] for i in chosen])
        for chosen in combinations(range(len(block)), size)
    ]


@pytest.mark.parametrize("sizes", [((3, 1), (3, 1)), ((2, 2), (1, 1)), ((2, 1), (3, 2), (1, 2))])
def test_the_chance_is_that_of_all_orders(sizes: Sequence[tuple[int, int]]) -> None:
    """Counted: among all labellings of distinct values, those that are as extreme."""
    blocks = [labelled(range(first + second), second) for first, second in sizes]
    extreme = everything = 0
    for labelling in product(*blocks):
        everything += 1
        above = all(min(second) > max(first) for first, second in labelling)
        below = all(max(second) < min(first) for first, second in labelling)
        extreme += above or below
    first = {block: list(range(count)) for block, (count, _) in enumerate(sizes)}
    second = {block: list(range(10, 10 + count)) for block, (_, count) in enumerate(sizes)}
    assert chance_of_order(first, second) == pytest.approx(float(Fraction(extreme, everything)))

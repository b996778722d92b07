"""Whether two samples that were measured in blocks differ, whatever their distribution.

Beside a job a server near its limit is now quick and now overloaded, and the interval of a few such
repetitions is wider than all of them. Their order within the blocks still says what it says: were
there no difference, each order of a block's measurements were as likely as the others (a
permutation test that is stratified by blocks).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb, prod

Blocks = Mapping[int, Sequence[float]]


def chance_of_order(first: Blocks, second: Blocks) -> float:
    """How likely, were there no difference, all of the second lie beyond all of the first in every
    block that has both, and on the same side in all. 1 where they do not, or no block has both.
    """
    both = [(first[block], second[block]) for block in first if first[block] and second.get(block)]
    above = all(min(others) > max(ones) for ones, others in both)
    below = all(max(others) < min(ones) for ones, others in both)
    if not both or not (above or below):
        return 1.0
    one_side = prod(1 / comb(len(ones) + len(others), len(ones)) for ones, others in both)
    return min(1.0, 2 * one_side)

"""Lists of processors."""

from __future__ import annotations

import re

import pytest

from turntable_systems.shadowfax import processors


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("0", [0]),
        ("0+2-3", [0, 2, 3]),
        ("4-4", [4]),
        ("0-47", list(range(48))),
    ],
)
def test_lists(text: str, expected: list[int]) -> None:
    assert processors.listed(text) == expected


@pytest.mark.parametrize(
    "text", ["a", "-1", "1-", "3-2", "0+0", "2+1", "0-2+2", "0,1", "0++1", "+"]
)
def test_what_is_no_list_of_processors(text: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        processors.listed(text)

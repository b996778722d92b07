"""Distributions in mutilate's notation, as far as they can be judged before a node has them: the
form, and the size where it is always the same. src/load/variate.h draws them and has the last word.
"""

from __future__ import annotations

import math
import re

from turntable_core.errors import did_you_mean
from turntable_systems.swan.placement import with_commas

_ETC = ("fb_key", "fb_value", "fb_ia")
_NUMBERS = {
    "fixed": (1,),
    "uniform": (1, 2),
    "normal": (2,),
    "exponential": (1,),
    "pareto": (3,),
    "gev": (3,),
    "lognormal": (2,),
    "bimodal": (3,),
}
_OF_GAPS = ("exponential", "uniform", "periodic", "fixed", "normal")  # whose scale is the rate

SIZES = "a number of bytes, fixed:30, uniform:10+90, normal:200+10, pareto, gev, fb_key or fb_value"
GAPS = "exponential, uniform, periodic, normal, fb_ia, or a distribution such as gev:30+8+0.1"


def wrong_size(text: str) -> str | None:
    """What is wrong with a distribution of sizes in bytes; None: nothing that can be seen."""
    return _wrong(text if ":" in text or text in _ETC else f"fixed:{text}")


def wrong_gaps(text: str) -> str | None:
    return None if text in _OF_GAPS else _wrong(text)


def always(text: str) -> float | None:
    """The size that all have; None: they differ."""
    number = text.removeprefix("fixed:")
    return None if wrong_size(text) or ":" in number or number in _ETC else float(number)


def _wrong(text: str) -> str | None:
    name, colon, list_ = text.partition(":")
    if not colon and name in _ETC:
        return None
    if name not in _NUMBERS:
        return f"{name!r} is none{did_you_mean(name, [*_NUMBERS, *_ETC, *_OF_GAPS])}"
    numbers = [_number(part) for part in re.split("[,:]", with_commas(list_))]
    counts = _NUMBERS[name]
    if None in numbers or len(numbers) not in counts:
        several = " or ".join(map(str, counts))
        return f"{name} has {several} number{'s' if counts[-1] > 1 else ''}, joined with +"
    return None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None

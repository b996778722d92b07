"""Figures of several reports on one page, exactly as they are there."""

from __future__ import annotations

import re
from pathlib import Path

from markupsafe import Markup

# What comes after it shows how the measurement went, not results.
_END_OF_RESULTS = "<h2>How the measurement went</h2>"
_FIGURE = re.compile(r"<figure>\s*(<svg.*?</svg>)\s*</figure>", re.DOTALL)
_IDENTIFIER = re.compile(r'((?: id="|url\(#|href="#))([^")]+)')


def figures_of(page: Path, prefix: str) -> list[Markup]:
    """Of the results. prefix: of identifiers, which must not meet those of another page."""
    text = page.read_text(encoding="utf-8").partition(_END_OF_RESULTS)[0]
    return [Markup(_IDENTIFIER.sub(rf"\g<1>{prefix}-\g<2>", svg)) for svg in _FIGURE.findall(text)]

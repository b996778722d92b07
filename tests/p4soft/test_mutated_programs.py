"""Programs with changed tokens: translated, or refused with a position; never a traceback.

TURNTABLE_MUTATIONS=N tries N of each program instead.
"""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

import pytest

from p4soft.cli import translate
from p4soft.errors import P4Error

PROGRAMS = Path(__file__).parent / "programs"
NAMES = ("heavy_hitter", "stateful_firewall", "tlv_parser", "trace_route", "rate_limiter")
MUTATIONS = int(os.environ.get("TURNTABLE_MUTATIONS", "60"))
TOKEN = re.compile(r"\s+|//[^\n]*|\w+|\+\+|&&&|\.\.|.", re.DOTALL)
STRANGE = (
    "", ";", "{", "}", "(", ")", "<", ">", ",", ".", "=", ":", "[", "]", "#", "@", "##", "0", "1",
    "4294967296", "8w300", "-1", "128s0", "int<0>", "bit<129>", "bit<(1<<40)>", "_", "default",
    "inout", "apply", "this", "error.NoError", "true", "{}", "varbit<8>", "header", "table", "\0",
)  # fmt: skip


def mutated(tokens: list[str], chooser: random.Random) -> str:
    result = list(tokens)
    for _ in range(chooser.randrange(1, 4)):
        at = chooser.randrange(len(result))
        other = chooser.randrange(len(result))
        kind = chooser.choice(["drop", "repeat", "swap", "copy", "strange", "move"])
        if kind == "drop":
            del result[at : at + chooser.randrange(1, 4)]
        elif kind == "repeat":
            result[at:at] = result[at : at + chooser.randrange(1, 12)]
        elif kind == "swap":
            result[at], result[other] = result[other], result[at]
        elif kind == "copy":
            result[at] = result[other]
        elif kind == "move":
            result[other:other] = result[at : at + chooser.randrange(1, 30)]
        else:
            result[at] = chooser.choice(STRANGE)
    return "".join(result)


@pytest.mark.parametrize("name", NAMES)
def test_mutated_programs(name: str, tmp_path: Path) -> None:
    tokens = TOKEN.findall((PROGRAMS / f"{name}.p4").read_text())
    chooser = random.Random(name)
    path = tmp_path / "mutated.p4"
    refused = 0
    for _ in range(MUTATIONS):
        text = mutated(tokens, chooser)
        path.write_text(text)
        try:
            translate(path, [PROGRAMS], {})
        except P4Error:  # with a position, by its construction
            refused += 1
        except Exception as error:
            raise AssertionError(f"{error!r} for this program:\n{text}") from error
    assert refused > MUTATIONS / 4

"""RegisterActions that p4soft takes, and those that the Tofino compiler takes.

`pytest tests/tofino/test_register_actions.py --p4c /path/to/p4c [--register-actions 300]` compiles
random ones with both, which takes some seconds each; p4c is no part of this repository. What may
differ is in docs/p4soft.md.
"""

from __future__ import annotations

import random
import re
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from p4soft.cli import translate
from p4soft.errors import P4Error

from .random_register_actions import RegisterAction, random_action

SEED = 20261122
# Parts of p4soft's messages: what it refuses though the compiler takes it, and computes otherwise.
KNOWN = (
    "a value computed from one that it computes",
    "a second value in the same case",
)

# Code without effect: the compiler leaves it out before it looks for room, p4soft counts it.
_OPERAND = r"(?<![\w.)])(?P<x>\(\(int<\d+>\) [\w.]+\)|[\w.]+)"
_GREATEST = "(8w255|16w65535|32w4294967295)"
WITHOUT_EFFECT = [
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        rf"{_OPERAND} ([<>=!]=|[-<>^&|]) (?P=x)(?![\w.])",  # of a thing and itself
        rf"(>=|<) \d+w0\b|\b\d+w0 (<=|>) |(>|<=) {_GREATEST}\b|\b{_GREATEST} (<|>=) ",
        r"[-+|^&] \d+[ws]0\b|\b\d+[ws]0 [-+|^&] ",
        r"^ *(?P<x>\S+) = (?P=x);",
        r"\{\n *;\n *\}",
        r"^ *(bit<\d+> |int<\d+> )?[tu] = ~?\d+[ws]\d+;",  # a constant by another name
        r"\A(?=(.|\n)*\b(?P<x>[tu]) = )(?!(.|\n)*(?<!> )\b(?P=x)\b(?! = ))",  # never read
    )
]
# Results of a pair: a complement, which is lost, and a packet field made wider.
RESULT_OF_A_PAIR = re.compile(
    r"\brv = (\(bit<\d+>\) \()?(~|\(+(bit|int)<\d+>\) \(?\(?.*hdr\.in_\.a8)"
)
CRASH = "Compiler Bug"


def actions(count: int, seed: int = SEED) -> list[RegisterAction]:
    chooser = random.Random(seed)
    return [random_action(chooser) for _ in range(count)]


def refusal(action: RegisterAction, directory: Path) -> str | None:
    """p4soft's message; None: it takes the action."""
    path = directory / "action.p4"
    path.write_text(action.program())
    try:
        translate(path, [], {})
    except P4Error as error:
        return error.message
    return None


def compilers_refusal(p4c: Path, action: RegisterAction, directory: Path) -> str | None:
    """The compiler's first error, or CRASH; None: it takes the action."""
    directory.mkdir()
    path = directory / "action.p4"
    path.write_text(action.program())
    command = [p4c, "--target", "tofino", "--arch", "tna", "-o", directory / "out", path]
    run = subprocess.run(
        command, cwd=directory, capture_output=True, text=True, timeout=600, check=False
    )
    if run.returncode == 0:
        return None
    said = run.stdout + run.stderr
    if CRASH in said:
        return CRASH
    return next(
        (line for line in said.splitlines() if "error:" in line), f"status {run.returncode}"
    )


def is_known(action: RegisterAction, ours: str | None, theirs: str | None) -> bool:
    """Whether docs/p4soft.md says that the two differ here."""
    if ours is None:
        return theirs == CRASH
    text = "\n".join(action.body)
    if action.cell.pair and RESULT_OF_A_PAIR.search(text):
        return True
    return any(part in ours for part in KNOWN) or any(p.search(text) for p in WITHOUT_EFFECT)


def test_random_actions_are_near_the_limits(tmp_path: Path) -> None:
    verdicts = Counter(refusal(action, tmp_path) is None for action in actions(150))
    assert 0.3 < verdicts[True] / verdicts.total() < 0.8


def test_the_compiler_takes_the_same(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    p4c = request.config.getoption("--p4c")
    if p4c is None:
        pytest.skip("needs --p4c /path/to/p4c, the Tofino compiler")
    tried = actions(request.config.getoption("--register-actions"))
    with ThreadPoolExecutor(2) as pool:
        theirs = pool.map(
            lambda numbered: compilers_refusal(p4c, numbered[1], tmp_path / str(numbered[0])),
            enumerate(tried),
        )
        differences = [
            f"{action.cell}\n" + "\n".join(action.body) + f"\np4soft: {ours}\np4c: {said}\n"
            for action, said in zip(tried, theirs, strict=True)
            if ((ours := refusal(action, tmp_path)) is None) != (said is None)
            and not is_known(action, ours, said)
        ]
    assert not differences, f"{len(differences)} of {len(tried)}:\n" + "\n".join(differences)

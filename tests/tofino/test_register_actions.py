"""RegisterActions that p4soft takes, and those that the Tofino compiler takes.

`pytest tests/tofino/test_register_actions.py --p4c /path/to/p4c [--register-actions 300]
[--register-actions-seed N]` compiles random ones with both, which takes some seconds each; p4c is
no part of this repository. What may differ is in docs/p4soft.md and known_differences.py.
"""

from __future__ import annotations

import random
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from p4soft.cli import translate
from p4soft.errors import P4Error

from .known_differences import CRASH, is_known
from .random_register_actions import RegisterAction, random_action


def actions(count: int, seed: int) -> list[RegisterAction]:
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


def test_random_actions_are_near_the_limits(tmp_path: Path) -> None:
    tried = actions(150, seed=20261122)
    verdicts = Counter(refusal(action, tmp_path) is None for action in tried)
    assert 0.3 < verdicts[True] / verdicts.total() < 0.8


def test_the_compiler_takes_the_same(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    p4c = request.config.getoption("--p4c")
    if p4c is None:
        pytest.skip("needs --p4c /path/to/p4c, the Tofino compiler")
    count, seed = map(request.config.getoption, ("--register-actions", "--register-actions-seed"))
    tried = actions(count, seed)
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

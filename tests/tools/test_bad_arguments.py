"""Programs say what is wrong with how they are called; none crashes, hangs or loses its result."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

CASES = yaml.safe_load((Path(__file__).parent / "bad_arguments.yml").read_text())
REPOSITORY = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build"))


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_wrong_call_is_explained(tmp_path: Path, case: dict[str, Any]) -> None:
    history = tmp_path / "history.ndjson"
    history.write_text('{"history":1}\n')
    places = {"DIR": str(tmp_path), "HISTORY": str(history)}
    program, *arguments = case["call"]
    with Path(case.get("output", os.devnull)).open("w") as output:
        done = subprocess.run(
            [BUILD / "bin" / program, *(places.get(word, word) for word in arguments)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == case["status"], done.stderr
    for text in case["says"]:
        assert text in done.stderr

"""Text that is no UTF-8, where programs read text: an error, its place, and on with the rest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from .test_bad_arguments import BUILD, REPOSITORY


def test_p4run_answers_every_line() -> None:
    lines = b'\xff\xfe\n{"id": 1, "command": "\xff"}\n{"id": 2, "command": "schema"}\n'
    done = subprocess.run(
        [BUILD / "bin" / "p4run", "--program", BUILD / "lib" / "p4" / "nocache.so"],
        input=lines,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["ok"] for answer in answers] == [False, False, True]


def test_p4soft_names_the_included_file(tmp_path: Path) -> None:
    (tmp_path / "top.p4").write_text('#include "latin.p4"\n')
    (tmp_path / "latin.p4").write_bytes(b"// 1\n// caf\xe9\n")
    done = subprocess.run(
        [sys.executable, "-m", "p4soft", "translate", tmp_path / "top.p4", "--output", tmp_path],
        cwd=REPOSITORY / "src",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"{tmp_path}/latin.p4:2:7: error: byte 0xe9 is no UTF-8")

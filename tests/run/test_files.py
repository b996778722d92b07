"""Files that are there whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path

from turntable_core import files


def test_raw_files_are_one_line_of_json() -> None:
    value = {"zeros": [0, 0], "µ": None, "nested": {"ratio": 0.1}}
    written = files.to_compact_json(value).decode()
    assert written == '{"zeros":[0,0],"µ":null,"nested":{"ratio":0.1}}\n'
    assert json.loads(written) == value


def test_a_replaced_file_has_the_mode_that_is_asked_for_whatever_it_was(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("before")
    path.chmod(0o666)
    umask = os.umask(0)
    try:
        files.replace(path, b"after", mode=0o600)
    finally:
        os.umask(umask)
    assert path.read_text() == "after"
    assert path.stat().st_mode & 0o777 == 0o600
    files.replace(path, b"for all")
    assert path.stat().st_mode & 0o777 == 0o644
    assert [each.name for each in tmp_path.iterdir()] == ["secret"]

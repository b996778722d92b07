"""Keys of YCSB's output."""

from __future__ import annotations

from pathlib import Path

import pytest

from turntable.systems.shadowfax.command import process_ycsb

# As YCSB's BasicDB prints them.
LINES = """\
Loading workload...
INSERT usertable user6284781860667377211 [ field0=x1 usertable field1=y ]
READ usertable user8517097267634966620 [ <all fields>]
UPDATE usertable user0 [ field0=user7 ]
[OVERALL], RunTime(ms), 10.0
INSERT usertable user18446744073709551615
"""
# Their numbers, 64 bits each, the least byte first.
KEYS = b"".join(
    key.to_bytes(8, "little") for key in (6284781860667377211, 8517097267634966620, 0, 2**64 - 1)
)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "ycsb.txt"
    file.write_text(LINES)
    return file


@pytest.mark.parametrize("words", [["--from", "{}", "--dest", "{}"], ["{}", "{}"]])
def test_keys_are_numbers_of_8_bytes(words: list[str], source: Path, tmp_path: Path) -> None:
    dest = tmp_path / "keys"
    files = iter([str(source), str(dest)])
    assert process_ycsb.main([next(files) if word == "{}" else word for word in words]) == 0
    assert dest.read_bytes() == KEYS


def test_another_prefix(tmp_path: Path) -> None:
    source, dest = tmp_path / "from", tmp_path / "keys"
    source.write_text("key-12;\nkey-7\nusertable user9\n")
    assert process_ycsb.main([str(source), str(dest), "--prefix", "key-"]) == 0
    assert dest.read_bytes() == (12).to_bytes(8, "little") + (7).to_bytes(8, "little")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("READ usertable userx1", "line 7: 'x1' behind the prefix"),
        ("READ usertable user", "line 7: '' behind the prefix"),
        ("READ usertable user18446744073709551616", "expected a key, 0 to 18446744073709551615"),
        ("READ usertable user" + "9" * 5000, "line 7:"),
    ],
)
def test_a_line_without_a_key_is_named_and_nothing_is_left(
    line: str, says: str, source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source.write_text(LINES + line + "\n")
    dest = tmp_path / "keys"
    dest.write_bytes(b"what was there")
    assert process_ycsb.main([str(source), str(dest)]) == 1
    assert says in capsys.readouterr().err
    assert dest.read_bytes() == b"what was there"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["keys", "ycsb.txt"]


def test_output_without_keys_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "empty"
    source.write_text("nothing\n")
    assert process_ycsb.main([str(source), str(tmp_path / "keys")]) == 1
    assert "no line has 'usertable user'" in capsys.readouterr().err


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert process_ycsb.main([str(tmp_path / "none"), str(tmp_path / "keys")]) == 1
    assert "No such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [[], ["one"], ["--from", "one"], ["a", "b", "c"], ["--from", "a", "b"]]
)
def test_two_files_are_asked_for(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        process_ycsb.main(words)
    assert ended.value.code == 2

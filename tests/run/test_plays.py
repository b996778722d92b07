"""How long playbooks worked on a run."""

from __future__ import annotations

from pathlib import Path

from turntable_core import files, plays


def write(directory: Path, *marks: tuple[str, int]) -> None:
    for name, at_ns in marks:
        files.append_line(directory / plays.FILE, {name: at_ns})


def test_a_pause_between_plays_does_not_count(tmp_path: Path) -> None:
    marks = ((plays.BEGAN, 10), (plays.ENDED, 40), (plays.BEGAN, 1000), (plays.ENDED, 1005))
    write(tmp_path, *marks)
    assert plays.spans(tmp_path) == [(10, 40), (1000, 1005)]
    assert plays.seconds(plays.spans(tmp_path)) == 35e-9


def test_a_killed_play_lasted_until_what_is_known_of_it_last(tmp_path: Path) -> None:
    write(tmp_path, (plays.BEGAN, 10), (plays.BEGAN, 1000), (plays.ENDED, 1005))
    assert plays.spans(tmp_path, [5, 25, 1003]) == [(10, 25), (1000, 1005)]
    assert plays.spans(tmp_path) == [(10, 10), (1000, 1005)]


def test_a_torn_line_is_ignored_and_then_removed(tmp_path: Path) -> None:
    write(tmp_path, (plays.BEGAN, 10))
    with (tmp_path / plays.FILE).open("a") as file:
        file.write('{"ended_at')
    assert plays.spans(tmp_path, [20]) == [(10, 20)]
    write(tmp_path, (plays.ENDED, 30))
    assert plays.spans(tmp_path, [20]) == [(10, 30)]


def test_of_runs_without_the_file_the_first_and_last_instant_count(tmp_path: Path) -> None:
    assert plays.spans(tmp_path) == []
    assert plays.spans(tmp_path, [30, 10, 20]) == [(10, 30)]


def test_begin_and_end(tmp_path: Path) -> None:
    plays.begin(tmp_path, 5)
    plays.end(tmp_path)
    ((began_ns, ended_ns),) = plays.spans(tmp_path)
    assert began_ns == 5 < ended_ns

"""Where a run's output goes into a pipe or a file, nothing can be rewritten in place."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SOURCE = Path(__file__).parents[2] / "plugins/callback/progress.py"


class Display:
    """Ansible's, as far as lines use it."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def display(self, text: str, **_: object) -> None:
        self.lines.append(text)


@pytest.fixture(scope="module")
def progress() -> ModuleType:
    spec = importlib.util.spec_from_file_location("progress_callback", SOURCE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_running_turn_is_told_after_a_minute_without_any_line(
    progress: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    display = Display()
    line = progress.RareLine(display)

    def show_at(instant: float, text: str) -> None:
        clock[0] = instant
        line.show(text)

    show_at(1001, "1 of 9")
    show_at(1059, "2 of 9")
    show_at(1060, "3 of 9")
    show_at(1119, "4 of 9")
    assert display.lines == ["3 of 9"]
    # Whatever else is printed begins the minute anew.
    clock[0] = 1119.5
    display.display("a turn is over")
    show_at(1179, "5 of 9")
    show_at(1179.5, "6 of 9")
    assert display.lines == ["3 of 9", "a turn is over", "6 of 9"]

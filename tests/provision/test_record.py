"""What is recorded, when, and what is made of it: with settings that are held in memory."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any, ClassVar

import pytest

from turntable_host import kinds, record
from turntable_host.converge import KEEP, OVERWRITE, converge
from turntable_host.errors import GoneError, HostError
from turntable_host.files import Directory
from turntable_host.record import Record, opened
from turntable_host.restore import restore
from turntable_host.setting import Setting, Value

from .conftest import REPOSITORY

BEFORE = {"a": 1, "b": None, "c": {"x": "on", "y": "on"}}
WANTED = {"a": 2, "b": 5, "c": {"x": "off"}}


class Crash(BaseException):
    """As if the machine had lost its power."""


class Memory(Setting):
    """A driver that turns y off with x; counts down to a crash, before or after a write."""

    kind = "memory"
    values: ClassVar[dict[str, Any]] = {}
    steps_left: ClassVar[int] = -1

    def read(self) -> Value:
        if self.name not in self.values:
            raise GoneError(self.name)
        value = self.values[self.name]
        return dict(value) if isinstance(value, dict) else value

    def write(self, value: Value) -> None:
        step()
        if isinstance(value, dict):
            self.values[self.name].update(value)
            if value == {"x": "off"}:
                self.values[self.name]["y"] = "off"
        else:
            self.values[self.name] = value
        step()


def step() -> None:
    Memory.steps_left -= 1
    if Memory.steps_left == 0:
        raise Crash


class Lasting(Memory):
    kind = "lasting memory"
    lasts = True


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a record; every saving of it is a step too, and memory is as before everything."""
    Memory.values = json.loads(json.dumps(BEFORE))
    Memory.steps_left = -1
    save = Record.save

    def saved(self: Record) -> None:
        step()
        save(self)
        step()

    monkeypatch.setattr(Record, "save", saved)
    monkeypatch.setitem(kinds.KINDS, Memory.kind, Memory)
    monkeypatch.setitem(kinds.KINDS, Lasting.kind, Lasting)
    return tmp_path / "deep/er/record.json"


def settings(kind: type[Memory] = Memory) -> list[tuple[Setting, Value]]:
    return [(kind(name), value) for name, value in WANTED.items()]


def provision(path: Path, **options: Any) -> list[str]:
    with opened(path, "rack") as kept:
        return [str(it.setting) for it in converge(settings(), kept, **options).changed]


def unprovision(path: Path, **options: Any) -> list[str]:
    with opened(path, "rack") as kept:
        return restore(kept, **options).left


def test_every_instant_of_a_crash_can_be_undone(path: Path) -> None:
    steps = 0
    while True:
        steps += 1
        Memory.steps_left = steps
        try:
            provision(path)
        except Crash:
            Memory.steps_left = -1
            assert unprovision(path) == []
            assert Memory.values == BEFORE, f"crash at step {steps}"
            assert not path.parent.parent.exists()
        else:
            break
    assert steps > 2 * len(WANTED) + 2  # two of each write, two of saving


def test_every_instant_of_a_crash_on_the_way_back_can_be_repeated(path: Path) -> None:
    steps = 0
    while True:
        steps += 1
        Memory.values = json.loads(json.dumps(BEFORE))
        Memory.steps_left = -1
        provision(path)
        Memory.steps_left = steps
        try:
            unprovision(path)
        except Crash:
            Memory.steps_left = -1
            assert unprovision(path) == []
            assert Memory.values == BEFORE, f"crash at step {steps}"
        else:
            break
    assert steps > 2 * len(WANTED)
    assert Memory.values == BEFORE


def test_a_crash_can_be_followed_by_a_provisioning_too(path: Path) -> None:
    Memory.steps_left = 5  # between two writes
    with pytest.raises(Crash):
        provision(path)
    Memory.steps_left = -1
    assert provision(path) != []
    assert provision(path) == []
    assert unprovision(path) == []
    assert Memory.values == BEFORE


def test_nothing_is_written_in_check_mode_or_without_a_difference(path: Path) -> None:
    assert provision(path, check=True) == [f"memory {name}" for name in WANTED]
    assert (Memory.values, path.exists()) == (BEFORE, False)
    provision(path)
    written = path.read_bytes(), path.stat().st_ino
    assert provision(path) == []
    assert (path.read_bytes(), path.stat().st_ino) == written


def test_a_value_that_the_kernel_makes_another_is_an_error_and_can_be_undone(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Memory.write
    monkeypatch.setattr(
        Memory, "write", lambda self, value: write(self, 3 if isinstance(value, int) else value)
    )
    with pytest.raises(HostError, match="memory a is 3 after it was set; expected 2"):
        provision(path)
    monkeypatch.setattr(Memory, "write", write)
    assert Memory.values["b"] == 3  # not only the first one is known to be ours
    assert unprovision(path) == []
    assert Memory.values == BEFORE


def test_what_was_overwritten_goes_back_to_what_was_before_all(path: Path) -> None:
    provision(path)
    Memory.values["a"] = 99
    with pytest.raises(HostError, match="memory a is 99; expected 2, as"):
        provision(path)
    assert provision(path, changed_since=KEEP) == []
    assert Memory.values["a"] == 99
    assert provision(path, changed_since=OVERWRITE) == ["memory a"]
    assert unprovision(path) == []
    assert Memory.values == BEFORE


def test_what_the_kernel_forgets_at_a_boot_is_not_put_back_after_it(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(path, "rack") as kept:
        converge(settings(Lasting)[:1], kept)
        converge(settings()[1:], kept)
    boot = tmp_path / "boot_id"
    boot.write_text("another\n")
    monkeypatch.setattr(record, "_BOOT", boot)
    Memory.values["b"] = 7  # as the new boot has it
    assert unprovision(path) == []
    assert Memory.values == BEFORE | {"b": 7, "c": {"x": "off", "y": "off"}}


def test_a_thing_that_is_gone_needs_not_be_put_back(path: Path) -> None:
    provision(path)
    del Memory.values["a"]
    assert unprovision(path) == []
    assert not path.exists()


def test_directories_that_the_record_lies_in_go_after_it(path: Path) -> None:
    above, beside = path.parent.parent, path.parent / "beside"
    with opened(path, "rack") as kept:
        names = (above, path.parent, beside, beside / "below")
        wanted = [(Directory(str(it)), "0755") for it in names]
        assert len(converge(wanted, kept).changed) == 4
    assert beside.is_dir()
    with opened(path, "rack") as kept:
        outcome = restore(kept)
    assert (outcome.left, outcome.notes) == ([], [])
    assert not above.exists()


def test_a_record_that_cannot_be_read_is_never_taken_for_an_empty_one(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_text('{"version": 1, "entries": [')
    with pytest.raises(HostError, match="cannot be read as a record of this host's settings"):
        provision(path)
    assert Memory.values == BEFORE


def test_the_package_runs_on_python_3_9_without_anything_installed() -> None:
    files = [
        *REPOSITORY.glob("plugins/module_utils/turntable_host/*.py"),
        *REPOSITORY.glob("plugins/modules/host_*.py"),
    ]
    assert len(files) > 10
    for file in files:
        tree = ast.parse(file.read_text(), feature_version=(3, 9))
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            for name in names:
                assert name.split(".")[0] in STANDARD | {"ansible"}, f"{file}: {name}"


STANDARD = {
    *("__future__", "collections", "contextlib", "dataclasses", "fcntl", "hashlib", "itertools"),
    *("json", "os", "pathlib", "re", "shutil", "subprocess", "tempfile", "time", "typing"),
}

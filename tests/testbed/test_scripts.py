"""What the Makefile is made of."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from .conftest import REPOSITORY


def load_lint_waits() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "lint_waits", REPOSITORY / "scripts/lint_waits.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


LINT_WAITS = load_lint_waits()

BAD = {
    "sleep.py": "import time\ntime.sleep(3)\n",
    "sleep.cc": "void f() { std::this_thread::sleep_for(std::chrono::seconds(1)); }\n",
    "usleep.cc": "void f() { usleep(10); }\n",
    "sleep.sh": "start &\nsleep 5\n",
    "sleep_in_task.yml": "- ansible.builtin.shell: start && sleep 5\n",
    "pause.yml": "- name: Wait\n  ansible.builtin.pause:\n    seconds: 3\n",
    "block.yml": "- block:\n    - name: Wait\n      wait_for:\n        timeout: 3\n",
    "by_name.sh": "pkill softswitch\n",
    "by_name.yml": "- ansible.builtin.command: killall kvserver\n",
}
GOOD = {
    "probe.py": "import time\ntime.sleep(0.01)  # waits: interval of a probe with a deadline\n",
    "send.cc": "// waits: until the intended start\nstd::this_thread::sleep_until(start);\n",
    "port.yml": "- ansible.builtin.wait_for:\n    port: 22\n    timeout: 30\n",
    "word.py": "asleep_for_long = overslept(3)\n",
    "kill.sh": 'kill -TERM "$pid"\n',
}


@pytest.mark.parametrize("name", BAD)
def test_fixed_waits_and_names_are_found(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(BAD[name])
    assert list(LINT_WAITS.check(path))


@pytest.mark.parametrize("name", GOOD)
def test_waits_for_a_condition_pass(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(GOOD[name])
    assert list(LINT_WAITS.check(path)) == []


def test_stages_stop_at_the_first_failure_and_say_which(tmp_path: Path) -> None:
    make = tmp_path / "make"
    make.write_text('#!/bin/sh\necho "made $2"\n[ "$2" != two ] || exit 7\n')
    make.chmod(0o755)
    result = subprocess.run(
        [REPOSITORY / "scripts/stages", "trial", "one", "two", "three"],
        env={"MAKE": str(make), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 7
    assert "made three" not in result.stdout
    summary = result.stdout.split("wall time per stage\n")[1].splitlines()
    assert [line.split()[0] for line in summary] == ["one", "two", "total"]
    assert summary[1].endswith("FAILED (exit status 7)")

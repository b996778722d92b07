"""Programs that run on the switch: for an old Python, and without a word of the controller's."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from turntable_sde import call

PROGRAMS = sorted(path.stem for path in call.PROGRAMS.glob("[a-z]*.py") if path.stem != "common")


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_of_python_3_6(name: str) -> None:
    text = call.text_of(name, {}).decode()
    tree = ast.parse(text, feature_version=(3, 6))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert [node.module for node in imports] == [], "one text has all that it needs"
    for newer in ("capture_output=", "text=True", "removeprefix", ":= "):
        assert newer not in text


def test_answer_is_found_behind_what_a_login_prints() -> None:
    assert call.answer_of(0, 'Welcome\n\nturntable-answer:{"ok": 3}\n', "") == 3


def test_refusal_and_silence_are_errors() -> None:
    with pytest.raises(call.SwitchError, match="not so"):
        call.answer_of(0, 'turntable-answer:{"refused": "not so"}\n', "")
    with pytest.raises(call.SwitchError, match=r"no Python 3\.6 or later"):
        call.answer_of(127, "", "no Python 3.6 or later")


def test_command_says_so_without_a_python() -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", call.COMMAND],
        env={"PATH": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 127
    assert "no Python 3.6 or later" in done.stderr


def test_profile_variables_are_not_handed_on() -> None:
    text = call.text_of("survey", {}).decode().rpartition("answer(run")[0]
    program = text + "\nprint(sorted(environment({'SDE': '/sde'})))\n"
    said = subprocess.run(
        [sys.executable, "-"], input=program, env={"SDE_INSTALL": "/profile"}, capture_output=True,
        text=True, check=True,
    ).stdout  # fmt: skip
    assert said.strip() == "['HOME', 'LANG', 'PATH', 'SDE']"

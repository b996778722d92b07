"""What playbooks use of ours is documented for ansible-doc, with the arguments that are taken."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
PLUGINS = REPOSITORY / "plugins"
ACTIONS = sorted(path.stem for path in (PLUGINS / "action").glob("*.py"))
MODULES = sorted(path.stem for path in (PLUGINS / "modules").glob("*.py"))
# Of an option of ansible-doc and of an argument of Ansible.
COMPARED = ("type", "elements", "required", "default", "choices")


def documented(kind: str, *names: str) -> dict[str, Any]:
    program = Path(sys.executable).parent / "ansible-doc"
    command = [program, "-t", kind, "--json", *names]
    shown = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    return json.loads(shown.stdout)


@pytest.fixture(scope="module")
def modules() -> dict[str, Any]:
    return documented("module", *MODULES)


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"documented_{path.stem}", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def said(options: dict[str, Any], inner: str) -> dict[str, Any]:
    """What is the same in a documentation and in an argument specification."""
    return {
        name: {key: _plain(option[key]) for key in COMPARED if option.get(key) not in (None, False)}
        | ({"options": said(option[inner], inner)} if option.get(inner) else {})
        for name, option in options.items()
    }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def test_every_action_is_documented() -> None:
    assert set(ACTIONS) <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_says_what_it_is_and_shows_an_example(modules: dict[str, Any], name: str) -> None:
    assert modules[name]["doc"]["short_description"]
    assert name in modules[name]["examples"]


@pytest.mark.parametrize("name", ACTIONS)
def test_options_are_the_arguments_that_are_taken(modules: dict[str, Any], name: str) -> None:
    action = loaded(PLUGINS / "action" / f"{name}.py").ActionModule
    arguments = getattr(action, "ARGUMENTS", {}) | getattr(action, "OWN_ARGUMENTS", {})
    if not arguments:
        pytest.skip("checks its arguments in run()")
    options = modules[name]["doc"].get("options", {})
    assert said(options, "suboptions") == said(arguments, "options")


def test_every_filter_is_documented() -> None:
    names = [
        name
        for path in sorted((PLUGINS / "filter").glob("*.py"))
        for name in loaded(path).FilterModule().filters()
    ]
    assert len(names) >= 10
    shown = documented("filter", *names)
    for name in names:
        assert shown[name]["doc"]["short_description"]
        assert name in shown[name]["examples"]


@pytest.mark.parametrize(("kind", "name"), [("callback", "progress"), ("connection", "netns")])
def test_other_plugins_are_documented(kind: str, name: str) -> None:
    assert documented(kind, name)[name]["doc"]["short_description"]

"""Forbids waiting for time instead of for a condition, and ending processes by name, in what runs
experiments.

A probe needs an interval between two looks, a load generator an instant to send at: such a line
says so with `waits: REASON` in a comment on it or on the line above. Arguments: these files only.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

RUN_PATHS = (
    *("playbooks", "roles", "plugins", "core", "systems", "analysis"),
    *("scripts", "src", "Makefile"),
)
EXEMPT = re.compile(r"_test\.cc$|/testing\.(h|cc)$|^scripts/lint_waits\.py$")
REASON = re.compile(r"(#|//)\s*(.*\b)?waits: \S+")

FORBIDDEN = {
    re.compile(r"(?<![\w.])(std::this_thread::)?(sleep_for|sleep_until)\s*\("): "a fixed sleep",
    re.compile(r"(?<![\w.])(::)?(sleep|usleep|nanosleep|clock_nanosleep)\s*\("): "a fixed sleep",
    re.compile(r"\b(time|asyncio)\.sleep\s*\("): "a fixed sleep",
    re.compile(r"(^|[;&|]\s*|\bdo\s+)sleep\s+[\d.$]"): "a fixed sleep",
    re.compile(r"\b(pkill|killall|pidof)\b"): "a process ended or found by name",
}
# What makes wait_for wait for something.
CONDITIONS = {"port", "path", "search_regex"}


def main() -> int:
    files = tracked_files()
    if sys.argv[1:]:
        files = [path for path in files if str(path) in sys.argv[1:]]
    problems = [problem for path in files for problem in check(path)]
    for problem in problems:
        print(problem)
    if problems:
        print(
            "expected: probe the condition with a deadline; end processes by id "
            "(docs/troubleshooting.md)"
        )
    return 1 if problems else 0


def tracked_files() -> list[Path]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *RUN_PATHS]
    names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [Path(name) for name in names if Path(name).is_file() and not EXEMPT.search(name)]


def check(path: Path) -> Iterator[str]:
    """One message per violation in the file."""
    text = path.read_text(errors="replace")
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        if REASON.search(line) or (number > 1 and REASON.search(lines[number - 2])):
            continue
        for pattern, what in FORBIDDEN.items():
            if pattern.search(line):
                yield f"{path}:{number}: {what}: {line.strip()}"
    if path.suffix in (".yml", ".yaml"):
        yield from check_tasks(path, yaml.safe_load(text))


def check_tasks(path: Path, node: Any) -> Iterator[str]:
    """pause, and wait_for without a condition, anywhere in a playbook or tasks file."""
    if isinstance(node, list):
        for item in node:
            yield from check_tasks(path, item)
    if not isinstance(node, dict):
        return
    name = node.get("name", "a task")
    for key, value in node.items():
        module = str(key).removeprefix("ansible.builtin.")
        if module == "pause" and isinstance(value, dict):
            yield f"{path}: {name}: pause waits for time or for a person"
        if module == "wait_for" and isinstance(value, dict) and not CONDITIONS & value.keys():
            yield f"{path}: {name}: wait_for without a condition"
        yield from check_tasks(path, value)


if __name__ == "__main__":
    sys.exit(main())

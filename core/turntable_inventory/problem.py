"""What is wrong with an inventory, in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

_ABSENT = object()


@dataclass(frozen=True)
class Problem:
    """One wrong setting: whose, which, its value, what was expected, and where it is given."""

    host: str
    key: str
    expected: str
    value: Any = _ABSENT
    place: str = ""

    def subject(self) -> str:
        """Everything but the host: equal for hosts that inherit the same mistake."""
        text = self.key if self.value is _ABSENT else f"{self.key} is {self.value!r}"
        place = f" [{self.place}]" if self.place else ""
        return f"{text}; expected {self.expected}{place}"


def render(problems: Iterable[Problem], all_hosts: list[str]) -> str:
    """One line per mistake; hosts that share it are named on the same line."""
    sharing: dict[str, list[str]] = {}
    for problem in problems:
        hosts = sharing.setdefault(problem.subject(), [])
        if problem.host not in hosts:
            hosts.append(problem.host)
    return "\n".join(f"{_who(hosts, all_hosts)}: {what}" for what, hosts in sharing.items())


def _who(hosts: list[str], all_hosts: list[str]) -> str:
    return "all hosts" if len(hosts) > 1 and set(hosts) == set(all_hosts) else ", ".join(hosts)

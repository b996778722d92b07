"""The way from what a switch shows to what is wanted: nothing is sent that is so already."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

from turntable_switch_cli.dialogue import Dialogue
from turntable_switch_cli.errors import RefusedError, SwitchCliError


class Asked(Protocol):
    def ask(self, line: str) -> str: ...


@dataclass(frozen=True)
class Setting:
    """One fact of a switch (templates/switch_qos/VENDOR/settings.yml.j2)."""

    show: str  # the command that shows it
    value: str  # pattern whose group is its value there
    wanted: str
    view: str  # where it is set
    line: str  # that sets it
    restore: Mapping[str, str]  # an earlier value -> the line that sets it again; "*": any other

    @property
    def place(self) -> tuple[str, str]:
        return self.view, self.line

    def restored(self, value: str) -> str:
        return self.restore.get(value, self.restore["*"]).replace("{value}", value)


# What is to be set, with the value that the switch shows.
Differing = list[tuple[Setting, str]]


@dataclass(frozen=True)
class Outcome:
    lines: list[str]  # that were sent to change something, or would be
    before: list[str]  # what differed, as the switch showed it; each with its view
    after: list[str]


def settings_of(documents: Sequence[Mapping[str, Any]]) -> list[Setting]:
    """Raises SwitchCliError for keys that are missing or strange."""
    known = [field.name for field in fields(Setting)]
    for document in documents:
        if sorted(document) != sorted(known):
            raise SwitchCliError(
                f"a setting has the keys {', '.join(sorted(document))}; expected {', '.join(known)}"
            )
    return [Setting(**document) for document in documents]


def converge(
    session: Asked, switch: str, settings: Sequence[Setting], dialogue: Dialogue, check: bool
) -> Outcome:
    """check: says what it would send. What was sent before a line that is refused is undone."""
    found = _values(session, switch, settings)
    differing = [pair for pair in zip(settings, found, strict=True) if pair[1] != pair[0].wanted]
    lines = lines_for([setting.place for setting, _ in differing], dialogue)
    if lines and not check:
        _change(session, switch, differing, dialogue)
    return Outcome(
        lines,
        [f"{setting.view}: {setting.restored(value)}" for setting, value in differing],
        [f"{setting.view}: {setting.line}" for setting, _ in differing],
    )


def lines_for(places: Sequence[tuple[str, str]], dialogue: Dialogue) -> list[str]:
    """places: (view, line), in order. From the prompt of the login and back to it."""
    if not places:
        return []
    lines, inside = [dialogue.configure], ""
    for view, line in places:
        if view != inside:
            lines += [dialogue.leave_view] if inside else []
            lines.append(view)
            inside = view
        lines.append(line)
    return [*lines, dialogue.leave]


def _values(session: Asked, switch: str, settings: Sequence[Setting]) -> list[str]:
    answers = {show: session.ask(show) for show in dict.fromkeys(s.show for s in settings)}
    values = []
    for setting in settings:
        found = re.search(setting.value, answers[setting.show], re.MULTILINE)
        if not found:
            raise SwitchCliError(
                f"{switch}: the answer to '{setting.show}' has nothing like {setting.value}, where "
                f"'{setting.line}' would show: {answers[setting.show].strip()!r}. If the "
                "switch's software says it otherwise, mend settings.yml.j2 of the vendor"
            )
        values.append(found[1])
    return values


def _change(session: Asked, switch: str, differing: Differing, dialogue: Dialogue) -> None:
    sent: list[str] = []
    try:
        for line in lines_for([setting.place for setting, _ in differing], dialogue):
            session.ask(line)
            sent.append(line)
        _require(session, switch, [setting for setting, _ in differing])
    except RefusedError as error:
        undone = _undo(session, differing, sent, dialogue)
        raise SwitchCliError(f"{str(error).rstrip('.')}. {undone}") from None
    except SwitchCliError as error:
        had = ", ".join(f"'{line}'" for line in sent) or "nothing"
        raise SwitchCliError(
            f"{error}. Sent before it: {had}. The next application begins with what the switch "
            "shows then"
        ) from None


def _require(session: Asked, switch: str, settings: Sequence[Setting]) -> None:
    """What was set is shown."""
    shown = zip(settings, _values(session, switch, settings), strict=True)
    wrong = [
        f"'{s.line}' in '{s.view}' was taken, and '{s.show}' shows {value}; expected {s.wanted}"
        for s, value in shown
        if value != s.wanted
    ]
    if wrong:
        raise RefusedError(f"{switch}: {'; '.join(wrong)}")


def _undo(session: Asked, differing: Differing, sent: Sequence[str], dialogue: Dialogue) -> str:
    """In words, what became of the lines that had their effect."""
    setting_lines = {setting.line for setting, _ in differing}
    count = sum(line in setting_lines for line in sent)
    if not count:
        return "Nothing was changed"
    places = [(s.view, s.restored(value)) for s, value in reversed(differing[:count])]
    back = [] if sent[-1] == dialogue.leave else [dialogue.leave]
    try:
        for line in (*back, *lines_for(places, dialogue)):
            session.ask(line)
    except SwitchCliError as error:
        return f"Settings made before it: {count}; taking them back failed: {error}"
    return f"Settings made before it: {count}; they were taken back"

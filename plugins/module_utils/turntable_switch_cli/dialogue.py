"""How a vendor's command line talks: templates/switch_qos/VENDOR/dialogue.yml."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from turntable_switch_cli.errors import SwitchCliError

# Terminals move the cursor to wipe out the pager's line.
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00\x08\x0e\x0f]")


@dataclass(frozen=True)
class Dialogue:
    first_prompt: str
    prompt: str
    pager: str
    pager_key: str
    errors: tuple[str, ...]
    prepare: tuple[str, ...]
    configure: str
    leave_view: str
    leave: str
    save: str

    def name_in(self, said: str) -> str | None:
        """The switch's name, once its first prompt is the last that it has said."""
        found = re.search(rf"(?:^|[\r\n]){self.first_prompt}\s*$", plain(said))
        return found["name"] if found else None

    def without_prompt(self, said: str, name: str) -> str | None:
        """An answer that is complete; None: its end has not come yet."""
        prompt = self.prompt.replace("{name}", re.escape(name))
        found = re.search(rf"(?:^|[\r\n])\s*{prompt}\s*$", plain(said))
        return plain(said)[: found.start()] if found else None

    def without_pager(self, said: str) -> str | None:
        """What came before a pager that waits for its key; None: none waits."""
        found = re.search(rf"\s*{self.pager}\s*$", plain(said))
        return plain(said)[: found.start()] + "\n" if found else None

    def error_in(self, answer: str) -> str | None:
        for pattern in self.errors:
            if found := re.search(rf"^\s*({pattern})\s*$", answer, re.MULTILINE):
                return found[1].strip()
        return None


def plain(said: str) -> str:
    """Without what moves a cursor, and with one kind of line end."""
    return re.sub(r"\r+\n?", "\n", _CONTROL.sub("", said))


def dialogue_of(document: Mapping[str, Any]) -> Dialogue:
    """Raises SwitchCliError for keys that are missing or strange."""
    known = [field.name for field in fields(Dialogue)]
    if sorted(document) != sorted(known):
        raise SwitchCliError(
            f"dialogue has the keys {', '.join(sorted(document))}; expected {', '.join(known)}"
        )
    lists = {name: tuple(document[name]) for name in ("errors", "prepare")}
    return Dialogue(**{**document, **lists})

"""A command line in Go's notation, as Swan's programs take it: -name value, --name=value, -name."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from turntable_core.errors import InputError

WHERE = "command line"


@dataclass
class Words:
    flags: dict[str, str] = field(default_factory=dict)  # name -> text, the last one counts
    switches: set[str] = field(default_factory=set)  # that stand alone
    extra: list[str] = field(default_factory=list)  # of -e, in order
    lists: dict[str, list[str]] = field(default_factory=dict)  # of flags that may be repeated


def read(
    arguments: Sequence[str], switches: Collection[str], repeated: Collection[str] = ()
) -> Words:
    """switches: names of flags without a value. repeated: of flags with several values. Raises
    InputError.
    """
    found, rest = Words(), list(arguments)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-") or word.strip("-") == "":
            raise InputError(WHERE, word, word, "flags alone: -name value, or -name=value")
        name, equals, text = word.lstrip("-").partition("=")
        name = name.replace("-", "_")
        if name in switches and text in ("", "true"):
            found.switches.add(name)
            continue
        if not equals:
            text = rest.pop(0) if rest else ""
            if not text:
                raise InputError(WHERE, name, "", f"a value: -{name}=VALUE")
        if name == "e":
            found.extra.append(text)
        elif name in repeated:
            found.lists.setdefault(name, []).append(text)
        else:
            found.flags[name] = text
    return found

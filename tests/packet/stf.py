"""STF, the text form of packet tests that p4c's tools write: reading a file, and playing it on a
target.

What is understood, one item a line, `#` begins a comment:

    add TABLE [PRIORITY] KEY:VALUE ... ACTION(PARAMETER:VALUE, ...)
    setdefault TABLE ACTION(PARAMETER:VALUE, ...)
    packet PORT HEX
    expect PORT HEX[$]

A VALUE is decimal, 0x... or 0b...; `*` stands for any bit of a ternary or lpm key, and for any four
bits of an expected frame. With `$` nothing may follow what is expected. Every frame that leaves
must be expected: a file with no `expect` says that the packet is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .targets import Frame, Target

ALL_PORTS = range(512)
_ACTION = re.compile(r"(?P<name>[\w.$]+)\((?P<arguments>.*)\)$")


class StfError(Exception):
    """A line that is not understood, or that does not fit the program."""


@dataclass(frozen=True)
class Action:
    name: str
    arguments: dict[str, str]


@dataclass(frozen=True)
class Entry:
    """`add`, or with key None `setdefault`."""

    table: str
    action: Action
    key: dict[str, str] | None = None
    priority: int | None = None


@dataclass(frozen=True)
class Expected:
    """A frame; `*` in the hex digits matches anything."""

    port: int
    digits: str
    whole: bool  # nothing may follow

    def matches(self, frame: Frame) -> bool:
        port, data = frame
        digits = data.hex()
        if port != self.port or len(digits) < len(self.digits):
            return False
        if self.whole and len(digits) != len(self.digits):
            return False
        return all(w in ("*", d) for w, d in zip(self.digits, digits, strict=False))

    def __str__(self) -> str:
        return f"port {self.port} {self.digits}{'$' if self.whole else ''}"


@dataclass
class StfTest:
    entries: list[Entry] = field(default_factory=list)
    packets: list[Frame] = field(default_factory=list)
    expected: list[Expected] = field(default_factory=list)


# --- Reading --------------------------------------------------------------------------------------


def parse_stf(text: str) -> StfTest:
    test = StfTest()
    for number, written in enumerate(text.splitlines(), start=1):
        words = written.partition("#")[0].split()
        if not words:
            continue
        try:
            _parse_line(words, test)
        except (ValueError, IndexError, StfError) as error:
            raise StfError(f"line {number}: '{written.strip()}': {error}") from error
    return test


def _parse_line(words: list[str], test: StfTest) -> None:
    keyword, *rest = words
    if keyword == "add":
        test.entries.append(_entry(rest))
    elif keyword == "setdefault":
        test.entries.append(Entry(rest[0], _action(" ".join(rest[1:]))))
    elif keyword == "packet":
        test.packets.append((int(rest[0]), bytes.fromhex("".join(rest[1:]))))
    elif keyword == "expect":
        digits = "".join(rest[1:]).lower()
        test.expected.append(Expected(int(rest[0]), digits.removesuffix("$"), digits.endswith("$")))
    else:
        raise StfError("expected add, setdefault, packet or expect")


def _entry(words: list[str]) -> Entry:
    table, *rest = words
    priority = int(rest.pop(0)) if rest and rest[0].isdigit() else None
    text = " ".join(rest)
    key: dict[str, str] = {}
    while (match := re.match(r"([^\s:()]+):(\S+) +", text)) is not None:
        key[match[1]] = match[2]
        text = text[match.end() :]
    return Entry(table, _action(text), key, priority)


def _action(text: str) -> Action:
    match = _ACTION.match(text)
    if match is None:
        raise StfError("expected ACTION(PARAMETER:VALUE, ...)")
    arguments = [argument.strip() for argument in match["arguments"].split(",")]
    pairs = (argument.rpartition(":") for argument in arguments if argument)
    return Action(match["name"], {name: value for name, _, value in pairs})


# --- The control plane ----------------------------------------------------------------------------


def updates(test: StfTest, schema: dict[str, Any]) -> list[dict[str, Any]]:
    """The test's entries as `table_write` takes them, with names and kinds of a bfrt.json."""
    return [_update(entry, _table(schema, entry.table)) for entry in test.entries]


def _table(schema: dict[str, Any], name: str) -> dict[str, Any]:
    found = [t for t in schema["tables"] if f".{t['name']}".endswith(f".{name}")]
    if len(found) != 1:
        raise StfError(f"the program has {len(found)} tables '{name}', expected one")
    return found[0]


def _update(entry: Entry, table: dict[str, Any]) -> dict[str, Any]:
    update: dict[str, Any] = {
        "op": "insert",
        "table": table["name"],
        "action": entry.action.name,
        "data": {name: integer(value) for name, value in entry.action.arguments.items()},
    }
    if entry.key is None:
        return update | {"op": "set_default"}
    keys = {key["name"]: key for key in table["key"]}
    prioritized = keys.pop("$MATCH_PRIORITY", None) is not None
    if prioritized and entry.priority is not None:
        update["priority"] = entry.priority
    names = _names(list(entry.key), list(keys), table["name"])
    update["key"] = {
        names[written]: _value(value, keys[names[written]]) for written, value in entry.key.items()
    }
    return update


def _names(written: Sequence[str], declared: Sequence[str], table: str) -> dict[str, str]:
    """Which key is meant by each name: P4Testgen leaves slices out, and writes `$valid$`."""
    plain: dict[str, list[str]] = {}
    for name in declared:
        plain.setdefault(_plain(name), []).append(name)
    result = {}
    for name in written:
        found = [name] if name in declared else plain.get(_plain(name), [])
        if len(found) != 1:
            raise StfError(f"'{name}' is no key of {table}; its keys: {', '.join(declared)}")
        result[name] = found[0]
    return result


def _plain(name: str) -> str:
    return re.sub(r"\[\d+:\d+\]$", "", name).replace("$valid$", "$valid")


def integer(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError as error:
        raise StfError(f"'{text}' is no number; expected decimal, 0x... or 0b...") from error


def _value(text: str, key: dict[str, Any]) -> Any:
    if key["match_type"] == "Exact":
        return integer(text)
    width = key["type"].get("width", 1)
    value, mask = _masked(text, width)
    if key["match_type"] == "Ternary":
        return {"value": value, "mask": mask}
    if key["match_type"] == "LPM":
        length = mask.bit_count()
        if mask != ((1 << length) - 1) << (width - length):
            raise StfError(f"'{text}' is no prefix of {width} bits")
        return {"value": value, "prefix_len": length}
    raise StfError(f"keys of kind {key['match_type']} are not understood")


def _masked(text: str, width: int) -> tuple[int, int]:
    """Value and mask of `0b1**0`, or of a number."""
    if "*" not in text:
        return integer(text), (1 << width) - 1
    digits = text.removeprefix("0b")
    if text == digits or len(digits) > width:
        raise StfError(f"'{text}': expected 0b and at most {width} binary digits or *")
    value = int(digits.replace("*", "0"), 2)
    mask = int("".join("0" if digit == "*" else "1" for digit in digits), 2)
    return value, mask | ((1 << width) - (1 << len(digits)))


# --- Playing --------------------------------------------------------------------------------------


def play(test: StfTest, target: Target, ports: range = ALL_PORTS) -> None:
    """Raises AssertionError where the target does something else, StfError where the test does not
    fit its program. What leaves by a port outside `ports` is not seen.
    """
    writes = updates(test, target.command("schema"))
    if writes:
        target.command("table_write", updates=writes)
    left = [frame for port, data in test.packets for frame in target.send(port, data)]
    sent = [frame for frame in left if frame[0] in ports]
    missing = []
    for expected in test.expected:
        found = next((frame for frame in sent if expected.matches(frame)), None)
        if found is None:
            missing.append(str(expected))
        else:
            sent.remove(found)
    surplus = [f"port {port} {data.hex()}" for port, data in sent]
    assert not missing and not surplus, (
        f"missing: {missing or 'none'}; besides: {surplus or 'none'}"
    )

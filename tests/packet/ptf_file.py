"""P4Testgen's PTF files: reading the tests of one, and playing a test on a target.

A file is Python for an SDE's client and PTF. Its preamble, which imports both, is left out; the
classes behind it, a test each, are run with stand-ins that write down what a test would do. Such a
file is a program: read only what you made yourself.

What is understood, in the order in which a target gets it:

    setRegisterValue, default_entry_set    cells of registers, parameters of register actions
    insertTableEntry                       entries of tables, members of action profiles
    overrideDefaultEntry                   default entries
    setDirectRegisterValue                 the cell of every entry that the table has then
    send_packet, verify_packet             packets; `set_do_not_care` bits of those expected

Every packet that leaves must be expected: a test without verify_packet says that it is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from .targets import Frame, Target

ALL_PORTS = range(512)
# P4Testgen's PTF tests expect that what would leave with less is dropped: `check_tofino_drop`.
SHORTEST_FRAME_BYTES = 30
Values = dict[str, int]  # of a struct, by the name of the field; of a plain value, under PLAIN
PLAIN = ""


class PtfFileError(Exception):
    """Text that is not understood, or that does not fit the program."""


@dataclass(frozen=True)
class Entry:
    """With key None it is the default entry. A value of the key is a number, or what kinds of
    keys need: `value` and `mask`, `value` and `prefix_len`, `low` and `high`.
    """

    table: str
    action: str | None
    data: dict[str, int]
    key: dict[str, int | dict[str, int]] | None = None


@dataclass(frozen=True)
class Cell:
    """What a cell of a register is to hold."""

    table: str
    index: int
    values: Values


@dataclass(frozen=True)
class DirectCells:
    """What the cells of all entries of a table are to hold."""

    table: str
    values: Values


@dataclass
class Expected:
    """A frame; where a bit of the mask is 0, any bit will do."""

    port: int
    frame: bytes
    mask: bytes

    def matches(self, sent: Frame) -> bool:
        port, data = sent
        bits = zip(data, self.frame, self.mask, strict=False)
        same_size = len(data) == len(self.frame)
        return port == self.port and same_size and all((d ^ f) & m == 0 for d, f, m in bits)

    def __str__(self) -> str:
        wildcard = "" if all(byte == 0xFF for byte in self.mask) else f" mask {self.mask.hex()}"
        return f"port {self.port} {self.frame.hex()}{wildcard}"


@dataclass
class PtfTest:
    name: str
    cells: list[Cell] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    direct_cells: list[DirectCells] = field(default_factory=list)
    packets: list[Frame] = field(default_factory=list)
    expected: list[Expected] = field(default_factory=list)


# --- Reading --------------------------------------------------------------------------------------


class _Mask:
    """PTF's: a packet with bits that are not compared."""

    def __init__(self, packet: bytes) -> None:
        self.packet = packet
        self.bits = bytearray(b"\xff" * len(packet))

    def set_do_not_care(self, first: int, count: int) -> None:
        for bit in range(first, first + count):
            self.bits[bit // 8] &= ~(0x80 >> bit % 8)


class _Test:
    """What the classes of a file are made from."""

    # PTF's and the client's names, which the generated methods call.
    # ruff: noqa: N802
    def __init__(self, name: str) -> None:
        self.written = PtfTest(name)
        self.target = None
        self.bfrt_info = SimpleNamespace(table_get=self._table)

    def insertTableEntry(
        self,
        table: str,
        key: Sequence[tuple[str, Any]] = (),
        action: str | None = None,
        data: Sequence[tuple[str, int]] = (),
    ) -> None:
        self.written.entries.append(Entry(table, action, dict(data), dict(key)))

    def overrideDefaultEntry(
        self, table: str, action: str | None = None, data: Sequence[tuple[str, int]] = ()
    ) -> None:
        self.written.entries.append(Entry(table, action, dict(data)))

    def setRegisterValue(self, table: str, value: Any, index: int) -> None:
        self.written.cells.append(Cell(table, index, _values(value)))

    def setDirectRegisterValue(self, table: str, value: Any) -> None:
        self.written.direct_cells.append(DirectCells(table, _values(value)))

    def _table(self, name: str) -> Any:
        """Of a RegisterParam, whose value is the data of its default entry."""

        def set_default(_target: Any, data: Sequence[tuple[str, int]]) -> None:
            self.written.cells.append(Cell(name, 0, {PLAIN: dict(data)["value"]}))

        return SimpleNamespace(make_data=list, default_entry_set=set_default)


def _values(value: Any) -> Values:
    if not isinstance(value, list):
        return {PLAIN: value}
    return {name.rpartition(".")[2]: number for name, number in value}


def _key_tuple(
    name: str, value: int | None = None, mask: int | None = None, prefix_len: int | None = None,
    low: int | None = None, high: int | None = None,
) -> tuple[str, Any]:  # fmt: skip
    parts = {"value": value, "mask": mask, "prefix_len": prefix_len, "low": low, "high": high}
    given = {part: number for part, number in parts.items() if number is not None}
    return name, given["value"] if list(given) == ["value"] else given


def _send_packet(test: _Test, port: int, packet: bytes) -> None:
    test.written.packets.append((port, packet))


def _verify_packet(test: _Test, mask: _Mask, port: int) -> None:
    test.written.expected.append(Expected(port, mask.packet, bytes(mask.bits)))


def parse_ptf(text: str) -> list[PtfTest]:
    """The tests of a file in their order, also if the last one was not written to its end."""
    parts = re.split(r"^(?=class Test\w*\(AbstractTest\):)", text, flags=re.MULTILINE)
    tests = []
    for part in parts[1:]:
        # The method that a test ends with; without it p4testgen was stopped here.
        if "def runTest(self):" in part:
            tests.append(_read_class(part))
    return tests


def _read_class(text: str) -> PtfTest:
    name = text.removeprefix("class ").partition("(")[0]
    names: dict[str, Any] = {
        "__name__": "p4testgen",
        "AbstractTest": _Test,
        "gc": SimpleNamespace(KeyTuple=_key_tuple, DataTuple=lambda name, value: (name, value)),
        "Mask": _Mask,
        "send_packet": _send_packet,
        "verify_packet": _verify_packet,
    }
    try:
        exec(compile(text, name, "exec"), names)
        test = names[name](name)
        test.setupCtrlPlane()
        test.sendPacket()
        test.verifyPackets()
    except Exception as error:
        raise PtfFileError(f"{name}: {type(error).__name__}: {error}") from error
    written: PtfTest = test.written
    if not written.packets:
        raise PtfFileError(f"{name}: it sends no packet")
    return written


# --- The control plane ----------------------------------------------------------------------------


def updates(test: PtfTest, schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The test's cells and entries as `table_write` takes them, with names of a bfrt.json."""
    cells = [_cell_update(cell, _table(schema, cell.table)) for cell in test.cells]
    return cells + [_entry_update(entry, _table(schema, entry.table)) for entry in test.entries]


def _table(schema: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = [t for t in schema["tables"] if f".{t['name']}".endswith(f".{name}")]
    if len(found) != 1:
        raise PtfFileError(f"the program has {len(found)} tables '{name}', expected one")
    return dict(found[0])


def _cell_update(cell: Cell, table: Mapping[str, Any]) -> dict[str, Any]:
    update = {"op": "modify", "table": table["name"], "first": cell.index}
    if PLAIN in cell.values:
        return update | {"values": [cell.values[PLAIN]]}
    fields = [each["singleton"]["name"].rpartition(".")[2] for each in table["data"]]
    return update | {"values": [[cell.values[name] for name in fields if name in cell.values]]}


def _entry_update(entry: Entry, table: Mapping[str, Any]) -> dict[str, Any]:
    data = {name: _number(value) for name, value in entry.data.items()}
    update: dict[str, Any] = {"op": "insert", "table": table["name"], "data": data}
    if entry.action is not None:
        update["action"] = entry.action
    if entry.key is None:
        return update | {"op": "set_default"}
    declared = [key["name"] for key in table["key"] if key["name"] != "$MATCH_PRIORITY"]
    names = _names(list(entry.key), declared, table["name"])
    return update | {"key": {names[name]: _numbers(value) for name, value in entry.key.items()}}


def _numbers(value: int | dict[str, int]) -> Any:
    if isinstance(value, int):
        return _number(value)
    return {part: _number(number) for part, number in value.items()}


def _number(value: int) -> int | str:
    """Numbers of JSON have 64 bits; wider ones are texts."""
    return value if value < 1 << 64 else hex(value)


def _names(written: Sequence[str], declared: Sequence[str], table: str) -> dict[str, str]:
    """Which key is meant by each name: P4Testgen leaves slices out, and writes `$valid$`."""
    plain: dict[str, list[str]] = {}
    for name in declared:
        plain.setdefault(_plain(name), []).append(name)
    result = {}
    for name in written:
        found = [name] if name in declared else plain.get(_plain(name), [])
        if len(found) != 1:
            raise PtfFileError(f"'{name}' is no key of {table}; its keys: {', '.join(declared)}")
        result[name] = found[0]
    return result


def _plain(name: str) -> str:
    return re.sub(r"\[\d+:\d+\]$", "", name).replace("$valid$", "$valid")


def direct_updates(
    cells: DirectCells, table: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """What writes these cells of the entries that a `table_read` has shown."""
    names = [each.get("singleton", each).get("name", "") for each in table["data"]]
    data = {}
    for field_, value in cells.values.items():
        last = field_ or "f1"
        found = [name for name in names if name.rpartition(".")[2] == last]
        if len(found) != 1:
            raise PtfFileError(f"{table['name']} has {len(found)} data fields '{last}'")
        data[found[0]] = value
    parts = ("key", "priority")
    return [
        {"op": "modify", "table": table["name"], "data": data}
        | {part: entry[part] for part in parts if part in entry}
        for entry in entries
    ]


# --- Playing --------------------------------------------------------------------------------------


def play(test: PtfTest, target: Target, ports: range = ALL_PORTS) -> None:
    """Raises AssertionError where the target does something else, PtfFileError where the test does
    not fit its program. What leaves by a port outside `ports` is not seen, nor what is too short.
    """
    schema = target.command("schema")
    writes = updates(test, schema)
    if writes:
        target.command("table_write", updates=writes)
    for cells in test.direct_cells:
        table = _table(schema, cells.table)
        entries = target.command("table_read", table=table["name"])["entries"]
        target.command("table_write", updates=direct_updates(cells, table, entries))
    left = [frame for port, data in test.packets for frame in target.send(port, data)]
    sent = [f for f in left if f[0] in ports and len(f[1]) >= SHORTEST_FRAME_BYTES]
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

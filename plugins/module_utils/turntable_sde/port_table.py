"""Ports over BF Runtime: table $PORT, its values, and the way from one state to another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from turntable_bfrt import BfrtError, Client, Update
from turntable_sde.pm import PortsError, Wanted

PORT, BY_NAME, DEVICE = "$PORT", "$PORT_STR_INFO", "tf1.dev.device_configuration"
AUTONEG = {
    "default": "PM_AN_DEFAULT",
    "enabled": "PM_AN_FORCE_ENABLE",
    "disabled": "PM_AN_FORCE_DISABLE",
}
FEC = {"none": "BF_FEC_TYP_NONE", "fc": "BF_FEC_TYP_FIRECODE", "rs": "BF_FEC_TYP_REED_SOLOMON"}
# Other names of the same.
_SYNONYMS = {"BF_FEC_TYP_FC": FEC["fc"], "BF_FEC_TYP_RS": FEC["rs"]}
_SHOWN = ("$SPEED", "$FEC", "$AUTO_NEGOTIATION", "$LOOPBACK_MODE", "$PORT_ENABLE")
_IDENTITY = ("$SPEED", "$FEC")  # a port with others is added anew

Row = Mapping[str, Any]


class PortTable:
    """Of one switch; rows by dev_port."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def rows(self) -> dict[int, dict[str, Any]]:
        return {
            entry.key["$DEV_PORT"]: {name: _SYNONYMS.get(str(value), value)
                                     for name, value in entry.data.items()}
            for entry in self._client.read(PORT)
        }  # fmt: skip

    def numbers(self, wanted: Sequence[Wanted]) -> dict[str, int]:
        """The board's dev_port of each port. Raises PortsError for one that it does not have, or
        whose number in the inventory is another.
        """
        numbers, absent = {}, []
        for port in wanted:
            try:
                [entry] = self._client.read(BY_NAME, [{"$PORT_NAME": port.name}])
            except BfrtError as error:
                if "NOT_FOUND" not in (error.code, *(code for _, code, _ in error.updates)):
                    raise
                absent.append(port.name)
                continue
            numbers[port.name] = entry.data["$DEV_PORT"]
        if absent:
            raise PortsError(f"the board has no port {', '.join(absent)}; see {BY_NAME}")
        wrong = [
            f"{port.name} is dev_port {numbers[port.name]} of this board; the inventory says "
            f"{port.dev_port}" + (f" ({port.peer})" if port.peer else "")
            for port in wanted
            if port.dev_port not in (None, numbers[port.name])
        ]
        if wrong:
            raise PortsError("; ".join(wrong) + ". Write the board's number into turntable_wiring")
        return numbers

    def require_pipes(self, expected: int) -> None:
        """Registers have a value for each pipe: who reads them has to know how many come."""
        [facts] = self._client.read(DEVICE)
        found = facts.data["num_pipes"]
        if found != expected:
            raise PortsError(
                f"the chip has {found} pipes; the wiring table says {expected}: each register "
                f"would be read as {expected} values, and {found} come. Write pipes: {found} into "
                "turntable_wiring"
            )

    def write(self, updates: Sequence[Update]) -> None:
        """Goes on after errors; names the updates that have failed."""
        try:
            self._client.write(updates)
        except BfrtError as error:
            if not error.updates:
                raise
            failed = "; ".join(
                f"{text_of(updates[i])}: {code} {said}" for i, code, said in error.updates
            )
            raise PortsError(
                f"the switch refused {failed}. Other updates had their effect; the next "
                "application begins with what the switch shows then"
            ) from None


def row_of(wanted: Wanted) -> dict[str, Any]:
    return {
        "$SPEED": f"BF_SPEED_{wanted.speed}",
        "$FEC": FEC[wanted.fec],
        "$AUTO_NEGOTIATION": AUTONEG[wanted.autoneg],
        "$LOOPBACK_MODE": f"BF_LPBK_{wanted.loopback.upper().replace('-', '_')}",
        "$PORT_ENABLE": wanted.enabled,
    }


def updates_for(wanted: Wanted, number: int, row: Row | None) -> list[Update]:
    """What makes a port as it should be; nothing if it is."""
    key, should = {"$DEV_PORT": number}, row_of(wanted)
    if row is not None and all(row.get(name) == value for name, value in should.items()):
        return []
    updates = []
    if row is not None and any(row.get(name) != should[name] for name in _IDENTITY):
        updates.append(Update("delete", PORT, key))
        row = None
    if row is None:
        first = {name: should[name] for name in _IDENTITY}
        updates.append(Update("insert", PORT, key, first))
        row = first | {
            "$AUTO_NEGOTIATION": AUTONEG["default"],
            "$LOOPBACK_MODE": "BF_LPBK_NONE",
            "$PORT_ENABLE": False,
        }
    left = {name: value for name, value in should.items() if row.get(name) != value}
    if "$LOOPBACK_MODE" in left:  # of a port that is disabled
        if row["$PORT_ENABLE"]:
            updates.append(Update("modify", PORT, key, {"$PORT_ENABLE": False}))
            left["$PORT_ENABLE"] = wanted.enabled
        loopback = {"$LOOPBACK_MODE": left.pop("$LOOPBACK_MODE")}
        updates.append(Update("modify", PORT, key, loopback))
    if left:
        updates.append(Update("modify", PORT, key, left))
    return updates


def differences(
    wanted: Sequence[Wanted], numbers: Mapping[str, int], rows: Mapping[int, Row]
) -> list[str]:
    """Where the switch does not show what was written."""
    found = []
    for port in wanted:
        row = rows.get(numbers[port.name])
        if row is None:
            found.append(f"{port.name} is not there after it was added")
            continue
        found += [
            f"{port.name}: {name} is {row.get(name)} after {value} was written"
            for name, value in row_of(port).items()
            if row.get(name) != value
        ]
    return found


def down(
    wanted: Sequence[Wanted], numbers: Mapping[str, int], rows: Mapping[int, Row]
) -> list[Wanted]:
    return [p for p in wanted if p.enabled and not rows.get(numbers[p.name], {}).get("$PORT_UP")]


def why_down(port: Wanted, row: Row) -> str:
    peer = f" to {port.peer}" if port.peer else ""
    return (
        f"{port.name}{peer}: enabled, not up ({row['$SPEED']}, {row['$FEC']}, "
        f"{row['$AUTO_NEGOTIATION']}); expected a cable, and the same speed, FEC and "
        "autonegotiation at the other end (there: ethtool --show-fec, ethtool)"
    )


def text_of(update: Update) -> str:
    key = " ".join(str(value) for value in update.key.values())
    data = " ".join(f"{name.removeprefix('$')}={value}" for name, value in update.data.items())
    return f"{update.op} {update.table} {key} {data}".rstrip()


def shown(rows: Mapping[int, Row], numbers: Mapping[str, int]) -> str:
    """Wanted ports for --diff, a line each."""
    lines = []
    for name, number in numbers.items():
        row = rows.get(number)
        values = "absent" if row is None else " ".join(str(row.get(key)) for key in _SHOWN)
        lines.append(f"{name} ({number}): {values}\n")
    return "".join(lines)

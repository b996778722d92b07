"""The port manager of the switch's command line: its table, its errors, and the way from one state
to another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

AUTONEG = {"default": ("0", "Au"), "enabled": ("1", "En"), "disabled": ("2", "Ds")}
FEC = {"none": "NONE", "fc": "FC", "rs": "RS"}
LOOPBACK = {
    "none": "NONE",
    "mac-near": "Mac-near",
    "mac-far": "Mac-far",
    "pcs-near": "Pcs-near",
    "serdes-near": "Ser-near",
}
# A command's exit status says nothing: it failed if its output has one of these.
_ERROR = re.compile(
    r"^(Usage\s*:.*|.*\bfailed\b.*\(\d+\).*|unknown command.*|% Invalid.*)$", re.MULTILINE
)
_NEEDED = ("PORT", "D_P", "SPEED", "FEC", "AN", "RDY", "ADM", "OPR", "LPBK")


class PortsError(Exception):
    """What the switch said, or shows, is not what was expected."""


@dataclass(frozen=True)
class Wanted:
    """A port as the inventory has it."""

    name: str
    speed: str
    fec: str = "none"
    autoneg: str = "default"
    loopback: str = "none"
    enabled: bool = True
    dev_port: int | None = None  # as the inventory has it, to compare with the switch's
    peer: str = ""  # whose cable is in it

    def row(self) -> dict[str, str]:
        return {
            "SPEED": self.speed,
            "FEC": FEC[self.fec],
            "AN": AUTONEG[self.autoneg][1],
            "LPBK": LOOPBACK[self.loopback],
            "ADM": "ENB" if self.enabled else "DIS",
        }


def rows_of(text: str) -> dict[str, dict[str, str]]:
    """Port -> its row, of what `show` says. Columns are found by their names: their number differs
    between releases.
    """
    columns: list[str] = []
    rows: dict[str, dict[str, str]] = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if "PORT" in cells and "OPR" in cells:
            columns = cells
            missing = [name for name in _NEEDED if name not in columns]
            if missing:
                raise PortsError(
                    f"pm show has no column {', '.join(missing)}, only {', '.join(columns)}"
                )
        elif len(cells) > 1 and re.fullmatch(r"\d+/\d+", cells[0]):
            if len(cells) != len(columns):
                raise PortsError(
                    f"a row of pm show has {len(cells)} cells under {len(columns)} columns: "
                    f"{line!r}; its output is cut short or garbled"
                )
            rows[cells[0]] = dict(zip(columns, cells, strict=True))
    return rows


def error_in(text: str) -> str | None:
    found = _ERROR.search(text)
    return found.group(0).strip() if found else None


def commands_for(wanted: Wanted, row: Mapping[str, str] | None) -> list[str]:
    """What makes a port as it should be; nothing if it is. A speed is changed by adding the port
    anew.
    """
    if row is not None and all(row[key] == value for key, value in wanted.row().items()):
        return []
    port, commands = wanted.name, []
    if row is not None and (row["SPEED"], row["FEC"]) != (wanted.speed, FEC[wanted.fec]):
        commands.append(f"port-del {port}")
        row = None
    if row is None:
        commands.append(f"port-add {port} {wanted.speed} {FEC[wanted.fec]}")
        row = {"AN": "Au", "LPBK": "NONE", "ADM": "DIS"}
    if row["LPBK"] != LOOPBACK[wanted.loopback]:
        if row["ADM"] == "ENB":
            commands.append(f"port-dis {port}")
            row = {**row, "ADM": "DIS"}
        mode = "clear" if wanted.loopback == "none" else wanted.loopback
        commands.append(f"port-loopback {port} {mode}")
    if row["AN"] != AUTONEG[wanted.autoneg][1]:
        commands.append(f"an-set {port} {AUTONEG[wanted.autoneg][0]}")
    if (row["ADM"] == "ENB") != wanted.enabled:
        commands.append(f"{'port-enb' if wanted.enabled else 'port-dis'} {port}")
    return commands


def differences(wanted: Sequence[Wanted], rows: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Where the switch does not show what was written."""
    found = []
    for port in wanted:
        row = rows.get(port.name)
        if row is None:
            found.append(f"{port.name} is not there after it was added")
            continue
        for key, value in port.row().items():
            if row[key] != value:
                found.append(f"{port.name}: {key} is {row[key]} after {value} was written")
    return found


def wrong_dev_ports(wanted: Sequence[Wanted], rows: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Where the inventory has another dev_port than the board: tables would send packets
    elsewhere.
    """
    return [
        f"{port.name} is dev_port {rows[port.name]['D_P']} of this board; the inventory says "
        f"{port.dev_port}" + (f" ({port.peer})" if port.peer else "")
        for port in wanted
        if port.dev_port is not None
        and port.name in rows
        and int(rows[port.name]["D_P"]) != port.dev_port
    ]


def down(wanted: Sequence[Wanted], rows: Mapping[str, Mapping[str, str]]) -> list[Wanted]:
    return [port for port in wanted if port.enabled and rows.get(port.name, {}).get("OPR") != "UP"]


def why_down(port: Wanted, row: Mapping[str, Any]) -> str:
    peer = f" to {port.peer}" if port.peer else ""
    if row["RDY"] != "YES":
        return f"{port.name}{peer}: no cable or module (RDY NO)"
    return (
        f"{port.name}{peer}: enabled, not up ({row['SPEED']}, FEC {row['FEC']}, AN "
        f"{row['AN']}); expected the same "
        "speed, FEC and autonegotiation at the other end (there: ethtool --show-fec, ethtool)"
    )

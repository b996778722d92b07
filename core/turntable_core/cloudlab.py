"""hosts.yml of a CloudLab experiment, of its manifest and a wiring table.

    scripts/cloudlab manifest.xml wiring.csv --output inventories/mine/hosts.yml

The manifest (GENI RSpec 3) is what the portal shows of an experiment that runs. The table says
which nodes take part, as what, and which of their networks carries data:

    node,role,host,link,nic
    node-0,clients,client0,link-0,ens1f0

node and link are client_ids of the manifest; role and host are those of the inventory; nic is the
interface's name on the host, which no manifest says (`ip -br address` on the node does).
"""

from __future__ import annotations

import argparse
import csv
import ipaddress
import re
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

import yaml

COLUMNS = ("node", "role", "host", "link", "nic")
_NAMESPACE = "{http://www.geni.net/resources/rspec/3}"
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_NIC = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,14}")
_MAC_DIGITS = re.compile(r"[0-9a-f]{12}")


class WiringError(Exception):
    """What is wrong, where, and what was expected."""


@dataclass(frozen=True)
class Row:
    """Of the wiring table."""

    line: int
    node: str
    role: str
    host: str
    link: str
    nic: str


@dataclass(frozen=True)
class Nic:
    """On the data network."""

    mac: str  # 02:00:0a:00:03:0b
    address: ipaddress.IPv4Interface


@dataclass(frozen=True)
class Login:
    hostname: str
    port: int
    user: str


def read_manifest(path: Path) -> ElementTree.Element:
    """Raises WiringError, OSError. Entities are refused: a manifest has none."""
    try:
        _refuse_entities(path.read_bytes())
        root = ElementTree.fromstring(path.read_bytes())
    except (ElementTree.ParseError, expat.ExpatError) as error:
        raise WiringError(f"{path}: {error}; expected a manifest in XML") from error
    if root.tag != f"{_NAMESPACE}rspec" or root.get("type") != "manifest":
        kind = root.get("type", "none")
        raise WiringError(
            f"{path}: {root.tag} of type {kind}; expected an rspec of type manifest "
            f"({_NAMESPACE.strip('{}')}), as the portal shows it once the experiment runs"
        )
    return root


def _refuse_entities(text: bytes) -> None:
    """Those of a document may be anything, and as long as all memory."""

    def refuse(*_: object) -> None:
        raise WiringError("the manifest has a DOCTYPE; expected none")

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.Parse(text, True)


def read_wiring(path: Path) -> list[Row]:
    """Raises WiringError, OSError."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        if rows.fieldnames is None or tuple(rows.fieldnames) != COLUMNS:
            found = ",".join(rows.fieldnames or ["nothing"])
            raise WiringError(f"{path}:1: {found}; expected the columns {','.join(COLUMNS)}")
        found_rows = [_row(path, rows.line_num, row) for row in rows]
    if not found_rows:
        raise WiringError(f"{path}: no host; expected a row for each")
    for column in ("node", "host"):
        _refuse_twice(path, column, found_rows)
    return found_rows


def _row(path: Path, line: int, row: Mapping[str | None, Any]) -> Row:
    if None in row or None in row.values():
        raise WiringError(f"{path}:{line}: expected {len(COLUMNS)} fields")
    values = {name: row[name].strip() for name in COLUMNS}
    for name, pattern, expected in (
        ("role", _NAME, "a group such as clients: small letters, digits, _"),
        ("host", _NAME, "a name such as client0: small letters, digits, _"),
        ("nic", _NIC, "an interface's name such as ens1f0, at most 15 characters"),
        ("node", re.compile(".+"), "a node's client_id"),
        ("link", re.compile(".+"), "a link's client_id"),
    ):
        if not pattern.fullmatch(values[name]):
            raise WiringError(f"{path}:{line}: {name} {values[name]!r}; expected {expected}")
    return Row(line, **values)


def _refuse_twice(path: Path, column: str, rows: Iterable[Row]) -> None:
    seen: dict[str, int] = {}
    for row in rows:
        value = getattr(row, column)
        if value in seen:
            raise WiringError(
                f"{path}:{row.line}: {column} {value!r} is in line {seen[value]} too; expected once"
            )
        seen[value] = row.line


def hosts_of(manifest: ElementTree.Element, rows: Sequence[Row]) -> dict[str, Any]:
    """The document hosts.yml. Raises WiringError, with the line of the table."""
    nodes = {node.get("client_id", ""): node for node in manifest.iter(f"{_NAMESPACE}node")}
    roles: dict[str, dict[str, Any]] = {}
    networks: dict[ipaddress.IPv4Network, int] = {}
    for row in rows:
        if row.node not in nodes:
            raise _wrong(row, f"there is no node {row.node!r}", f"one of {_listed(nodes)}")
        nic, login = _nic(manifest, nodes[row.node], row), _login(nodes[row.node], row)
        networks.setdefault(nic.address.network, row.line)
        roles.setdefault(row.role, {})[row.host] = {
            "ansible_host": login.hostname,
            "ansible_port": login.port,
            "ansible_user": login.user,
            "turntable_data_address": str(nic.address.ip),
            "turntable_data_mac": nic.mac,
            "turntable_data_interface": row.nic,
        }
    if len(networks) > 1:
        (first, _), (other, line) = list(networks.items())[:2]
        raise WiringError(
            f"line {line}: its link has network {other}; expected {first}, as of the hosts above: "
            "all are on one data network"
        )
    groups = {role: {"hosts": hosts} for role, hosts in roles.items()}
    return {
        "all": {"vars": {"turntable_data_network": str(next(iter(networks)))}},
        "controller": {"hosts": {"localhost": None}},
        "testbed": {"children": {"endpoints": {"children": groups}}},
    }


def _wrong(row: Row, what: str, expected: str) -> WiringError:
    return WiringError(f"line {row.line}, node {row.node!r}: {what}; expected {expected}")


def _listed(names: Iterable[str | None]) -> str:
    return ", ".join(sorted(name or "?" for name in names)) or "a manifest with some"


def _nic(manifest: ElementTree.Element, node: ElementTree.Element, row: Row) -> Nic:
    links = {link.get("client_id"): link for link in manifest.iter(f"{_NAMESPACE}link")}
    if row.link not in links:
        raise _wrong(row, f"there is no link {row.link!r}", f"one of {_listed(links)}")
    ends = {end.get("client_id") for end in links[row.link].iter(f"{_NAMESPACE}interface_ref")}
    found = [
        interface
        for interface in node.iter(f"{_NAMESPACE}interface")
        if interface.get("client_id") in ends
    ]
    if len(found) != 1:
        raise _wrong(row, f"it has {len(found)} interfaces at link {row.link!r}", "one")
    mac = found[0].get("mac_address", "").lower().replace(":", "").replace("-", "")
    if not _MAC_DIGITS.fullmatch(mac):
        raise _wrong(row, f"its mac_address is {found[0].get('mac_address')!r}", "12 hex digits")
    addresses = [ip for ip in found[0].iter(f"{_NAMESPACE}ip") if ip.get("type", "ipv4") == "ipv4"]
    try:
        (ip,) = addresses
        address = ipaddress.IPv4Interface(f"{ip.get('address')}/{ip.get('netmask')}")
    except ValueError as error:
        raise _wrong(
            row, f"its interface at link {row.link!r} says no IPv4 address", "one"
        ) from error
    return Nic(":".join(mac[at : at + 2] for at in range(0, 12, 2)), address)


def _login(node: ElementTree.Element, row: Row) -> Login:
    logins = list(node.iter(f"{_NAMESPACE}login"))
    if not logins:
        raise _wrong(row, "it has no login", "a node that can be reached by ssh")
    return Login(
        logins[0].get("hostname", ""),
        int(logins[0].get("port", "22")),
        logins[0].get("username", ""),
    )


def types_of(manifest: ElementTree.Element, rows: Sequence[Row]) -> dict[str, int]:
    """How many of the hosts are of which hardware."""
    named = {row.node for row in rows}
    found: dict[str, int] = {}
    for node in manifest.iter(f"{_NAMESPACE}node"):
        kinds = [each.get("name", "?") for each in node.iter(f"{_NAMESPACE}hardware_type")]
        if node.get("client_id") in named:
            found[kinds[0] if kinds else "?"] = found.get(kinds[0] if kinds else "?", 0) + 1
    return found


def render(manifest: ElementTree.Element, rows: Sequence[Row]) -> str:
    hosts = hosts_of(manifest, rows)
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(types_of(manifest, rows).items()))
    return (
        f"---\n# Made by scripts/cloudlab of a manifest and a wiring table: {kinds}.\n"
        + yaml.safe_dump(hosts, sort_keys=False)
    )


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="cloudlab", description="hosts.yml of a GENI manifest and a wiring table"
    )
    parser.add_argument("manifest", type=Path, help="in XML, as the portal shows it")
    parser.add_argument("wiring", type=Path, help=f"CSV: {','.join(COLUMNS)}")
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: standard output")
    given = parser.parse_args(words)
    try:
        manifest, rows = read_manifest(given.manifest), read_wiring(given.wiring)
        text = render(manifest, rows)
        left_out = {node.get("client_id", "?") for node in manifest.iter(f"{_NAMESPACE}node")} - {
            row.node for row in rows
        }
        if given.output:
            _write(given.output, text)
        else:
            print(text, end="")
    except WiringError as error:
        print(f"cloudlab: {error}", file=sys.stderr)
        return 2
    except (OSError, UnicodeDecodeError) as error:
        print(f"cloudlab: {error}", file=sys.stderr)
        return 2
    if left_out:
        print(f"cloudlab: not in the table, left out: {_listed(left_out)}", file=sys.stderr)
    return 0


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
    ) as made:
        made.write(text)
    Path(made.name).chmod(0o644)
    Path(made.name).replace(path)


if __name__ == "__main__":
    sys.exit(main())

"""The examples of open-p4studio that have a test: which ports each is tested on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EXAMPLES = Path("pkgsrc/p4-examples/p4_16_programs")  # in a checkout
# What the SDE's scripts take where an example has no ports.json: port i is between veth(2i), of the
# switch, and veth(2i+1), of the test.
DEFAULT_PORTS = {port: (f"veth{2 * port}", f"veth{2 * port + 1}") for port in range(17)}
CPU_PORT = 64
CPU_LINK = ("veth250", "veth251")
# How many pipes, each with a state of its own, a test asks for; else the ports are those of one.
PIPES = {
    "selector_resize": 4,
    "tna_exact_match": 4,
    "tna_idletimeout": 4,
    "tna_meter_bytecount_adjust": 4,
    "tna_mirror": 4,
    "tna_pktgen": 4,
    "tna_port_metadata": 4,
    "tna_proxy_hash": 4,
    "tna_pvs": 4,
    "tna_register": 4,
    "tna_ternary_match": 4,
}
# Tests that take packets apart as only the SDE's own module of packets lets them.
OWN_PACKETS = {"tna_dyn_hashing"}


@dataclass(frozen=True)
class Example:
    name: str
    program: Path
    include: Path  # of what examples have in common
    ports: dict[int, tuple[str, str]]  # interfaces of the switch and of the test
    facts: dict[int, str]  # what ports.json says of a port, as PTF takes it behind an interface

    @property
    def pipes(self) -> int:
        return PIPES.get(self.name, 1)

    @property
    def packets(self) -> str:
        """PTF's packet manipulation module."""
        return "bf_pktpy.ptf.packet_pktpy" if self.name in OWN_PACKETS else "ptf.packet_scapy"

    @property
    def directory(self) -> Path:
        return self.program.parent

    @property
    def interfaces(self) -> dict[int, str]:
        """Of the test, with the facts."""
        return {port: end + self.facts.get(port, "") for port, (_, end) in self.ports.items()}


def examples(studio: Path, names: Sequence[str]) -> list[Example]:
    """In the order of their names; without names, all for a Tofino 1."""
    root = studio / EXAMPLES
    found = []
    for test in sorted(root.glob("*/test.py")):
        directory = test.parent
        program = directory / f"{directory.name}.p4"
        chosen = directory.name in names if names else not directory.name.startswith("t2na")
        if chosen and program.exists():
            links = _links(directory)
            found.append(Example(directory.name, program, root, _ports(links), _facts(links)))
    return found


def _links(directory: Path) -> list[dict[str, Any]]:
    path = directory / "ports.json"
    found = json.loads(path.read_text())["PortToVeth"] if path.exists() else []
    return [dict(link) for link in found]


def _ports(links: list[dict[str, Any]]) -> dict[int, tuple[str, str]]:
    if not links:
        return DEFAULT_PORTS | {CPU_PORT: CPU_LINK}
    return {link["device_port"]: (f"veth{link['veth1']}", f"veth{link['veth2']}") for link in links}


def _facts(links: list[dict[str, Any]]) -> dict[int, str]:
    return {
        link["device_port"]: "".join(f";{name}={value}" for name, value in link.items())
        for link in links
    }

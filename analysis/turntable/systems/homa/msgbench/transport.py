"""What nodes are told of transport and load, as typed or derived by homa-sim."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turntable.systems.homa.artifact import names
from turntable_core.asked_program import AskedProgram
from turntable_core.errors import TurntableError, did_you_mean
from turntable_systems.homa import links, methods, sizes
from turntable_systems.homa.distribution import Distribution, distribution_of

PROTOCOLS = ("homa", "basic", "tcp")
ONE_WAY_BYTES = 100  # of the answers to --one-way
UNLINKED_GBPS = 10.0  # the paper's; for what has to be a share of a link where none is given
_ANY_LOAD = 0.5  # priorities do not depend on it
_DEADLINE_S = 60.0
_PAYLOAD_BYTES, _TICK_MS, _CONNECTIONS = 1442, 2.0, 1
_PACKET_BYTES = (64, 8900)  # of payload: src/homa/settings.cc
_OF_HOMA = ("priorities",)
_OF_PACKETS = ("payload_bytes", "rtt_bytes")


@dataclass(frozen=True)
class Workload:
    name: str  # as files of the artifact have it
    argument: dict[str, Any]  # `sizes` of nodes and simulation
    distribution: Distribution
    paper: str | None = None  # the paper's, whose priorities are known

    @classmethod
    def of(
        cls, name: str, argument: dict[str, Any], where: str | None = None, paper: str | None = None
    ) -> Workload:
        """where: the table's file, for messages. Raises TurntableError for a table that is none."""
        return cls(name, argument, distribution_of(argument, where or name), paper)


def workload_of(options: Namespace) -> Workload:
    """Raises TurntableError for a word that is none."""
    word = options.workload
    suffix = names.ONE_WAY if options.one_way else ""
    if re.fullmatch(r"[0-9]+", word):
        if int(word) == 0:
            raise TurntableError("--workload: messages of 0 bytes; expected at least 1")
        refuse(options, ("cap_bytes", "divide"), "a --workload of one size")
        return Workload.of(f"{int(word)}B{suffix}", {"bytes": int(word)})
    paper = word.upper() if word.upper() in sizes.PAPER else None
    if paper:
        name, text = word.upper(), sizes.text_of(word.upper())
    elif Path(word).is_file():
        name, text = Path(word).stem.replace("_", "-"), Path(word).read_text(encoding="utf-8")
    else:
        raise TurntableError(
            f"--workload: {word!r} is not accepted; expected {sizes.PAPER[0]} to "
            f"{sizes.PAPER[-1]}, a file with a table of sizes (docs/homa.md §8), or a number of "
            f"bytes{did_you_mean(word.upper(), sizes.PAPER)}"
        )
    argument: dict[str, Any] = {"table": text}
    divide = options.divide or 1.0
    if divide > 1:
        argument["divide"] = divide
    if options.cap_bytes:
        argument["cap"] = options.cap_bytes
    name = names.workload_of(name, divide, options.cap_bytes) + suffix
    return Workload.of(name, argument, where=word, paper=paper)


def complete(options: Namespace, priorities: int) -> None:
    """Gives options that were not said their defaults. Raises TurntableError for what does not
    apply to the protocol, or is beyond its bounds.
    """
    what = f"--protocol {options.protocol}"
    if options.protocol != "homa":
        refuse(options, _OF_HOMA, what)
    if options.protocol != "tcp":
        refuse(options, ("connections",), what)
    else:
        refuse(options, ("tick_ms",), what)
        if options.load is None:  # whose share of the link counts Homa's packets, also for TCP
            refuse(options, _OF_PACKETS, what)
    options.priorities = options.priorities or priorities
    options.tick_ms = options.tick_ms or _TICK_MS
    options.connections = options.connections or _CONNECTIONS
    options.payload_bytes = options.payload_bytes or _PAYLOAD_BYTES
    _check_packets(options)


def refuse(options: Namespace, given: Iterable[str], what: str) -> None:
    for name in given:
        if getattr(options, name) is not None:
            option = "--cap" if name == "cap_bytes" else f"--{name.replace('_', '-')}"
            raise TurntableError(f"{option}: does not apply to {what}; leave it out")


def _check_packets(options: Namespace) -> None:
    payload, rtt = options.payload_bytes, options.rtt_bytes
    least, most = _PACKET_BYTES
    if not least <= payload <= most:
        raise TurntableError(
            f"--payload-bytes: {payload} is not accepted; expected {least} to {most}: packets are "
            "not fragmented"
        )
    if rtt is None or rtt % payload == 0:
        return
    near = [count * payload for count in (rtt // payload, rtt // payload + 1) if count]
    raise TurntableError(
        f"--rtt-bytes: {rtt} is not accepted; expected whole packets of {payload} bytes, such as "
        f"{' or '.join(map(str, near))}"
    )


@dataclass(frozen=True)
class Derived:
    payload_bps: float  # at the load that was asked for, if one was
    transport: dict[str, Any]  # of the nodes' `prepare`


def derive(options: Namespace, workload: Workload) -> Derived:
    """Raises TurntableError. A load is the same payload for every transport: Homa's headers and
    grants are what it counts.
    """
    question = {
        **_priorities(options, workload),
        "sizes": workload.argument,
        "transport": "homa",
        "levels": options.priorities,
        "payload_bytes": options.payload_bytes,
        "gbps": _link_gbps(options),
        "load": options.load or _ANY_LOAD,
        "hosts": 2,
        "warmup_s": 0,
        "measure_s": 1e-6,  # nothing is simulated: only what is derived before is wanted
        "drain_s": 0,
        "response_bytes": response_bytes(options),
    }
    if options.rtt_bytes:
        question["rtt_bytes"] = options.rtt_bytes
    homa_sim = AskedProgram(options.build / "bin" / "homa-sim", "homa", _DEADLINE_S, lambda: None)
    answer = homa_sim.ask(question)
    return Derived(answer["payload_gbps"] * 1e9, transport_of(options, answer))


def _priorities(options: Namespace, workload: Workload) -> dict[str, Any]:
    if workload.paper is None:
        return {}
    known = options.priorities in methods.PAPER_LEVELS
    return {"paper" if known else "paper_degree": workload.paper}


def response_bytes(options: Namespace) -> int:
    """Of every answer; 0: as many as its request has."""
    return ONE_WAY_BYTES if options.one_way else 0


def transport_of(options: Namespace, derived: dict[str, Any] | None = None) -> dict[str, Any]:
    """derived: priorities, of homa-sim; None: a single one."""
    transport: dict[str, Any] = {"kind": options.protocol}
    if options.link_gbps:
        transport["link_bps"] = round(options.link_gbps * 1e9)
        transport["link_overhead_bytes"] = links.OVERHEAD
    if options.protocol == "tcp":
        return transport | {"connections": options.connections}
    transport |= {"payload_bytes": options.payload_bytes, "tick_ms": options.tick_ms}
    # RTTbytes are whole packets: the paper's 7.
    transport["rtt_bytes"] = options.rtt_bytes or 7 * options.payload_bytes
    if options.protocol == "basic" or derived is None:
        return transport | {"levels": 1}
    wanted = ("unscheduled_levels", "cutoffs", "degree")
    return transport | {"levels": options.priorities} | {name: derived[name] for name in wanted}


def label(options: Namespace) -> str:
    """As the artifact's files name the transport."""
    if options.protocol == "homa":
        return names.name_of(f"homa-p{options.priorities}")
    return {"basic": "Basic", "tcp": "TCP"}[options.protocol]


def load_label(options: Namespace, payload_bps: float) -> str:
    return names.load_of(payload_bps, _link_gbps(options) * 1e9)


def load_text(options: Namespace, payload_bps: float) -> str:
    link = f"{_link_gbps(options):g} Gb/s"
    assumed = "" if options.link_gbps else ", which is assumed where --link-gbps is not given"
    return f"payload {load_label(options, payload_bps)} % of {link}{assumed}"


def _link_gbps(options: Namespace) -> float:
    return options.link_gbps or UNLINKED_GBPS

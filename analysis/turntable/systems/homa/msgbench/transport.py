"""What nodes are told of transport and load, as typed or derived by homa-sim."""

from __future__ import annotations

import re
from argparse import Namespace
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
_UNLINKED_GBPS = 10.0  # the paper's; for what has to be a share of a link where none is given
_ANY_LOAD = 0.5  # priorities do not depend on it
_DEADLINE_S = 60.0


@dataclass(frozen=True)
class Workload:
    name: str  # as files of the artifact have it
    argument: dict[str, Any]  # `sizes` of nodes and simulation
    distribution: Distribution

    @classmethod
    def of(cls, name: str, argument: dict[str, Any], where: str | None = None) -> Workload:
        """where: the table's file, for messages. Raises TurntableError for a table that is none."""
        return cls(name, argument, distribution_of(argument, where or name))


def workload_of(options: Namespace) -> Workload:
    """Raises TurntableError for a word that is none."""
    word = options.workload
    if re.fullmatch(r"[0-9]+", word):
        if int(word) == 0:
            raise TurntableError("--workload: messages of 0 bytes; expected at least 1")
        return Workload.of(f"{int(word)}B", {"bytes": int(word)})
    if word.upper() in sizes.PAPER:
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
    if options.divide > 1:
        argument["divide"] = options.divide
    if options.cap_bytes:
        argument["cap"] = options.cap_bytes
    return Workload.of(name, argument, where=word)


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
        "gbps": options.link_gbps or _UNLINKED_GBPS,
        "load": options.load or _ANY_LOAD,
        "hosts": 2,
        "warmup_s": 0,
        "measure_s": 1e-6,  # nothing is simulated: only what is derived before is wanted
        "drain_s": 0,
    }
    if options.one_way:
        question["response_bytes"] = ONE_WAY_BYTES
    if options.rtt_bytes:
        question["rtt_bytes"] = options.rtt_bytes
    homa_sim = AskedProgram(options.build / "bin" / "homa-sim", "homa", _DEADLINE_S, lambda: None)
    answer = homa_sim.ask(question)
    return Derived(answer["payload_gbps"] * 1e9, transport_of(options, answer))


def _priorities(options: Namespace, workload: Workload) -> dict[str, Any]:
    if workload.name not in sizes.PAPER:
        return {}
    known = options.priorities in methods.PAPER_LEVELS
    return {"paper" if known else "paper_degree": workload.name}


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
    return names.load_of(payload_bps, (options.link_gbps or _UNLINKED_GBPS) * 1e9)

"""What a program takes of the chip, from the files that the compiler leaves with `-g`.

context.json says which table lies in which stage, resources.json which memory blocks are taken,
phv.json which containers. Their schemas are in p4c's backends/tofino/compiler_interfaces.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Of one pipe of Tofino 1.
STAGES = 12
SRAM_BLOCKS = 80 * STAGES
TCAM_BLOCKS = 24 * STAGES
PHV_CONTAINERS = {8: 64, 16: 96, 32: 64}


class ReportError(Exception):
    """A report is missing or has another shape than expected."""


@dataclass(frozen=True)
class Usage:
    """Of one program. A stage is counted if a table of that direction lies in it."""

    ingress_stages: int
    egress_stages: int
    stateful_alus: int  # one per register and stage
    sram_blocks: int
    tcam_blocks: int
    phv_containers: dict[int, int]  # by width in bits, without the deparser-only tagalong


def read_usage(directory: Path) -> Usage:
    """Of the compiler's output directory, wherever in it the reports are. Raises ReportError."""
    context, resources, phv = (
        _load(directory, name) for name in ("context.json", "resources.json", "phv.json")
    )
    try:
        tables = context["tables"]
        stages = resources["resources"]["mau"]["mau_stages"]
        return Usage(
            ingress_stages=len(_stages(tables, "ingress")),
            egress_stages=len(_stages(tables, "egress")),
            stateful_alus=sum(
                len(set(_stage_numbers(t))) for t in tables if t["table_type"] == "stateful"
            ),
            sram_blocks=sum(len(stage["rams"]["srams"]) for stage in stages),
            tcam_blocks=sum(len(stage["tcams"]["tcams"]) for stage in stages),
            phv_containers=Counter(
                container["bit_width"]
                for container in phv["containers"]
                if container["container_type"] == "normal"
            ),
        )
    except (KeyError, TypeError) as error:
        raise ReportError(f"{directory}: a report lacks {error}") from error


def _load(directory: Path, name: str) -> Any:
    found = sorted(directory.rglob(name))
    if len(found) != 1:
        raise ReportError(f"{directory} holds {len(found)} files {name}, expected one")
    return json.loads(found[0].read_text())


def _stages(tables: list[dict[str, Any]], direction: str) -> set[int]:
    """Stage -1 is the parser, where the table of port metadata lies."""
    return {
        number
        for table in tables
        if table["direction"] == direction
        for number in _stage_numbers(table)
        if number >= 0
    }


def _stage_numbers(node: Any) -> Iterator[int]:
    """Every `stage_number` below a table: match tables have theirs one level deeper."""
    if isinstance(node, dict):
        if "stage_number" in node:
            yield node["stage_number"]
        node = list(node.values())
    if isinstance(node, list):
        for item in node:
            yield from _stage_numbers(item)

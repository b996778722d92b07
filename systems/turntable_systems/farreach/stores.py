"""What building the stores of a run takes: keys are loaded once, and found again by later runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from turntable_core.plan import Turn
from turntable_core.system import Preparation
from turntable_core.testbed import Testbed
from turntable_systems.farreach import hosts
from turntable_systems.farreach.methods import caches
from turntable_systems.farreach.workload import workload_of

# Measured on a virtual machine with two cores.
KEYS_PER_S = 60_000

BYTES_PER_KEY = 24  # beside the value
BYTES_PER_OPERATION = 16  # of a client's trace, and of the part of it that an iteration replays


def preparation(turns: Sequence[Turn], testbed: Testbed) -> Preparation:
    # Methods may share one.
    stores = {json.dumps(_spec_of(turn), sort_keys=True): turn for turn in turns}.values()
    missing = [keys_to_load(turn, testbed) for turn in stores]
    sizes = [workload_of(turn)["value_bytes"] + BYTES_PER_KEY for turn in stores]
    lacking, keys = sum(count > 0 for count in missing), sum(missing)
    emulated = testbed.emulated  # its hosts share this machine's file systems
    return Preparation(
        seconds=keys / KEYS_PER_S,
        what=f"building stores: {lacking} of {len(stores)} lack some, {keys:,} keys",
        disk_bytes=sum(count * size for count, size in zip(missing, sizes, strict=True)),
        disk_of="new stores" if emulated else "stores on the server hosts, at most",
        disk_on=Path(hosts.servers(testbed)[0].state_dir).parent if emulated else None,
        memory_bytes=max(map(_trace_bytes, turns), default=0),
        memory_of="the traces of all clients",
    )


def _spec_of(turn: Turn) -> dict[str, Any]:
    """As src/farreach/kv/store_library.cc has it."""
    parameters = turn.cell.parameters
    return {
        "workload": workload_of(turn),
        "scale": parameters["servers"],
        "store_profile": parameters["store_profile"],
        "records": "numbered" if caches(parameters) else None,
    }


def keys_to_load(turn: Turn, testbed: Testbed) -> int:
    """Keys of the partitions whose stores no server host of this machine has."""
    keys = turn.prediction.keys
    there = _partitions_there(turn, testbed)
    return sum(count for partition, count in enumerate(keys) if partition not in there)


def _partitions_there(turn: Turn, testbed: Testbed) -> set[int]:
    """By the files of src/farreach/kv/store_library.h; empty for hosts that are other machines."""
    wanted = _spec_of(turn)
    stores = [
        store
        for host in hosts.servers(testbed)
        for spec in Path(host.state_dir).glob("stores/*/spec.json")
        for found in [_spec(spec)]
        if wanted == {name: found.get(name) for name in wanted}
        for store in spec.parent.glob("p*/base/store.json")
    ]
    return {int(store.parents[1].name.removeprefix("p")) for store in stores}


def _spec(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):  # a kvserver is just removing or writing it
        return {}


def _trace_bytes(turn: Turn) -> int:
    """Whole traces, and the pieces of the busiest pair of partitions."""
    busiest = sum(sorted(turn.prediction.trace.shares)[-2:])
    return round(workload_of(turn)["operations"] * BYTES_PER_OPERATION * (1 + busiest))

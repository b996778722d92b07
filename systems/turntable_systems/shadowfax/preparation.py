"""What a run takes beside its windows: the time to store all keys for every turn, and to add up
their values after it; memory, and disk for the logs' files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any

from turntable_core.plan import Turn
from turntable_core.system import Preparation
from turntable_core.testbed import Testbed
from turntable_systems.shadowfax import batches, placement, store_size, text_stores, workloads

Parameters = Mapping[str, Any]

# Of one thread: the original's 48 stored 250 million keys in 12.1 s.
KEYS_PER_S = 250_000_000 / 12.1 / 48
_REQUEST_BYTES = 17  # in these
# Of values that memory has no room for, which the sums read from the device one by one. `memory`,
# profile embedded, has 14.4 million of them; of its 10 minutes (2 processors, 4 reads under way) 4
# were estimated without.
SUM_READS_PER_S = 14_400_000 / 360


def preparation(turns: Sequence[Turn], testbed: Testbed) -> Preparation:
    cells = [turn.cell.parameters for turn in turns]
    here = testbed.emulated  # all hosts share this machine's memory and file systems
    beyond_memory = max(map(_beyond_memory_bytes, cells), default=0)
    return Preparation(
        seconds=sum(_fill_s(each, testbed) + _sums_s(each, testbed) for each in cells),
        what=f"storing the keys of {len(turns)} turns, and adding up their values",
        disk_bytes=beyond_memory,
        disk_of="records that have no room in memory, at least" if beyond_memory else "",
        disk_on=_state_directory(testbed) if here else None,
        memory_bytes=max(map(_memory_bytes, cells), default=0) if here else 0,
        memory_of="stores of all servers" if here else "",
    )


def _fill_s(parameters: Parameters, testbed: Testbed) -> float:
    threads = parameters["threads"] * len(placement.clients(testbed))
    longer = batches.request_bytes(parameters) / _REQUEST_BYTES
    return parameters["keys"] * longer / (KEYS_PER_S * threads)


def _sums_s(parameters: Parameters, testbed: Testbed) -> float:
    """Hosts that share a machine share its device."""
    if not workloads.keeps_sums(parameters):
        return 0.0
    values = _beyond_memory_bytes(parameters) / store_size.record_bytes(parameters)
    devices = 1 if testbed.emulated else parameters["servers"]
    return values / (SUM_READS_PER_S * devices)


def _memory_bytes(parameters: Parameters) -> int:
    if text_stores.is_text(parameters):
        return parameters["servers"] * (text_stores.memory_mb(parameters) << 20)
    of_one = store_size.log_bytes(parameters) + store_size.index_bytes(parameters)
    return parameters["servers"] * of_one


def _beyond_memory_bytes(parameters: Parameters) -> int:
    if text_stores.is_text(parameters):
        return 0
    of_one = ceil(store_size.data_bytes(parameters)) - store_size.log_bytes(parameters)
    return parameters["servers"] * max(0, of_one)


def _state_directory(testbed: Testbed) -> Path:
    """The one above those of all hosts."""
    return Path(testbed.hosts_of("servers")[0].state_dir).parent

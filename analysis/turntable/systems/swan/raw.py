"""Fields of the nodes' raw statistics (docs/swan.md) -> Measurement.

The only place that knows their names; turntable.raw knows those of hosts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from turntable import raw
from turntable.raw import RawAnswer, results
from turntable.systems.swan.measurement import (
    BestEffort,
    Generator,
    Measurement,
    Memcached,
    Place,
    ProbeRow,
    Progress,
)

GENERATOR, COLOCATOR = "mcload-node", "colocator"

Stats = Mapping[str, Any]  # of one node


def read_answers(
    answers: Sequence[RawAnswer], index: int, data: Mapping[str, Any], overhead_s: float | None
) -> Measurement:
    """answers: of every host, in all phases of one attempt. index, data: of its iteration."""
    clients = results(answers, GENERATOR, "stats")
    (server,) = results(answers, COLOCATOR, "stats")
    threads = [thread for client in clients for thread in client["threads"]]
    return Measurement(
        iteration=index,
        seconds=fmean(client["window_ns"] for client in clients) / 1e9,
        overhead_s=overhead_s,
        errors=_errors(clients),
        start_lateness_us=max(thread["start_lateness_ns"] for thread in threads) / 1e3,
        end_lateness_us=max(thread["window_lateness_ns"] for thread in threads) / 1e3,
        hosts=raw.hosts(answers),
        place=Place(data["aggressor"], data["load"], data["load_index"], data.get("repeat", 0)),
        generator=_generator(clients, threads),
        memcached=_memcached(server["memcached"]),
        best_effort=_best_effort(server.get("aggressor")),
        others_share=server.get("others_share"),
        applied=tuple((server.get("isolation") or {}).get("applied", ())),
        probe=tuple(_probe(server.get("probe"))),
        first_probe=tuple(_probe(server.get("first_probe"))),
        platform=server.get("platform") or {},
    )


def _errors(clients: Sequence[Stats]) -> dict[str, int]:
    """What must not happen at all."""
    counts = [client["errors"] for client in clients]
    names = dict.fromkeys(name for each in counts for name in each)
    counted = raw.errors("generator", counts, names)
    incomplete = sum(not client["complete"] for client in clients)
    return counted | ({"generator window incomplete": incomplete} if incomplete else {})


def _generator(clients: Sequence[Stats], threads: Sequence[Stats]) -> Generator:
    def total(field: str) -> int:
        return sum(client[field] for client in clients)

    def texts(field: str) -> tuple[str, ...]:
        return tuple(client[field] for client in clients)

    return Generator(
        target_per_s=sum(client["rate_per_s"] for client in clients),
        **{
            name: clients[0].get(name)
            for name in ("peak_per_s", "peak_confirmed", "peak_found_at_ns")
        },
        **{
            name: total(name)
            for name in ("offered", "delivered", "lost", "unsent", "withheld", "requests_total")
        },
        **{name: total(name) for name in ("gets", "sets", "misses")},
        latency_ns=texts("latency_ns"),
        from_send_ns=texts("from_send_ns"),
        send_late_ns=texts("send_late_ns"),
        wait_share=raw.wait_share(threads),
        cpu_s=sum(_cpu_s(client["cpu"]) for client in clients),
        per_second=[
            {name: sum(row[name] for row in rows) for name in ("offered", "delivered")}
            for rows in zip(*(client["per_second"] for client in clients), strict=False)
        ],
    )


def _memcached(stats: Stats) -> Memcached:
    return Memcached(
        restarted=stats["restarted"],
        cpu_s=_cpu_s(stats),
        evictions=(stats.get("stats") or {}).get("evictions", 0),
        switches=stats["voluntary_switches"] + stats["involuntary_switches"],
    )


def _best_effort(stats: Stats | None) -> BestEffort | None:
    if stats is None:
        return None
    progress = stats.get("progress")
    known = progress and progress["amount"] is not None and progress["seconds"]
    return BestEffort(
        name=stats["name"],
        command=_words(stats["command"]),
        version=stats.get("version"),
        count=stats["count"],
        cpus=tuple(stats["cpus"]),
        cpu_s=_cpu_s(stats),
        ended_early=stats.get("ended_early"),
        progress=Progress(**progress) if known else None,
        cache=_cache(stats.get("cache")),
    )


def _cache(share: Stats | None) -> str | None:
    """None: it is not held to a part, or the file is older than that."""
    if share is None:
        return None
    part, whole = f"{share['kib']:,}", f"{share['all_kib']:,}"
    ways = f"{share['ways']} of {share['all_ways']} ways"
    return f"{part} of {whole} KiB of level {share['level']} ({ways})"


def _words(command: Any) -> str:
    """Of one process, a list of words; of several, a list of such lists."""
    if isinstance(command, str):
        return command
    if command and not isinstance(command[0], str):
        return "; ".join(map(_words, command))
    return " ".join(command)


def _cpu_s(stats: Stats) -> float:
    return (stats["user_ns"] + stats["system_ns"]) / 1e9


# Field of a row -> its unit.
_PROBED = {"ns_per_step": "ns per step", "gb_per_s": "GB/s", "per_us": "per µs"}


def _probe(answer: Stats | None) -> Iterable[ProbeRow]:
    for row in (answer or {}).get("rows", ()):
        for field, unit in _PROBED.items():
            if row.get(field) is not None:
                yield ProbeRow(
                    what=_probed(row),
                    value=row[field],
                    unit=unit,
                    is_beside=bool(row.get("beside")),
                    is_shared=row.get("shared", False),
                )


def _probed(row: Stats) -> str:
    size = f" of {row['size_kib']:,} KiB" if row.get("size_kib") else ""
    beside = row.get("beside")
    other = f" beside {beside['what']} on CPU {beside['cpu']}" if beside else ""
    return f"{row['what']}{size} on CPU {row['cpu']}{other}"

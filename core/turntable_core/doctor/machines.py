"""Hosts as machines: can they be reached, do their clocks agree, is there room, is there time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from turntable_core.doctor.finding import NOTE, OK, PROBLEM, Finding, of_hosts
from turntable_core.doctor.looks import HostView

# All hosts start at one instant, 120 ms ahead: clocks must agree much better than that.
CLOCK_LIMIT_S = 0.010

DISK_LEAST, DISK_COMFORT = 200 << 20, 2 << 30  # bytes
MEMORY_LEAST, MEMORY_COMFORT = 256 << 20, 1 << 30  # bytes
BUSY_LIMIT, STEAL_LIMIT = 0.5, 0.02  # shares of all processors
OPEN_FILES = 1024

# pidfd_open, by which supervisors watch their nodes.
KERNEL = (5, 3)


def findings(views: Sequence[HostView], network_is_up: bool) -> Iterator[Finding]:
    """network_is_up: False if the doctor has said already why hosts cannot be reached."""
    unreachable = [view for view in views if view.unreachable is not None]
    reached = [view for view in views if view.unreachable is None]
    if unreachable and not network_is_up:
        names = of_hosts([view.name for view in unreachable], [view.name for view in views])
        yield Finding(NOTE, "hosts", f"{names}: not looked at until the network is up")
    else:
        for view in unreachable:
            yield _unreachable(view)
    if not unreachable:
        yield Finding(OK, "hosts", f"all {len(views)} can be reached")
    if reached:
        yield from _clocks(reached)
        yield from _kernels(reached)
        yield from _links(reached)
        yield from _room(reached)
        yield from _processors(reached)


def _unreachable(view: HostView) -> Finding:
    advice = (
        "is the machine up, and does its connection work? Try: "
        f"ansible {view.name} -m ansible.builtin.raw -a true"
    )
    return Finding(PROBLEM, "hosts", f"{view.name}: {view.unreachable}", advice)


def _clocks(views: Sequence[HostView]) -> Iterator[Finding]:
    wrong = [
        view for view in views if view.clock and abs(view.clock[0]) - view.clock[1] > CLOCK_LIMIT_S
    ]
    for view in wrong:
        offset_s, bound_s = view.clock
        where = "ahead of" if offset_s > 0 else "behind"
        yield Finding(
            PROBLEM,
            "clocks",
            f"{view.name} is {abs(offset_s):.3f} s {where} the controller (known to "
            f"{bound_s * 1e3:.0f} ms); at most {CLOCK_LIMIT_S * 1e3:.0f} ms are allowed, "
            "for all hosts begin at one instant",
            "let chrony or another NTP client set the clocks of all hosts",
        )
    known = [abs(view.clock[0]) + view.clock[1] for view in views if view.clock]
    if known and not wrong:
        yield Finding(
            OK, "clocks", f"agree with the controller's to {max(known) * 1e3:.0f} ms or better"
        )


def _kernels(views: Sequence[HostView]) -> Iterator[Finding]:
    for view in views:
        release = view.text("kernel").strip()
        version = tuple(int(part) for part in re.findall(r"\d+", release)[:2])
        if version and version < KERNEL:
            needed = ".".join(map(str, KERNEL))
            yield Finding(
                PROBLEM, "kernel", f"{view.name}: Linux {release}; {needed} or newer is needed"
            )
        limit = view.text("open-files").strip()
        if limit.isdigit() and int(limit) < OPEN_FILES:
            yield Finding(
                PROBLEM,
                "limits",
                f"{view.name}: {limit} open files per process; {OPEN_FILES} are needed",
                "raise `ulimit -n` for the user that Ansible connects as",
            )
        if view.text("user").strip() not in ("", "0"):
            yield Finding(
                PROBLEM,
                "limits",
                f"{view.name}: commands run as user {view.text('user').strip()}, not as root",
                "packet sockets and priorities need root: set ansible_become: true",
            )
    releases = sorted({view.text("kernel").strip() for view in views})
    yield Finding(OK, "kernel", f"Linux {', '.join(releases)}")


def _links(views: Sequence[HostView]) -> Iterator[Finding]:
    for view in views:
        lines = view.text("links").splitlines()
        missing = [line.split('"')[1] for line in lines if "does not exist" in line and '"' in line]
        down = [line.split()[1].rstrip(":") for line in lines if "state DOWN" in line]
        if missing or down:
            parts = [f"{name} does not exist" for name in missing] + [
                f"{name} is down" for name in down
            ]
            yield Finding(
                PROBLEM,
                "links",
                f"{view.name}: {', '.join(parts)}",
                "playbooks/testbed_up.yml repairs an embedded testbed; on a rack look at the cable",
            )
        if view.text("packet-sockets").strip() != "yes":
            yield Finding(
                PROBLEM,
                "kernel",
                f"{view.name}: no packet sockets (AF_PACKET)",
                "modprobe af_packet",
            )


def _room(views: Sequence[HostView]) -> Iterator[Finding]:
    tight = False
    for view in views:
        for what, look in (("sockets and logs", "disk-run"), ("stores", "disk-state")):
            free = _free_disk(view.text(look))
            if free is not None and free < DISK_COMFORT:
                tight = True
                yield Finding(
                    PROBLEM if free < DISK_LEAST else NOTE,
                    "disk",
                    f"{view.name}: {_size(free)} left for {what}",
                    "free some space; playbooks/testbed_down.yml -e purge=true removes stores",
                )
        available = _available_memory(view.text("memory"))
        if available is not None and available < MEMORY_COMFORT:
            tight = True
            yield Finding(
                PROBLEM if available < MEMORY_LEAST else NOTE,
                "memory",
                f"{view.name}: {_size(available)} available",
                "end what uses it (`ps -eo rss,args --sort -rss | head`)",
            )
    if not tight:
        disks = [
            free for view in views if (free := _free_disk(view.text("disk-state"))) is not None
        ]
        memories = [
            m for view in views if (m := _available_memory(view.text("memory"))) is not None
        ]
        if disks and memories:
            text = f"at least {_size(min(disks))} of disk and {_size(min(memories))} of memory free"
            yield Finding(OK, "room", text)


def _processors(views: Sequence[HostView]) -> Iterator[Finding]:
    uses = {view.name: use for view in views if (use := _use(view)) is not None}
    if not uses:
        return
    stolen = {name: steal for name, (_, steal) in uses.items() if steal > STEAL_LIMIT}
    if stolen:
        yield Finding(
            NOTE,
            "processors",
            f"the hypervisor takes {max(stolen.values()):.0%} of the time away "
            f"({of_hosts(stolen, uses)})",
            "measurements may be judged invalid while it does; try again at a quieter time",
        )
    busy = {name: share for name, (share, _) in uses.items() if share > BUSY_LIMIT}
    if busy:
        yield Finding(
            NOTE,
            "processors",
            f"{max(busy.values()):.0%} busy already ({of_hosts(busy, uses)})",
            "what else runs? `top` tells; a run competes with it",
        )
    if not stolen and not busy:
        share = max(share for share, _ in uses.values())
        counts = sorted({view.text("processors").strip() for view in views})
        yield Finding(
            OK,
            "processors",
            f"{' or '.join(counts)} per host, at most {share:.0%} busy, none stolen",
        )


def _use(view: HostView) -> tuple[float, float] | None:
    """Shares of the interval in which processors were busy, and were taken away."""
    before, after = (
        [int(word) for word in view.text(look).split()[1:9]] for look in ("cpu-before", "cpu-after")
    )
    if len(before) < 8 or len(after) < 8:
        return None
    spent = [b - a for a, b in zip(before, after, strict=True)]
    total = sum(spent)
    if total <= 0:
        return None
    idle, steal = spent[3] + spent[4], spent[7]
    return (total - idle - steal) / total, steal / total


def _free_disk(text: str) -> int | None:
    words = text.split()
    return int(words[3]) * 1024 if len(words) >= 6 and words[3].isdigit() else None


def _available_memory(text: str) -> int | None:
    found = re.search(r"^MemAvailable:\s+(\d+) kB", text, re.MULTILINE)
    return int(found.group(1)) * 1024 if found else None


def _size(count: int) -> str:
    return f"{count / 2**30:.1f} GiB" if count >= 1 << 30 else f"{count / 2**20:.0f} MiB"

"""What a machine of a rack is given: what systems need of it, and what the inventory says."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from turntable_core.errors import InputError
from turntable_core.programs import library_packages, programs_of
from turntable_core.system import HostNeeds, System
from turntable_core.testbed import DataHost, Host, Testbed
from turntable_inventory.inventory import PREFIX

# By which NICs and their interrupts are set.
_TOOLS = ("ethtool", "iproute2")
# What is recorded on a machine before it is changed, unless turntable_host_record says where.
_RECORD = "/var/lib/turntable/host_settings.json"
# Moves interrupts again some seconds after they were given to processors.
_MOVES_INTERRUPTS = "irqbalance"
# What a network namespace is told by, in an inventory.
_NAMESPACE = f"{PREFIX}namespace"

Variables = Mapping[str, Any]


def is_machine(variables: Variables) -> bool:
    """Whether the host has a kernel of its own, so that its settings are its own."""
    return _NAMESPACE not in variables


def record_of(variables: Variables) -> str | None:
    """File on the host; None: a namespace, of which nothing is recorded."""
    return str(_given(variables, "host_record", _RECORD)) if is_machine(variables) else None


def settings_of(
    host: Host, variables: Variables, testbed: Testbed, wanted: Iterable[System]
) -> dict[str, Any]:
    """Parameters of the role host_settings; what nobody wants is not in it.

    variables: of the host, in the inventory. wanted: systems for which the host is made ready.
    """
    wanted = list(wanted)
    needs = list(_needs(host, testbed, wanted))
    interface = host.interface if isinstance(host, DataHost) else ""
    sysctls = {
        key.format(interface=interface): value
        for key, value in _joined(host, "sysctls", [need.sysctls for _, need in needs]).items()
    }
    limits = _joined(host, "limits", [need.limits for _, need in needs])
    settings = {
        "packages": _packages(host, variables, [need for _, need in needs]),
        "masked_services": _unique(name for _, need in needs for name in need.masked_services),
        "sysctls": {**sysctls, **_given(variables, "host_sysctls", {})},
        "limits": {**limits, **_given(variables, "host_limits", {})},
        "huge_pages": _given(variables, "host_huge_pages", {}),
        "transparent_huge_pages": _transparent_huge_pages(host, variables, needs),
        "cpu_governor": _given(variables, "host_cpu_governor", None),
        "nic": _nic(host, variables, testbed) if isinstance(host, DataHost) else None,
    }
    if settings["nic"] and settings["nic"].get("interrupt_cpus"):
        settings["stopped_services"] = [_MOVES_INTERRUPTS]
    return {key: value for key, value in settings.items() if value}


def packages_of_programs(
    host: Host, testbed: Testbed, wanted: Iterable[System], build_programs: str
) -> list[str]:
    """Of the shared libraries that the host's programs need, as they are on the controller."""
    names = [path.rpartition("/")[2] for path in programs_of(host, testbed, wanted)]
    return library_packages(f"{build_programs}/{name}" for name in names)


def _needs(
    host: Host, testbed: Testbed, wanted: Iterable[System]
) -> Iterator[tuple[str, HostNeeds]]:
    for system in wanted:
        for role in system.roles:
            if host in testbed.hosts_of(role.group):
                yield system.name, role.needs


def _packages(host: Host, variables: Variables, needs: Iterable[HostNeeds]) -> list[str]:
    tools = _TOOLS if isinstance(host, DataHost) else ()
    of_systems = (name for need in needs for name in need.packages)
    return _unique((*tools, *of_systems, *_given(variables, "host_packages", [])))


def _joined(host: Host, what: str, maps: Iterable[Mapping[str, int | str]]) -> dict[str, int | str]:
    """Of several systems the larger number; what cannot be compared is for the inventory to say."""
    joined: dict[str, int | str] = {}
    for key, value in (pair for one in maps for pair in one.items()):
        other = joined.setdefault(key, value)
        if other == value:
            continue
        if "unlimited" in (other, value):
            joined[key] = "unlimited"
        elif isinstance(other, int) and isinstance(value, int):
            joined[key] = max(other, value)
        else:
            where = f"inventory: host {host.name}"
            expected = f"one value: its systems want {other!r} and {value!r}. Say which there"
            raise InputError(where, f"{PREFIX}host_{what}.{key}", value, expected)
    return joined


def _transparent_huge_pages(
    host: Host, variables: Variables, needs: Iterable[tuple[str, HostNeeds]]
) -> str | None:
    key = "host_transparent_huge_pages"
    given = _given(variables, key, None)
    wanted = {
        name: need.transparent_huge_pages for name, need in needs if need.transparent_huge_pages
    }
    if given or not wanted:
        return given
    if len(set(wanted.values())) > 1:
        words = ", ".join(f"{name} wants {value}" for name, value in wanted.items())
        where = f"inventory: host {host.name}"
        raise InputError(where, PREFIX + key, None, f"one value ({words}). Say which there")
    return next(iter(wanted.values()))


def _nic(host: DataHost, variables: Variables, testbed: Testbed) -> dict[str, Any]:
    """As the inventory has it; every other host of the data network is a neighbour."""
    network = ipaddress.IPv4Network(variables[f"{PREFIX}data_network"])
    nic = {
        "name": host.interface,
        "mac": host.mac,
        "address": f"{host.address}/{network.prefixlen}",
        "neighbours": {it.address: it.mac for it in testbed.data_hosts if it != host},
        "mtu": _given(variables, "data_mtu", None),
    }
    for key in ("features", "coalescing", "pause", "channels", "interrupt_cpus"):
        nic[key] = _given(variables, f"nic_{key}", None)
    return {key: value for key, value in nic.items() if value}


def _given(variables: Variables, key: str, default: Any) -> Any:
    return variables.get(PREFIX + key, default)


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))

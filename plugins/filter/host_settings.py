"""Filters that say what a machine of a rack is given, and where it is recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError


def settings_of_host(
    hostvars: Mapping[str, Mapping[str, Any]], groups: Mapping[str, list[str]], host: str
) -> dict[str, Any]:
    """Parameters of the role host_settings, for all systems that this testbed has the hosts for.

    ``hostvars | settings_of_host(groups, inventory_hostname)``; none for a network namespace.
    """
    # Not at the top: see plugins/filter/programs.py.
    from turntable_core import host_settings  # noqa: PLC0415
    from turntable_core.checks import systems_for  # noqa: PLC0415
    from turntable_core.errors import TurntableError  # noqa: PLC0415
    from turntable_core.testbed import read_testbed  # noqa: PLC0415

    variables = hostvars[host]
    if not host_settings.is_machine(variables):
        return {}
    try:
        testbed = read_testbed(hostvars, groups)
        its = next(it for it in testbed.hosts if it.name == host)
        wanted = systems_for(testbed)
        settings = host_settings.settings_of(its, variables, testbed, wanted)
    except TurntableError as error:
        raise AnsibleFilterError(str(error)) from error
    build = hostvars[groups["controller"][0]]["turntable_build_dir"]
    libraries = host_settings.packages_of_programs(its, testbed, wanted, f"{build}/bin")
    packages = dict.fromkeys([*settings.get("packages", []), *libraries])
    return {**settings, "packages": list(packages)}


def record_of_host(hostvars: Mapping[str, Mapping[str, Any]], host: str) -> str:
    """The file on the host that says what was there before; empty for a network namespace."""
    from turntable_core import host_settings  # noqa: PLC0415

    return host_settings.record_of(hostvars[host]) or ""


class FilterModule:
    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"settings_of_host": settings_of_host, "record_of_host": record_of_host}

"""Filter that says what a host needs to have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleFilterError


def programs_by_host(
    hostvars: Mapping[str, Mapping[str, Any]], groups: Mapping[str, list[str]]
) -> dict[str, list[str]]:
    """Host -> names of the programs of every system that this testbed has the hosts for."""
    # Not at the top: Ansible loads all filters of a directory when it needs one of them, in a run
    # as well, and these imports take 0.1 s.
    from turntable_core.checks import systems_for  # noqa: PLC0415
    from turntable_core.errors import TurntableError  # noqa: PLC0415
    from turntable_core.programs import programs_of  # noqa: PLC0415
    from turntable_core.testbed import read_testbed  # noqa: PLC0415

    try:
        testbed = read_testbed(hostvars, groups)
    except TurntableError as error:
        raise AnsibleFilterError(str(error)) from error
    wanted = systems_for(testbed)
    return {
        host.name: [Path(path).name for path in programs_of(host, testbed, wanted)]
        for host in testbed.hosts
    }


def p4_files_of_switch(target: str, directory: str) -> list[str]:
    """Names of files of `directory`, lib/p4 of a build, that the nodes of such a switch read."""
    from turntable_core.errors import InputError  # noqa: PLC0415
    from turntable_core.switch import driver_for  # noqa: PLC0415

    try:
        patterns = driver_for(target).p4_files
    except InputError as error:
        raise AnsibleFilterError(str(error)) from error
    return sorted(path.name for pattern in patterns for path in Path(directory).glob(pattern))


class FilterModule:
    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"programs_by_host": programs_by_host, "p4_files_of_switch": p4_files_of_switch}

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


class FilterModule:
    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"programs_by_host": programs_by_host}

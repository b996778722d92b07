"""What a role is: one of the groups below `endpoints`, which an inventory names as it likes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

ENDPOINTS = "endpoints"
# Groups that every inventory may have; none of them is a role, whichever hosts are in it.
_COMMON = ("all", "ungrouped", "testbed", ENDPOINTS)


def roles_of(groups: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Role -> its hosts, in the inventory's order; groups: Ansible's variable of that name.

    Ansible does not say there which group is below which: a role is a group whose hosts are all
    endpoints.
    """
    endpoints = set(groups.get(ENDPOINTS, ()))
    return {
        name: list(hosts)
        for name, hosts in groups.items()
        if name not in _COMMON and hosts and endpoints.issuperset(hosts)
    }

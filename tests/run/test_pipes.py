"""Hosts in several pipes of a switch, whose registers a system needs."""

from __future__ import annotations

import pytest

from turntable_core.checks import check_pipes
from turntable_core.errors import TurntableError
from turntable_core.system import Role, System
from turntable_core.testbed import DataHost, SwitchHost, Testbed

SWITCH = SwitchHost("sw", "/bin", "/run", "/var", 0, "tofino", "/p4", 64, "cpu", "af_packet")


class Counting(System):
    """Its switch counts what workers send."""

    name = "counting"
    roles = (Role("loads"), Role("workers"))
    needs_one_pipe = True


class Forwarding(Counting):
    needs_one_pipe = False


def host(name: str, port: int) -> DataHost:
    return DataHost(name, "/bin", "/run", "/var", 0, "10.0.0.1", "02:00:00:00:00:01", port, "p")


def make(loads: list[int], workers: list[int], others: list[int]) -> Testbed:
    ports = {"loads": loads, "workers": workers, "others": others}
    roles = {
        role: tuple(host(f"{role[:-1]}{i}", port) for i, port in enumerate(numbers))
        for role, numbers in ports.items()
    }
    return Testbed("t", "rack", 10.0, SWITCH, roles)


def place(name: str, variable: str) -> str:
    return f"hosts.yml:{name}:{variable}"


@pytest.mark.parametrize(
    "made",
    [
        make([0], [1, 63], []),
        make([384], [447, 400], []),
        make([127], [0], [128]),  # a host that has no part in this
    ],
)
def test_one_pipe_is_accepted(made: Testbed) -> None:
    check_pipes(Counting(), made, place)


def test_several_pipes_are_none_of_the_business_of_a_switch_that_forwards() -> None:
    check_pipes(Forwarding(), make([0], [128, 256], []), place)


def test_hosts_outside_of_the_most_common_pipe_are_named() -> None:
    with pytest.raises(TurntableError) as refused:
        check_pipes(Counting(), make([127], [128, 255, 384], [0]), place)
    expected = "expected a port of pipe 1 (128 to 255), where worker0 is; this one is of pipe"
    key = "turntable_switch_port"
    assert str(refused.value).splitlines() == [
        "inventory: hosts in several pipes",
        f"  load0: {key} is 127; {expected} 0 [hosts.yml:load0:{key}]",
        f"  worker2: {key} is 384; {expected} 3 [hosts.yml:worker2:{key}]",
        "The switch keeps state of counting in registers, and its pipes share none. Plug the hosts "
        "into ports of one pipe, and say so in the inventory",
    ]

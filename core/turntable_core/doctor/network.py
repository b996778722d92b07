"""The network of an embedded testbed: up, partly up, down, or somebody else's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from turntable_core.doctor.finding import OK, PROBLEM, Finding
from turntable_testbed import collisions, namespaces, observe
from turntable_testbed.errors import TestbedError
from turntable_testbed.plan import plan
from turntable_testbed.topology import Topology

_SHOWN = 3


def findings(document: Mapping[str, Any]) -> Iterator[Finding]:
    """document: what the filter `embedded_topology` makes of an inventory."""
    topology = Topology.from_dict(dict(document))
    try:
        yield _state(topology)
    except (OSError, TestbedError) as error:
        yield Finding(PROBLEM, "network", f"cannot be looked at: {error}", "run as root")


def _state(topology: Topology) -> Finding:
    collided = collisions.find(topology)
    if collided:
        text = "; ".join(message.partition(";")[0] for message in collided)
        advice = "choose another turntable_testbed_id or other networks (docs/testbed.md)"
        return Finding(PROBLEM, "network", text, advice)
    observed = observe.observe(topology.testbed, list(topology.sysctls))
    desired = topology.desired()
    if not observed:
        return Finding(
            PROBLEM, "network", "down: none of its namespaces exists", "playbooks/testbed_up.yml"
        )
    steps = [str(step) for step in plan(observed, desired, topology.testbed)]
    if not steps:
        where = namespaces.DIRECTORY
        return Finding(
            OK, "network", f"up: {len(desired)} namespaces in {where}, as the inventory says"
        )
    missing = [name for name in desired if name not in observed]
    what = f"without {', '.join(missing)}" if missing else "; ".join(steps[:_SHOWN])
    more = f" and {len(steps) - _SHOWN} more" if not missing and len(steps) > _SHOWN else ""
    return Finding(
        PROBLEM,
        "network",
        f"partly up: {what}{more}",
        "playbooks/testbed_up.yml repairs it (--check --diff shows how)",
    )

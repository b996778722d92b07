"""Who is who on the testbed."""

from __future__ import annotations

from turntable_core.testbed import DataHost, Testbed


def clients(testbed: Testbed) -> tuple[DataHost, ...]:
    """Each runs a part of the logical clients."""
    return testbed.hosts_of("clients")


def servers(testbed: Testbed) -> tuple[DataHost, ...]:
    """The first runs the bottleneck partition, the second the rotated one."""
    return testbed.hosts_of("servers")

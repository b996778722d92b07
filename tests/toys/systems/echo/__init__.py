"""A UDP echo under an open loop: the smallest system under test (docs/add-a-system.md)."""

from turntable_systems.echo.system import Echo

SYSTEM = Echo()
